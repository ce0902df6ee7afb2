// SPDX-License-Identifier: MIT
#include "position/turn.h"

#include <cmath>
#include <cstddef>

#include "base/simd.h"

namespace poslab {
namespace {

// `sign` is the sign bit to flip in the sine: 0, or -0.0f for the transpose.
void Half(ptrdiff_t pairs, const float* cos, const float* sin, float sign, float* row) {
  const v128_t flip = wasm_f32x4_splat(sign);
  float* second = row + pairs;
  ptrdiff_t k = 0;
  for (; k + 4 <= pairs; k += 4) {
    const v128_t c = wasm_v128_load(cos + k), s = wasm_v128_xor(wasm_v128_load(sin + k), flip);
    const v128_t a = wasm_v128_load(row + k), b = wasm_v128_load(second + k);
    wasm_v128_store(row + k, wasm_f32x4_sub(wasm_f32x4_mul(a, c), wasm_f32x4_mul(b, s)));
    wasm_v128_store(second + k, wasm_f32x4_add(wasm_f32x4_mul(b, c), wasm_f32x4_mul(a, s)));
  }
  const float direction = std::signbit(sign) ? -1.0f : 1.0f;
  for (; k < pairs; ++k) {
    const float s = direction * sin[k], a = row[k], b = second[k];
    row[k] = a * cos[k] - b * s;
    second[k] = b * cos[k] + a * s;
  }
}

void Interleaved(ptrdiff_t pairs, const float* cos, const float* sin, float sign, float* row) {
  // (a, b) * (c, c) + (b, a) * (-s, s).
  const v128_t flip = wasm_v128_xor(wasm_f32x4_make(-0.0f, 0.0f, -0.0f, 0.0f), wasm_f32x4_splat(sign));
  ptrdiff_t k = 0;
  for (; k + 2 <= pairs; k += 2) {
    const v128_t x = wasm_v128_load(row + 2 * k);
    const v128_t swapped = wasm_i32x4_shuffle(x, x, 1, 0, 3, 2);
    const v128_t c = wasm_v128_load64_zero(cos + k), s = wasm_v128_load64_zero(sin + k);
    const v128_t cc = wasm_i32x4_shuffle(c, c, 0, 0, 1, 1);
    const v128_t ss = wasm_v128_xor(wasm_i32x4_shuffle(s, s, 0, 0, 1, 1), flip);
    wasm_v128_store(row + 2 * k, wasm_f32x4_add(wasm_f32x4_mul(x, cc), wasm_f32x4_mul(swapped, ss)));
  }
  const float direction = std::signbit(sign) ? -1.0f : 1.0f;
  for (; k < pairs; ++k) {
    const float s = direction * sin[k], a = row[2 * k], b = row[2 * k + 1];
    row[2 * k] = a * cos[k] - b * s;
    row[2 * k + 1] = b * cos[k] + a * s;
  }
}

void Rows(Rotation::Layout layout, ptrdiff_t pairs, const float* cos, const float* sin, float sign, ptrdiff_t count,
          ptrdiff_t dim, float* row) {
  if (layout == Rotation::Layout::kHalf) {
    for (; count > 0; --count, cos += pairs, sin += pairs, row += dim) Half(pairs, cos, sin, sign, row);
  } else {
    for (; count > 0; --count, cos += pairs, sin += pairs, row += dim) Interleaved(pairs, cos, sin, sign, row);
  }
}

}  // namespace

void TurnRowsOn(Rotation::Layout layout, int64_t pairs, const float* cos, const float* sin, int64_t count, int64_t dim,
                float* rows) {
  Rows(layout, pairs, cos, sin, 0.0f, count, dim, rows);
}

void TurnRowsBack(Rotation::Layout layout, int64_t pairs, const float* cos, const float* sin, int64_t count,
                  int64_t dim, float* rows) {
  Rows(layout, pairs, cos, sin, -0.0f, count, dim, rows);
}

Turn QueryTurn(const Rotation& rotation, int64_t index) {
  if (rotation.query_row_in_key >= 0) return KeyTurn(rotation, index + rotation.query_row_in_key);
  const int64_t at = index * rotation.pairs;
  return {rotation.query_cos.data() + at, rotation.query_sin.data() + at};
}

Turn KeyTurn(const Rotation& rotation, int64_t index) {
  const int64_t at = index * rotation.pairs;
  if (rotation.key_cos.empty()) return {rotation.query_cos.data() + at, rotation.query_sin.data() + at};
  return {rotation.key_cos.data() + at, rotation.key_sin.data() + at};
}

}  // namespace poslab
