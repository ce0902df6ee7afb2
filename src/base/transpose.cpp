// SPDX-License-Identifier: MIT
#include "base/transpose.h"

#include "base/simd.h"

namespace poslab {

void Transpose(const float* in, ptrdiff_t in_stride, int64_t rows, int64_t columns, float* out, ptrdiff_t out_stride,
               float scale) {
  const v128_t scales = wasm_f32x4_splat(scale);
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float* from = in + r * in_stride;
    float* to = out + r;
    int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      v128_t block[4];
      for (int n = 0; n < 4; ++n) block[n] = wasm_f32x4_mul(wasm_v128_load(from + n * in_stride + c), scales);
      Transpose4(block);
      for (int n = 0; n < 4; ++n) wasm_v128_store(to + (c + n) * out_stride, block[n]);
    }
    for (; c < columns; ++c)
      for (int n = 0; n < 4; ++n) to[c * out_stride + n] = scale * from[n * in_stride + c];
  }
  for (; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) out[c * out_stride + r] = scale * in[r * in_stride + c];
}

}  // namespace poslab
