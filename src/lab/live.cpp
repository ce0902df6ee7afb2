// SPDX-License-Identifier: MIT
// The same steps as Run::Measure, kept between calls.
#include "lab/live.h"

#include <algorithm>

#include "lab/run_parts.h"

namespace poslab {

Result<std::unique_ptr<LiveMeasurement>> LiveMeasurement::Start(Run* run, const AtTest& change, int64_t length,
                                                                int64_t windows) {
  Run::Parts& parts = *run->parts_;
  POSLAB_RETURN_IF_ERROR(CheckAtTest(change, parts.description.position));
  if (length < 1) return Status::Number(Code::kRange, "length", static_cast<double>(length), "1 or more");
  if (windows < 1) return Status::Number(Code::kRange, "windows", static_cast<double>(windows), "1 or more");
  POSLAB_RETURN_IF_ERROR(parts.task->CheckLength(length, /*training=*/false));
  Result<TestChange> made = TestChange::Make(change, parts.description.position, parts.model.get(), length);
  if (!made.ok()) return made.status();
  std::unique_ptr<LiveMeasurement> live(new LiveMeasurement(run, windows, std::move(*made)));
  POSLAB_RETURN_IF_ERROR(live->measurement_.Start(length, windows, parts.description.length));
  return live;
}

Status LiveMeasurement::Advance(int64_t windows) {
  if (windows < 1) return Status::Number(Code::kRange, "windows", static_cast<double>(windows), "1 or more");
  Run::Parts& parts = *run_->parts_;
  const int64_t first = measurement_.added(), length = measurement_.length();
  const int64_t count = std::min(windows, windows_ - first);
  if (count == 0) return Status::Ok();
  Run::Parts::Rows rows;
  return parts.ScoreWindows(change_.options, first, count, windows_, std::max(length, parts.longest), &rows,
                            &measurement_);
}

Status LiveAttentionWeights(Run* run, std::span<const int32_t> ids, int64_t layer, const AtTest& change, float* weights) {
  Run::Parts& parts = *run->parts_;
  POSLAB_RETURN_IF_ERROR(CheckAtTest(change, parts.description.position));
  const auto length = static_cast<int64_t>(ids.size());
  const Result<TestChange> made = TestChange::Make(change, parts.description.position, parts.model.get(), length);
  if (!made.ok()) return made.status();
  return parts.model->AttentionWeights(ids, layer, made->options, weights);
}

}  // namespace poslab
