// SPDX-License-Identifier: MIT
// The numbers of one test length, gathered window by window: sums only, so that any batching gives the same bytes.
#pragma once

#include <cstdint>

#include "lab/run.h"

namespace poslab {

// How many places count as the end of a window (the last floor(L / 4), at least 1), and how wide a bin by position is
// (L / 16, at least 1), for a trained length L.
int64_t EndPlaces(int64_t trained_length);
int64_t BinWidth(int64_t trained_length);

class Measurement {
 public:
  // Sums of one window: over its scored places, and over those among the last EndPlaces.
  struct WindowSums {
    double loss = 0, end_loss = 0;
    int64_t scored = 0, end_scored = 0;
    int64_t correct = 0, end_correct = 0;
  };
  // The same by position, over all windows so far.
  struct BinSums {
    double loss = 0;
    int64_t scored = 0;
  };

  // Forgets what was there and makes room for `windows` windows of `length` places.
  Status Start(int64_t length, int64_t windows, int64_t trained_length);

  // Adds the next window: its targets (-1 = not scored), losses in nats and, for toy tasks, whether the guess was
  // right.
  void Add(const int32_t* targets, const float* losses, const uint8_t* correct);

  int64_t length() const { return length_; }
  int64_t windows() const { return sums_.size(); }
  int64_t added() const { return added_; }

  // Once all windows are there. Losses are means over all scored places of all windows; errors are standard errors over
  // windows: with s_w and c_w the sum and count of window w, mean m and W windows,
  //   sqrt(sum_w (s_w - m c_w)^2 / (W (W - 1))) / mean count,
  // which for equal counts is the deviation of the windows' means over sqrt(W). 0 for a single window.
  // NaN where nothing was scored. Not defined when a loss is not finite.
  LengthResult Finish() const;
  PositionResult FinishPositions() const;

  // For saving and resuming.
  std::span<WindowSums> window_sums() { return sums_.span(); }
  std::span<BinSums> bin_sums() { return bins_.span(); }
  void set_added(int64_t added) { added_ = added; }

 private:
  int64_t length_ = 0, end_places_ = 1, bin_width_ = 1, added_ = 0;
  Buffer<WindowSums> sums_;
  Buffer<BinSums> bins_;
};

}  // namespace poslab
