// SPDX-License-Identifier: MIT
// Looking at a run while it lives, for pages: a measurement in slices, so that pausing and cancelling are never kept
// waiting, and the attention weights of a sequence. Neither disturbs training.
#pragma once

#include <memory>

#include "lab/measurement.h"
#include "lab/run.h"
#include "lab/test_change.h"

namespace poslab {

// What Run::Measure does at once. The weights must stay as they are from the start to the end: advance it to its end
// before training goes on. The run must outlive it.
class LiveMeasurement {
 public:
  static Result<std::unique_ptr<LiveMeasurement>> Start(Run* run, const AtTest& change, int64_t length,
                                                        int64_t windows);

  // The next windows, at most this many.
  Status Advance(int64_t windows);
  bool done() const { return measurement_.added() == windows_; }
  // Once done.
  LengthResult Finish() const { return measurement_.Finish(); }
  PositionResult FinishPositions() const { return measurement_.FinishPositions(); }

 private:
  LiveMeasurement(Run* run, int64_t windows, TestChange change)
      : run_(run), windows_(windows), change_(std::move(change)) {}

  Run* run_;
  int64_t windows_;
  TestChange change_;
  Measurement measurement_;
};

// Attention weights of a layer for one sequence under a change: [heads, length, length].
Status LiveAttentionWeights(Run* run, std::span<const int32_t> ids, int64_t layer, const AtTest& change,
                            float* weights);
// Its query, key and value rows there, as Model::QueryKeyValue gives them.
Result<std::span<const float>> LiveQueryKeyValue(Run* run, std::span<const int32_t> ids, int64_t layer,
                                                 const AtTest& change);

}  // namespace poslab
