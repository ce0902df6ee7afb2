// SPDX-License-Identifier: MIT
// The one source of vector instructions: WebAssembly's 128-bit SIMD intrinsics. Natively SIMDe maps the same names to
// SSE, NEON or plain C++ (SIMDE_NO_NATIVE), so native tests run the arithmetic that the browser runs.
#pragma once

#if defined(__EMSCRIPTEN__)
#include <wasm_simd128.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/wasm/simd128.h>
#endif

namespace poslab {

// a * b + c: two roundings in the default build (the same on every machine); one or two, as the machine likes, in the
// relaxed build (POSLAB_RELAXED_SIMD).
inline v128_t MulAdd(v128_t a, v128_t b, v128_t c) {
#if defined(POSLAB_RELAXED_SIMD)
  return wasm_f32x4_relaxed_madd(a, b, c);
#else
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
#endif
}

// Four rows of four become four columns.
inline void Transpose4(v128_t* rows) {
  const v128_t ab_low = wasm_i32x4_shuffle(rows[0], rows[1], 0, 4, 1, 5);
  const v128_t ab_high = wasm_i32x4_shuffle(rows[0], rows[1], 2, 6, 3, 7);
  const v128_t cd_low = wasm_i32x4_shuffle(rows[2], rows[3], 0, 4, 1, 5);
  const v128_t cd_high = wasm_i32x4_shuffle(rows[2], rows[3], 2, 6, 3, 7);
  rows[0] = wasm_i64x2_shuffle(ab_low, cd_low, 0, 2);
  rows[1] = wasm_i64x2_shuffle(ab_low, cd_low, 1, 3);
  rows[2] = wasm_i64x2_shuffle(ab_high, cd_high, 0, 2);
  rows[3] = wasm_i64x2_shuffle(ab_high, cd_high, 1, 3);
}

// MulAdd for one number, which gets the bits that a lane gets.
inline float MulAdd(float a, float b, float c) {
#if defined(POSLAB_RELAXED_SIMD)
  return wasm_f32x4_extract_lane(wasm_f32x4_relaxed_madd(wasm_f32x4_splat(a), wasm_f32x4_splat(b), wasm_f32x4_splat(c)),
                                 0);
#else
  return a * b + c;
#endif
}

}  // namespace poslab
