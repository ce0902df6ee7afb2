// SPDX-License-Identifier: MIT
// Measuring: windows of one length after the other, in slices that cost about as much as the training steps that were
// asked for. Sequences do not see each other, so how windows are put together changes no bit of the result.
#include <algorithm>

#include "lab/run_parts.h"
#include "lab/streams.h"

namespace poslab {
namespace {

constexpr double kStepOverForward = 3;  // backward costs about two forward passes

}  // namespace

Status Run::Parts::Rows::Resize(int64_t count) {
  POSLAB_RETURN_IF_ERROR(ids.Resize("test.lengths", count));
  POSLAB_RETURN_IF_ERROR(targets.Resize("test.lengths", count));
  POSLAB_RETURN_IF_ERROR(losses.Resize("test.lengths", count));
  return correct.Resize("test.lengths", count);
}

int64_t Run::Parts::WindowsTogether(int64_t length) const {
  return std::max<int64_t>(1, description.batch * description.length / length);
}

double Run::Parts::ForwardCost(int64_t length) const {
  // A token meets every weight once, and in every layer half of all keys twice (scores and values).
  const double tokens = static_cast<double>(length), width = static_cast<double>(description.model.dim);
  const double attention = static_cast<double>(description.model.layers) * width * tokens;
  return tokens * (static_cast<double>(model->parameter_count()) + attention);
}

Status Run::Parts::MeasureSlice(int64_t steps) {
  double budget = static_cast<double>(steps) * kStepOverForward * static_cast<double>(description.batch) *
                  ForwardCost(description.length);
  do {
    if (job == jobs()) {
      phase = Phase::kDone;
      return Status::Ok();
    }
    if (!change) {
      // Whatever keeps a length from being measured (a table that ends, memory) is its result; the others go on.
      if (Status status = StartJob(); !status.ok()) {
        FinishJob({.length = job_length(), .defined = false, .reason = std::move(status)});
        continue;
      }
    }
    const int64_t length = job_length(), first = measurement.added();
    const double cost = ForwardCost(length);
    const int64_t affordable = budget < cost ? 1 : static_cast<int64_t>(std::min(budget / cost, 1e9));
    const int64_t count = std::min({affordable, WindowsTogether(length), description.windows - first});
    if (Status status = ScoreWindows(change->options, first, count, description.windows, longest, &rows, &measurement);
        !status.ok()) {
      FinishJob({.length = length, .defined = false, .reason = std::move(status)});
      continue;
    }
    budget -= cost * static_cast<double>(count);
    if (measurement.added() == description.windows) FinishJob(measurement.Finish());
  } while (budget > 0);
  if (job == jobs()) phase = Phase::kDone;
  return Status::Ok();
}

Status Run::Parts::StartJob() {
  const int64_t entry = job_entry();
  const AtTest as_trained, &wanted = entry < 0 ? as_trained : description.at_test[static_cast<size_t>(entry)];
  if (!under_way) POSLAB_RETURN_IF_ERROR(measurement.Start(job_length(), description.windows, description.length));
  under_way = true;
  Result<TestChange> made = TestChange::Make(wanted, description.position, model.get(), job_length());
  if (!made.ok()) return made.status();
  change = std::move(*made);
  return Status::Ok();
}

void Run::Parts::FinishJob(LengthResult result) {
  const int64_t entry = job_entry();
  // By position: from the longest length that is defined.
  if (entry < 0 && result.defined && result.length > by_position_length) {
    by_position = measurement.FinishPositions();
    by_position_length = result.length;
  }
  results(entry).push_back(std::move(result));
  change.reset();
  under_way = false;
  ++job;
}

Status Run::Parts::ScoreWindows(const RunOptions& options, int64_t first, int64_t count, int64_t windows,
                                int64_t longest_length, Rows* buffers, Measurement* into) {
  const int64_t length = into->length();
  POSLAB_RETURN_IF_ERROR(buffers->Resize(CheckedProduct({count, length})));
  for (int64_t n = 0; n < count; ++n)
    task->TestRow(length, longest_length, first + n, windows, description.length, buffers->ids.data() + n * length,
                  buffers->targets.data() + n * length);
  RunOptions placed = options;
  const bool drawn = description.train_positions &&
                     description.train_positions->policy == PositionDraw::Policy::kRandomized && !options.scheme &&
                     !options.table_override && options.position_offset == 0;
  if (drawn) {
    // A longer text than there are ids is no length of this encoding.
    Status status = DrawInto(length, kTestSeed, length, &placed);
    if (!status.ok()) {
      status->code = Code::kNotDefined;
      return status;
    }
  }
  uint8_t* correct = task->text() ? nullptr : buffers->correct.data();
  POSLAB_RETURN_IF_ERROR(model->Score(buffers->ids.span(), buffers->targets.span(), count, length, placed,
                                      buffers->losses.data(), correct));
  for (int64_t n = 0; n < count; ++n)
    into->Add(buffers->targets.data() + n * length, buffers->losses.data() + n * length,
              correct ? correct + n * length : nullptr);
  return Status::Ok();
}

}  // namespace poslab
