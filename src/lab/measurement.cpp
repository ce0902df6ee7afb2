// SPDX-License-Identifier: MIT
// The numbers of one test length: sums by window and by bin, and the means and errors made from them.
#include "lab/measurement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace poslab {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kEndShare = 4;   // the end is the last quarter of L
constexpr int64_t kBinShare = 16;  // bins are a sixteenth of L

struct Mean {
  double value = kNothing, error = kNothing;
};

// Mean and standard error over windows of (sum, count) pairs.
template <typename Sum, typename Count>
Mean MeanOf(std::span<const Measurement::WindowSums> windows, Sum sum_of, Count count_of) {
  double sum = 0, count = 0;
  for (const auto& window : windows) sum += sum_of(window), count += static_cast<double>(count_of(window));
  if (count == 0) return {};
  const double mean = sum / count;
  double squares = 0;
  for (const auto& window : windows) {
    const double deviation = sum_of(window) - mean * static_cast<double>(count_of(window));
    squares += deviation * deviation;
  }
  const double n = static_cast<double>(windows.size());
  return {mean, n > 1 ? std::sqrt(squares / (n * (n - 1))) / (count / n) : 0};
}

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? kNothing : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

int64_t EndPlaces(int64_t trained_length) { return std::max<int64_t>(1, trained_length / kEndShare); }
int64_t BinWidth(int64_t trained_length) { return std::max<int64_t>(1, trained_length / kBinShare); }

Status Measurement::Start(int64_t length, int64_t windows, int64_t trained_length) {
  length_ = length;
  end_places_ = EndPlaces(trained_length);
  bin_width_ = BinWidth(trained_length);
  added_ = 0;
  POSLAB_RETURN_IF_ERROR(sums_.Resize("test.windows", windows));
  return bins_.Resize("test.lengths", (length + bin_width_ - 1) / bin_width_);
}

void Measurement::Add(const int32_t* targets, const float* losses, const uint8_t* correct) {
  WindowSums sums;
  for (int64_t t = 0; t < length_; ++t) {
    if (targets[t] < 0) continue;
    const bool end = t >= length_ - end_places_, right = correct && correct[t];
    const double loss = losses[t];
    sums.loss += loss, ++sums.scored, sums.correct += right;
    if (end) sums.end_loss += loss, ++sums.end_scored, sums.end_correct += right;
    BinSums& bin = bins_[t / bin_width_];
    bin.loss += loss, ++bin.scored;
  }
  sums_[added_++] = sums;
}

LengthResult Measurement::Finish() const {
  LengthResult result;
  result.length = length_;
  const std::span<const WindowSums> windows = sums_.span();
  const Mean all =
      MeanOf(windows, [](const WindowSums& w) { return w.loss; }, [](const WindowSums& w) { return w.scored; });
  const Mean end =
      MeanOf(windows, [](const WindowSums& w) { return w.end_loss; }, [](const WindowSums& w) { return w.end_scored; });
  int64_t scored = 0, end_scored = 0, correct = 0, end_correct = 0;
  for (const WindowSums& window : windows) {
    scored += window.scored, end_scored += window.end_scored;
    correct += window.correct, end_correct += window.end_correct;
  }
  result.loss = all.value, result.loss_error = all.error;
  result.loss_at_end = end.value, result.loss_at_end_error = end.error;
  result.accuracy = Share(correct, scored), result.accuracy_at_end = Share(end_correct, end_scored);
  if (scored > 0 && !std::isfinite(all.value)) {
    result.defined = false;
    result.reason = Status::Text(Code::kNotDefined, "loss", "", "a finite number, which it is not at this length");
  }
  return result;
}

PositionResult Measurement::FinishPositions() const {
  PositionResult result;
  result.bin_width = bin_width_;
  for (const BinSums& bin : bins_)
    result.loss.push_back(bin.scored == 0 ? kNothing : bin.loss / static_cast<double>(bin.scored));
  return result;
}

}  // namespace poslab
