// SPDX-License-Identifier: MIT
// The steps of a measurement, kept between calls; Run::Measure takes them one after the other.
#include "lab/live.h"

#include <algorithm>

#include "lab/run_parts.h"

namespace poslab {

Result<std::unique_ptr<LiveMeasurement>> LiveMeasurement::Start(Run* run, const AtTest& change, int64_t length,
                                                                int64_t windows) {
  Run::Parts& parts = *run->parts_;
  POSLAB_RETURN_IF_ERROR(CheckAtTest(change, parts.description.position));
  POSLAB_RETURN_IF_ERROR(CheckWhole("length", length, kLargestLength));
  POSLAB_RETURN_IF_ERROR(CheckWhole("windows", windows, kMostWindows));
  POSLAB_RETURN_IF_ERROR(parts.task->CheckLength(length, /*training=*/false));
  Result<TestChange> made = TestChange::Make(change, parts.description.position, parts.model.get(), length);
  if (!made.ok()) return made.status();
  std::unique_ptr<LiveMeasurement> live(new LiveMeasurement(run, windows, std::move(*made)));
  POSLAB_RETURN_IF_ERROR(live->measurement_.Start(length, windows, parts.description.length));
  return live;
}

Status LiveMeasurement::Advance(int64_t windows) {
  POSLAB_RETURN_IF_ERROR(CheckWhole("windows", windows, INT64_MAX));
  Run::Parts& parts = *run_->parts_;
  const int64_t first = measurement_.added(), length = measurement_.length();
  const int64_t count = std::min(windows, windows_ - first);
  if (count == 0) return Status::Ok();
  Run::Parts::Rows rows;  // its own: a measurement of the run may be under way
  return parts.ScoreWindows(change_.options, first, count, windows_, std::max(length, parts.longest), &rows,
                            &measurement_);
}

Result<LengthResult> Run::Measure(const AtTest& change, int64_t length, int64_t windows, PositionResult* by_position) {
  Result<std::unique_ptr<LiveMeasurement>> live = LiveMeasurement::Start(this, change, length, windows);
  if (!live.ok()) return live.status();
  const int64_t together = parts_->WindowsTogether(length);
  while (!(*live)->done()) POSLAB_RETURN_IF_ERROR((*live)->Advance(together));
  if (by_position) *by_position = (*live)->FinishPositions();
  return (*live)->Finish();
}

// What a model is run with to be looked at.
Result<TestChange> LookUnder(Run* run, const AtTest& change, int64_t length) {
  const Run::Parts& parts = *run->parts_;
  POSLAB_RETURN_IF_ERROR(CheckAtTest(change, parts.description.position));
  return TestChange::Make(change, parts.description.position, parts.model.get(), length);
}

Status LiveAttentionWeights(Run* run, std::span<const int32_t> ids, int64_t layer, const AtTest& change,
                            float* weights) {
  const Result<TestChange> made = LookUnder(run, change, static_cast<int64_t>(ids.size()));
  if (!made.ok()) return made.status();
  return run->model().AttentionWeights(ids, layer, made->options, weights);
}

Result<std::span<const float>> LiveQueryKeyValue(Run* run, std::span<const int32_t> ids, int64_t layer,
                                                 const AtTest& change) {
  const Result<TestChange> made = LookUnder(run, change, static_cast<int64_t>(ids.size()));
  if (!made.ok()) return made.status();
  return run->model().QueryKeyValue(ids, layer, made->options);
}

}  // namespace poslab
