// SPDX-License-Identifier: MIT
// Coarse and fine rows of angles.
#include "position/angles.h"

#include <cmath>

#include "base/math.h"

namespace poslab {

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
      rows.Fill(static_cast<double>(n), rows.fine_cos_.data() + n * pairs, rows.fine_sin_.data() + n * pairs);
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
  const double *coarse_cos = coarse_cos_.data(), *coarse_sin = coarse_sin_.data();
  const double *fine_cos = fine_cos_.data() + fine_row * pairs, *fine_sin = fine_sin_.data() + fine_row * pairs;
  double* __restrict cosines = cos_.data(), * __restrict sines = sin_.data();
  for (int64_t k = 0; k < pairs; ++k) {
    cosines[k] = coarse_cos[k] * fine_cos[k] - coarse_sin[k] * fine_sin[k];
    sines[k] = coarse_sin[k] * fine_cos[k] + coarse_cos[k] * fine_sin[k];
  }
}

void AngleRows::RowReference(int64_t n) { Fill(static_cast<double>(positions_[n]), cos_.data(), sin_.data()); }

}  // namespace poslab
