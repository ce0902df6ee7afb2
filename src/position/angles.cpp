// SPDX-License-Identifier: MIT
// Coarse and fine rows of angles.
#include "position/angles.h"

#include <cmath>

#include "base/math.h"

namespace poslab {
namespace {

// More fine rows than these are themselves sums of two.
constexpr int64_t kDirectRows = 32;

// The angle-addition theorem for a row of pairs.
void Add(const double* cos_a, const double* sin_a, const double* cos_b, const double* sin_b, int64_t pairs,
         double* __restrict cosines, double* __restrict sines) {
  for (int64_t k = 0; k < pairs; ++k) {
    cosines[k] = cos_a[k] * cos_b[k] - sin_a[k] * sin_b[k];
    sines[k] = sin_a[k] * cos_b[k] + cos_a[k] * sin_b[k];
  }
}

}  // namespace

Result<AngleRows> AngleRows::Make(Positions positions, std::span<const double> frequencies) {
  AngleRows rows;
  rows.positions_ = positions;
  rows.frequencies_ = frequencies;
  const int64_t pairs = static_cast<int64_t>(frequencies.size());
  if (positions.contiguous()) {
    rows.fine_rows_ = 1;
    while (rows.fine_rows_ * rows.fine_rows_ < positions.count) rows.fine_rows_ *= 2;
    const int64_t size = CheckedProduct({rows.fine_rows_, pairs});
    for (Buffer<double>* fine : {&rows.fine_cos_, &rows.fine_sin_}) {
      POSLAB_RETURN_IF_ERROR(fine->ResizeForOverwrite("position", size));
    }
    for (int64_t n = 0; n < rows.fine_rows_; ++n) {
      const int64_t direct = n % kDirectRows, at = n * pairs, whole_at = (n - direct) * pairs;
      double *cosines = rows.fine_cos_.data(), *sines = rows.fine_sin_.data();
      if (n < kDirectRows || direct == 0) {
        rows.Fill(static_cast<double>(n), cosines + at, sines + at);
      } else {
        Add(cosines + whole_at, sines + whole_at, cosines + direct * pairs, sines + direct * pairs, pairs, cosines + at,
            sines + at);
      }
    }
  }
  for (Buffer<double>* row : {&rows.coarse_cos_, &rows.coarse_sin_, &rows.cos_, &rows.sin_}) {
    POSLAB_RETURN_IF_ERROR(row->ResizeForOverwrite("position", pairs));
  }
  return rows;
}

void AngleRows::Fill(double position, double* cosines, double* sines) const {
  for (size_t k = 0; k < frequencies_.size(); ++k) {
    const auto [sine, cosine] = SinCos(position * frequencies_[k]);
    cosines[k] = cosine;
    sines[k] = sine;
  }
}

void AngleRows::Row(int64_t n) {
  if (fine_rows_ == 0) return RowReference(n);
  const int64_t coarse_row = n / fine_rows_, fine_row = n % fine_rows_;
  if (coarse_row != coarse_row_) {
    Fill(static_cast<double>(positions_.start + coarse_row * fine_rows_), coarse_cos_.data(), coarse_sin_.data());
    coarse_row_ = coarse_row;
  }
  const int64_t pairs = static_cast<int64_t>(frequencies_.size());
  const int64_t at = fine_row * pairs;
  Add(coarse_cos_.data(), coarse_sin_.data(), fine_cos_.data() + at, fine_sin_.data() + at, pairs, cos_.data(),
      sin_.data());
}

void AngleRows::RowReference(int64_t n) { Fill(static_cast<double>(positions_[n]), cos_.data(), sin_.data()); }

}  // namespace poslab
