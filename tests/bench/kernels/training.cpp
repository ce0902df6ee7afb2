// SPDX-License-Identifier: MIT
// The training workload: one batch, trained on again and again.
#include "training.h"

#include <utility>

#include "base/random.h"
#include "position/registry.h"

namespace poslab_bench {
namespace {

using poslab::Result;
using poslab::Status;

constexpr int64_t kVocabulary = 80;
constexpr uint64_t kSeed = 1;

}  // namespace

Status TrainingWorkload::Make(std::string_view type, const TrainingShape& shape) {
  shape_ = shape;
  poslab::Description scheme;
  scheme.type = type;
  Result<std::unique_ptr<poslab::Scheme>> made = poslab::MakeScheme(scheme);
  if (!made.ok()) return made.status();
  poslab::ModelDescription description;
  description.vocabulary = kVocabulary;
  description.layers = shape.layers;
  description.trained_length = shape.length;
  Result<std::unique_ptr<poslab::Model>> model =
      poslab::Model::Make(description, {std::shared_ptr<const poslab::Scheme>(std::move(*made))});
  if (!model.ok()) return model.status();
  model_ = std::move(*model);
  poslab::Random random(kSeed);
  model_->Initialize(&random);
  Result<poslab::AdamW> optimizer = poslab::AdamW::Make({}, *model_);
  if (!optimizer.ok()) return optimizer.status();
  optimizer_ = std::move(*optimizer);

  const int64_t tokens = shape.batch * shape.length;
  POSLAB_RETURN_IF_ERROR(ids_.Resize("ids", tokens));
  POSLAB_RETURN_IF_ERROR(targets_.Resize("targets", tokens));
  POSLAB_RETURN_IF_ERROR(losses_.Resize("losses", tokens));
  for (int32_t& id : ids_) id = static_cast<int32_t>(random.Below(kVocabulary));
  for (int32_t& id : targets_) id = static_cast<int32_t>(random.Below(kVocabulary));
  return Status::Ok();
}

Status TrainingWorkload::Step() {
  const Result<poslab::Model::LossResult> loss =
      model_->Loss(ids_.span(), targets_.span(), shape_.batch, shape_.length, true);
  if (!loss.ok()) return loss.status();
  return optimizer_->Step(model_.get()).status();
}

Status TrainingWorkload::Score() {
  return model_->Score(ids_.span(), targets_.span(), shape_.batch, shape_.length, {}, losses_.data(), nullptr);
}

}  // namespace poslab_bench
