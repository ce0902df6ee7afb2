// SPDX-License-Identifier: MIT
// Training: fresh rows, loss and gradients, one update; and what happens when a number is not finite any more.
#include <algorithm>
#include <cmath>

#include "lab/run_parts.h"
#include "lab/streams.h"

namespace poslab {

Status Run::Parts::Train(int64_t steps) {
  for (int64_t n = 0; n < steps && optimizer.step() < description.optimizer.steps; ++n) {
    if (diverged) return Diverged();
    POSLAB_RETURN_IF_ERROR(TrainStep());
  }
  if (optimizer.step() == description.optimizer.steps) phase = Phase::kMeasuring;
  return Status::Ok();
}

Status Run::Parts::DrawInto(int64_t length, uint64_t seed, int64_t count, RunOptions* options) {
  if (!description.train_positions) return Status::Ok();
  POSLAB_RETURN_IF_ERROR(CheckPositionDraw(*description.train_positions, length, "training.positions."));
  POSLAB_RETURN_IF_ERROR(positions.ResizeForOverwrite("training.length", length));
  Random random(MixedSeed(seed, static_cast<uint64_t>(count)), kPositionStream);
  DrawPositions(*description.train_positions, length, &random, positions.data());
  options->position_ids = positions.data();
  return Status::Ok();
}

Status Run::Parts::TrainStep() {
  const int64_t length = description.length;
  RunOptions options;
  POSLAB_RETURN_IF_ERROR(DrawInto(length, description.seed, optimizer.step(), &options));
  const Random::State before = batches.state();
  for (int64_t row = 0; row < description.batch; ++row)
    task->TrainingRow(length, &batches, ids.data() + row * length, targets.data() + row * length);
  const Result<Model::LossResult> result =
      model->Loss(ids.span(), targets.span(), description.batch, length, true, options);
  if (!result.ok()) {
    batches.set_state(before);  // the step can be tried again with the same rows
    return result.status();
  }
  const std::span<float> weights = model->weights();
  if (!std::isfinite(result->loss)) {
    std::copy(good_weights.begin(), good_weights.end(), weights.begin());
    diverged = true;
    return Diverged();
  }
  std::copy(weights.begin(), weights.end(), good_weights.begin());
  const int64_t step = optimizer.step();
  const Result<double> norm = optimizer.Step(model.get());
  if (!norm.ok()) {
    // These weights gave a finite loss, and the optimiser left them as they were.
    diverged = norm.status().code() == Code::kDiverged;
    return diverged ? Diverged() : norm.status();
  }
  losses[step] = result->loss;
  return Status::Ok();
}

Status Run::Parts::Diverged() const {
  return Status::Number(Code::kDiverged, "training", static_cast<double>(optimizer.step()),
                        "a finite loss and gradient at every step: try a lower learning rate or a longer warm-up");
}

}  // namespace poslab
