// SPDX-License-Identifier: MIT
// Makes a run: every check first, then memory. And answers how far it is.
#include "lab/run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/run_parts.h"
#include "lab/streams.h"
#include "position/registry.h"

namespace poslab {
namespace {

// Far past what can be computed; they keep products of two of them within 63 bits.
constexpr int64_t kLargestBatch = int64_t{1} << 20;

Status CheckSizes(const RunDescription& description) {
  POSLAB_RETURN_IF_ERROR(CheckWhole("training.length", description.length, kLargestLength));
  POSLAB_RETURN_IF_ERROR(CheckWhole("training.batch", description.batch, kLargestBatch));
  POSLAB_RETURN_IF_ERROR(CheckWhole("test.windows", description.windows, kMostWindows));
  if (description.test_lengths.empty()) return Status::Text(Code::kMissing, "test.lengths", "", "at least one length");
  for (int64_t length : description.test_lengths)
    POSLAB_RETURN_IF_ERROR(CheckWhole("test.lengths", length, kLargestLength));
  if (!description.train_positions) return Status::Ok();
  return CheckPositionDraw(*description.train_positions, description.length, "training.positions.");
}

// One position through the model shows whether a scheme finds everything that it needs.
Status TryOnce(Model* model, const RunOptions& options) {
  const int32_t id = 0;
  const Result<std::span<const float>> logits = model->Forward({&id, 1}, 1, 1, options);
  return logits.ok() ? Status::Ok() : logits.status();
}

Status TryAtTest(const RunDescription& description, const AtTest& change, Model* model) {
  POSLAB_RETURN_IF_ERROR(CheckAtTest(change, description.position));
  for (int64_t length : description.test_lengths) {
    AtTest scheme_only;
    scheme_only.position = change.position, scheme_only.distances = change.distances;
    Result<TestChange> made = TestChange::Make(scheme_only, description.position, model, length);
    if (!made.ok()) return made.status();
    Status status = TryOnce(model, made->options);
    if (status.ok()) continue;
    status->argument.insert(0, "atTest.");
    return status;
  }
  return Status::Ok();
}

}  // namespace

Status CheckWhole(const char* argument, int64_t given, int64_t largest) {
  if (given >= 1 && given <= largest) return Status::Ok();
  return Status::Number(Code::kRange, argument, static_cast<double>(given), "a whole number from 1 to {0}",
                        static_cast<double>(largest));
}

Run::Run() : parts_(std::make_unique<Parts>()) {}
Run::~Run() = default;

Result<std::unique_ptr<Run>> Run::Make(const RunDescription& description, std::shared_ptr<const Corpus> corpus) {
  std::unique_ptr<Run> run(new Run);
  Parts& parts = *run->parts_;
  parts.description = description;
  RunDescription& filled = parts.description;

  // Checks, from the outside in.
  POSLAB_RETURN_IF_ERROR(CheckSizes(filled));
  Result<std::unique_ptr<Task>> task = MakeTask(filled.task, corpus, kTestSeed);
  if (!task.ok()) return task.status();
  parts.task = std::move(*task);
  if (parts.task->text()) parts.corpus = std::move(corpus);
  POSLAB_RETURN_IF_ERROR(parts.task->CheckLength(filled.length, /*training=*/true));
  for (int64_t length : filled.test_lengths)
    POSLAB_RETURN_IF_ERROR(parts.task->CheckLength(length, /*training=*/false));
  parts.longest = *std::max_element(filled.test_lengths.begin(), filled.test_lengths.end());
  filled.model.vocabulary = parts.task->vocabulary();
  filled.model.trained_length = filled.length;
  POSLAB_RETURN_IF_ERROR(CheckModel(filled.model));
  POSLAB_RETURN_IF_ERROR(CheckOptimizer(filled.optimizer));
  Result<std::unique_ptr<Scheme>> scheme = MakeScheme(filled.position);
  if (!scheme.ok()) return scheme.status();
  for (const AtTest& change : filled.at_test) POSLAB_RETURN_IF_ERROR(CheckAtTest(change, filled.position));

  // Memory.
  parts.scheme = std::move(*scheme);
  Result<std::unique_ptr<Model>> model = Model::Make(filled.model, {parts.scheme});
  if (!model.ok()) return model.status();
  parts.model = std::move(*model);
  Result<AdamW> optimizer = AdamW::Make(filled.optimizer, *parts.model);
  if (!optimizer.ok()) return optimizer.status();
  parts.optimizer = std::move(*optimizer);
  const int64_t places = CheckedProduct({filled.batch, filled.length});
  POSLAB_RETURN_IF_ERROR(parts.ids.Resize("training.batch", places));
  POSLAB_RETURN_IF_ERROR(parts.targets.Resize("training.batch", places));
  POSLAB_RETURN_IF_ERROR(parts.losses.Resize("training.steps", filled.optimizer.steps));
  POSLAB_RETURN_IF_ERROR(parts.good_weights.Resize("model", parts.model->parameter_count()));

  Random weights(filled.seed, kWeightStream);
  parts.model->Initialize(&weights);
  std::copy(parts.model->weights().begin(), parts.model->weights().end(), parts.good_weights.begin());
  parts.batches = Random(filled.seed, kBatchStream);
  parts.at_test.resize(filled.at_test.size());
  parts.fingerprint = parts.Fingerprint();
  if (filled.optimizer.steps == 0) parts.phase = Phase::kMeasuring;

  POSLAB_RETURN_IF_ERROR(TryOnce(parts.model.get(), {}));
  if (filled.train_positions) {
    const int64_t largest = LargestDrawn(*filled.train_positions, filled.length);
    RunOptions farthest;
    farthest.position_ids = &largest;
    POSLAB_RETURN_IF_ERROR(TryOnce(parts.model.get(), farthest));
  }
  for (const AtTest& change : filled.at_test) POSLAB_RETURN_IF_ERROR(TryAtTest(filled, change, parts.model.get()));
  return run;
}

Run::Progress Run::progress() const {
  const Parts& parts = *parts_;
  const RunDescription& description = parts.description;
  Progress progress;
  progress.phase = parts.phase;
  progress.step = parts.optimizer.step(), progress.steps = description.optimizer.steps;
  progress.loss = progress.step > 0 ? parts.losses[progress.step - 1] : std::numeric_limits<double>::quiet_NaN();
  progress.measured = parts.job * description.windows + (parts.under_way ? parts.measurement.added() : 0);
  progress.to_measure = parts.jobs() * description.windows;
  return progress;
}

Status Run::Advance(int64_t steps) {
  POSLAB_RETURN_IF_ERROR(CheckWhole("steps", steps, INT64_MAX));
  switch (parts_->phase) {
    case Phase::kTraining:
      return parts_->Train(steps);
    case Phase::kMeasuring:
      return parts_->MeasureSlice(steps);
    case Phase::kDone:
      return Status::Ok();
  }
  return Status::Ok();
}

void Run::SkipToMeasuring() {
  if (parts_->phase == Phase::kTraining) parts_->phase = Phase::kMeasuring;
}

std::span<const double> Run::losses() const {
  return parts_->losses.span().subspan(0, static_cast<size_t>(parts_->optimizer.step()));
}
std::span<const LengthResult> Run::by_length() const { return parts_->by_length; }
const PositionResult& Run::by_position() const { return parts_->by_position; }
std::span<const std::vector<LengthResult>> Run::at_test() const { return parts_->at_test; }
Model& Run::model() { return *parts_->model; }

}  // namespace poslab
