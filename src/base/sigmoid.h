// SPDX-License-Identifier: MIT
// The logistic function and softplus for four floats at once, from the vector exponential: no library call, so that
// every build gives the same bits.
#pragma once

#include "base/exponential.h"

namespace poslab {

// Largest relative errors where e^-|x| is not below the smallest normal float (and taken for zero).
// Sigmoid: of the exponential, its sum with 1 and the quotient, 2^-24 each.
constexpr double kSigmoidRelativeError = 4e-7;
// Softplus: of the exponential; of the logarithm, 4.5e-9 of the polynomial, 2^-24 of 2 + u, of the quotient and of the
// sum that ends it, and 0.04 * 4 * 2^-24 of what goes into that sum; for x > 0 the last sum.
constexpr double kSoftplusRelativeError = 6e-7;

// 1 / (1 + e^-x); 0 for x below -87.3365. NaN stays NaN.
inline v128_t Sigmoid(v128_t x) {
  const v128_t one = wasm_f32x4_splat(1.0f);
  const v128_t power = ExpNonPositive(wasm_f32x4_neg(wasm_f32x4_abs(x)));
  const v128_t above = wasm_v128_bitselect(power, one, wasm_f32x4_lt(x, wasm_f32x4_splat(0.0f)));
  return wasm_f32x4_div(above, wasm_f32x4_add(one, power));
}

// ln(1 + e^x) = max(x, 0) + ln(1 + u) with u = e^-|x|; 0 for x below -87.3365. NaN stays NaN.
inline v128_t Softplus(v128_t x) {
  // ln(1 + u) = 2 artanh(s), s = u / (2 + u) <= 1/3: 2 s + s^3 q(s^2), minimax for the relative error.
  const v128_t u = ExpNonPositive(wasm_f32x4_neg(wasm_f32x4_abs(x)));
  const v128_t s = wasm_f32x4_div(u, wasm_f32x4_add(u, wasm_f32x4_splat(2.0f)));
  const v128_t z = wasm_f32x4_mul(s, s);
  v128_t q = MulAdd(z, wasm_f32x4_splat(0.28011996f), wasm_f32x4_splat(0.28001803f));
  q = MulAdd(q, z, wasm_f32x4_splat(0.40021527f));
  q = MulAdd(q, z, wasm_f32x4_splat(0.66666418f));
  const v128_t logarithm = MulAdd(wasm_f32x4_mul(q, z), s, wasm_f32x4_add(s, s));
  return wasm_f32x4_add(wasm_f32x4_max(x, wasm_f32x4_splat(0.0f)), logarithm);
}

}  // namespace poslab
