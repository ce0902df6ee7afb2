// SPDX-License-Identifier: MIT
// Matrices turned round, four rows by four columns in registers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poslab {

// out[c * out_stride + r] = scale * in[r * in_stride + c] for r < rows, c < columns.
void Transpose(const float* in, ptrdiff_t in_stride, int64_t rows, int64_t columns, float* out, ptrdiff_t out_stride,
               float scale = 1);

}  // namespace poslab
