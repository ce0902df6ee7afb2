// SPDX-License-Identifier: MIT
#include "model/model.h"

#include <algorithm>

#include "model/cross_entropy.h"
#include "model/model_parts.h"
#include "position/start.h"

namespace poslab {
namespace {

// Measurement needs no more than the logits of a few sequences at a time; rows of a group, when a sequence is shorter.
constexpr int64_t kGroupRows = 2048;

int64_t SequencesPerGroup(int64_t batch, int64_t length) {
  return std::clamp<int64_t>(kGroupRows / std::max<int64_t>(length, 1), 1, std::max<int64_t>(batch, 1));
}

}  // namespace

Model::Model() : parts_(std::make_unique<Parts>()) {}
Model::~Model() = default;

Result<std::unique_ptr<Model>> Model::Make(const ModelDescription& description,
                                           std::vector<std::shared_ptr<const Scheme>> schemes) {
  POSLAB_RETURN_IF_ERROR(CheckModel(description));
  const auto layers = static_cast<size_t>(description.layers);
  if (schemes.size() != 1 && schemes.size() != layers)
    return Status::Number(Code::kShape, "position", static_cast<double>(schemes.size()),
                          "one scheme, or one a layer, which is {0}", static_cast<double>(layers));
  for (const auto& scheme : schemes)
    if (!scheme) return Status::Number(Code::kMissing, "position", 0, "a scheme for every layer");
  schemes.resize(layers, schemes.front());

  std::unique_ptr<Model> model(new Model);
  Parts& parts = *model->parts_;
  parts.description = FilledIn(description);
  Result<Layout> layout = MakeLayout(parts.description, schemes);
  if (!layout.ok()) return layout.status();
  parts.layout = std::move(*layout);
  parts.schemes = std::move(schemes);
  for (Buffer<float>* buffer : {&parts.weights, &parts.gradients, &parts.transposed})
    POSLAB_RETURN_IF_ERROR(buffer->Resize("model", parts.layout.count));
  parts.positions.resize(layers);
  for (size_t layer = 0; layer < layers; ++layer)
    parts.positions[layer].SetParameters(parts.layout, parts.layout.blocks[layer], parts.weights.data(),
                                         parts.gradients.data());
  return model;
}

const ModelDescription& Model::description() const { return parts_->description; }
std::span<const ParameterInfo> Model::parameters() const { return parts_->layout.parameters; }
std::span<float> Model::weights() { return parts_->weights.span(); }
std::span<float> Model::gradients() { return parts_->gradients.span(); }
int64_t Model::parameter_count() const { return parts_->layout.count; }

void Model::Initialize(Random* random) {
  for (const ParameterInfo& info : parts_->layout.parameters) {
    DrawStart(info.start, info.minimum, random,
              parts_->weights.span().subspan(static_cast<size_t>(info.offset), static_cast<size_t>(info.size)));
  }
}

Result<std::span<const float>> Model::Forward(std::span<const int32_t> ids, int64_t batch, int64_t length,
                                              const RunOptions& options) {
  POSLAB_RETURN_IF_ERROR(parts_->CheckIds(ids, nullptr, batch, length));
  if (ids.empty()) return std::span<const float>();
  POSLAB_RETURN_IF_ERROR(parts_->RunForward(ids.data(), batch, length, false, options));
  return std::span<const float>(parts_->logits.data(),
                                static_cast<size_t>(batch * length * parts_->description.vocabulary));
}

Result<Model::LossResult> Model::Loss(std::span<const int32_t> ids, std::span<const int32_t> targets, int64_t batch,
                                      int64_t length, bool backward, const RunOptions& options) {
  Parts& parts = *parts_;
  POSLAB_RETURN_IF_ERROR(parts.CheckIds(ids, &targets, batch, length));
  LossResult result;
  result.scored = std::count_if(targets.begin(), targets.end(), [](int32_t target) { return target >= 0; });
  if (result.scored == 0) {
    if (backward) std::fill(parts.gradients.begin(), parts.gradients.end(), 0.0f);
    return result;
  }
  const double share = 1 / static_cast<double>(result.scored);
  const int64_t group = backward ? batch : SequencesPerGroup(batch, length);
  double sum = 0;
  for (int64_t first = 0; first < batch; first += group) {
    const int64_t count = std::min(group, batch - first);
    POSLAB_RETURN_IF_ERROR(parts.RunForward(ids.data() + first * length, count, length, backward, options));
    sum += CrossEntropy(count * length, parts.description.vocabulary, targets.data() + first * length, share, backward,
                        parts.logits.data());
  }
  result.loss = sum * share;
  if (backward) POSLAB_RETURN_IF_ERROR(parts.RunBackward(ids.data()));
  return result;
}

Status Model::Score(std::span<const int32_t> ids, std::span<const int32_t> targets, int64_t batch, int64_t length,
                    const RunOptions& options, float* losses, uint8_t* correct) {
  Parts& parts = *parts_;
  POSLAB_RETURN_IF_ERROR(parts.CheckIds(ids, &targets, batch, length));
  if (ids.empty()) return Status::Ok();
  const int64_t group = SequencesPerGroup(batch, length);
  for (int64_t first = 0; first < batch; first += group) {
    const int64_t count = std::min(group, batch - first), start = first * length;
    POSLAB_RETURN_IF_ERROR(parts.RunForward(ids.data() + start, count, length, false, options));
    ScoreRows(count * length, parts.description.vocabulary, targets.data() + start, parts.logits.data(),
              losses ? losses + start : nullptr, correct ? correct + start : nullptr);
  }
  return Status::Ok();
}

Status Model::AttentionWeights(std::span<const int32_t> ids, int64_t layer, const RunOptions& options, float* weights) {
  return parts_->RunToLayer(ids, layer, options, weights);
}

Result<std::span<const float>> Model::QueryKeyValue(std::span<const int32_t> ids, int64_t layer,
                                                    const RunOptions& options) {
  POSLAB_RETURN_IF_ERROR(parts_->RunToLayer(ids, layer, options, nullptr));
  if (ids.empty()) return std::span<const float>();
  const int64_t width = parts_->layout.blocks[static_cast<size_t>(layer)].query_key_value.outputs;
  return std::span<const float>(parts_->kept[0].query_key_value.data(), ids.size() * static_cast<size_t>(width));
}

std::span<const float> Model::Gates(int64_t layer) const {
  return parts_->positions[static_cast<size_t>(layer)].gates();
}

}  // namespace poslab
