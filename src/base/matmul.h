// SPDX-License-Identifier: MIT
// The one matrix product of the core: C[m, n] (+)= sum_k A[m, k] B[k, n] with A read through two strides (so that a
// transposed A costs nothing) and B and C row-major. A register tile of 4 x 8: four broadcast entries of A against two
// vectors of B, the tile that V8 compiles well in every version tried. Sums run over k in ascending order.
#pragma once

#include <cstdint>

namespace poslab {

struct MatMulArguments {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t a_row_stride = 0, a_column_stride = 1;  // entry (m, k) is a[m * a_row_stride + k * a_column_stride]
  const float* b = nullptr;
  int64_t b_row_stride = 0;  // entry (k, n) is b[k * b_row_stride + n]
  float* c = nullptr;
  int64_t c_row_stride = 0;
  bool accumulate = false;  // C += instead of C =
};

void MatMul(const MatMulArguments& arguments);
// The plain triple loop, sums in double.
void MatMulReference(const MatMulArguments& arguments);

}  // namespace poslab
