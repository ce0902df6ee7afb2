// SPDX-License-Identifier: MIT
// cos and sin of position * frequency for many positions, in double. Contiguous positions are written as
// coarse + fine, and the angle-addition theorem is used once an entry:
//   cos(a + b) = cos a cos b - sin a sin b,   sin(a + b) = sin a cos b + cos a sin b,
// so that n positions need about sqrt(n) rows of calls of SinCos. Of more than 32 fine rows most are such sums themselves
// (nothing is multiplied up from row to row): the error stays within 8 units of 2^-53 plus that of the angle itself.
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.h"
#include "base/status.h"
#include "position/scheme.h"

namespace poslab {

class AngleRows {
 public:
  // Positions must have passed CheckPositions. kMemory when the small tables cannot be had.
  static Result<AngleRows> Make(Positions positions, std::span<const double> frequencies);

  // cos and sin of row n: cosines()[k], sines()[k] for pair k, valid until the next call.
  void Row(int64_t n);
  const double* cosines() const { return cos_.data(); }
  const double* sines() const { return sin_.data(); }

  // The same row, every entry by the library: what Row is tested against.
  void RowReference(int64_t n);

 private:
  void Fill(double position, double* cosines, double* sines) const;

  Positions positions_;
  std::span<const double> frequencies_;
  int64_t fine_rows_ = 0;                   // a power of two; 0 when every row is computed by itself
  int64_t coarse_row_ = -1;                 // which one coarse_cos_ holds
  Buffer<double> fine_cos_, fine_sin_;      // [fine_rows, pairs]: angles of 0, 1, ..., fine_rows - 1
  Buffer<double> coarse_cos_, coarse_sin_;  // [pairs]: angles of start + coarse_row * fine_rows
  Buffer<double> cos_, sin_;                // [pairs]
};

}  // namespace poslab
