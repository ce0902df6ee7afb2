// SPDX-License-Identifier: MIT
// e^x for four floats at once, for the softmax: x = n ln 2 + r with n whole and |r| <= ln 2 / 2, e^r by a polynomial of
// degree 5, 2^n by adding n to the exponent bits (Cody & Waite 1980). No library call, so that every build gives the
// same bits. Results below the smallest normal float (x < -87.3365) are zero.
#pragma once

#include <cmath>

#include "base/simd.h"

namespace poslab {

// Largest relative error where the result is not zero: 1.06e-7 of the polynomial, 2^-24 of the sum that ends it, and at
// most 1e-7 of what goes into that sum: r (off by 2^-26, its own last rounding) and r^2 q(r), together at most 0.42
// beside 1, rounded three times to units of 2^-25 at most. 1.8e-7 was measured.
constexpr double kExpRelativeError = 2.7e-7;

// e^x for x <= 88.37; NaN stays NaN, -infinity gives 0.
inline v128_t ExpNonPositive(v128_t x) {
  // ln 2 in two parts: the first has 9 bits, so that its product with n is exact.
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kLog2E = 1.44269504f;
  // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
  constexpr float kRounder = 12582912.0f;
  // ln of the smallest normal float, rounded up.
  constexpr float kLowest = -87.3365f;
  const v128_t shifted = MulAdd(x, wasm_f32x4_splat(kLog2E), wasm_f32x4_splat(kRounder));
  const v128_t n = wasm_f32x4_sub(shifted, wasm_f32x4_splat(kRounder));
  v128_t r = MulAdd(n, wasm_f32x4_splat(-kLn2High), x);
  r = MulAdd(n, wasm_f32x4_splat(-kLn2Low), r);
  // (e^r - 1 - r) / r^2, minimax for the relative error of e^r on |r| <= 0.3466.
  v128_t q = MulAdd(r, wasm_f32x4_splat(0.0083125215f), wasm_f32x4_splat(0.041890148f));
  q = MulAdd(q, r, wasm_f32x4_splat(0.16667114f));
  q = MulAdd(q, r, wasm_f32x4_splat(0.4999923f));
  q = MulAdd(q, wasm_f32x4_mul(r, r), r);
  const v128_t power = wasm_f32x4_add(q, wasm_f32x4_splat(1.0f));
  const v128_t result = wasm_i32x4_add(power, wasm_i32x4_shl(shifted, 23));
  return wasm_v128_andnot(result, wasm_f32x4_lt(x, wasm_f32x4_splat(kLowest)));
}

// e^x for every float: infinity where the result does not fit (x > 88.72284).
inline v128_t Exp(v128_t x) {
  constexpr float kHighest = 88.72283f;
  // The power is taken at half the argument, so that the exponent bits never overflow, and squared.
  const v128_t over = wasm_f32x4_gt(x, wasm_f32x4_splat(kHighest));
  const v128_t large = wasm_f32x4_gt(x, wasm_f32x4_splat(88.0f));
  const v128_t reduced = wasm_v128_bitselect(wasm_f32x4_sub(x, wasm_f32x4_splat(1.0f)), x, large);
  v128_t result = ExpNonPositive(reduced);
  result = wasm_v128_bitselect(wasm_f32x4_mul(result, wasm_f32x4_splat(2.7182817f)), result, large);
  return wasm_v128_bitselect(wasm_f32x4_splat(INFINITY), result, over);
}

// What both are tested against.
inline double ExpReference(float x) { return std::exp(static_cast<double>(x)); }

}  // namespace poslab
