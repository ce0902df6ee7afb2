// SPDX-License-Identifier: MIT
#include "model/activation.h"

#include <cmath>
#include <cstring>

#include "base/exponential.h"
#include "base/simd.h"

namespace poslab {
namespace {

using Activation = ModelDescription::Activation;

constexpr double kTwoRootTwoOverPi = 1.5957691216057308;  // 2 sqrt(2 / pi)
constexpr double kGeluCubic = 0.044715;
constexpr double kGeluQuick = 1.702;
constexpr double kRootHalf = 0.70710678118654752;
constexpr double kOneOverRootTwoPi = 0.39894228040143268;

struct ValueAndDerivative {
  v128_t value, derivative;
};

// 1 / (1 + exp(-z)). Below -kSaturation it stays at e^-80 = 2e-35: far under what a float sum can see, and the
// exponential needs no care for overflow. pmin keeps a NaN that stands on its left.
v128_t Sigmoid(v128_t z) {
  constexpr float kSaturation = 80;
  const v128_t one = wasm_f32x4_splat(1);
  const v128_t exponent = wasm_f32x4_pmin(wasm_f32x4_neg(z), wasm_f32x4_splat(kSaturation));
  return wasm_f32x4_div(one, wasm_f32x4_add(one, ExpNonPositive(exponent)));
}

// z = 2 sqrt(2/pi) (x + c x^3), f = x s(z), f' = s + x s (1 - s) z'.
ValueAndDerivative Gelu(v128_t x) {
  const v128_t one = wasm_f32x4_splat(1);
  const v128_t slope = wasm_f32x4_splat(static_cast<float>(kTwoRootTwoOverPi));
  const v128_t cubic = wasm_f32x4_splat(static_cast<float>(kTwoRootTwoOverPi * kGeluCubic));
  const v128_t thrice = wasm_f32x4_splat(static_cast<float>(3 * kTwoRootTwoOverPi * kGeluCubic));
  const v128_t square = wasm_f32x4_mul(x, x);
  const v128_t s = Sigmoid(wasm_f32x4_mul(x, MulAdd(cubic, square, slope)));
  const v128_t value = wasm_f32x4_mul(x, s);
  const v128_t rise = wasm_f32x4_mul(wasm_f32x4_mul(value, wasm_f32x4_sub(one, s)), MulAdd(thrice, square, slope));
  return {value, wasm_f32x4_add(s, rise)};
}

// f = x s(c x), f' = s + c x s (1 - s).
ValueAndDerivative Swish(v128_t x, float c) {
  const v128_t one = wasm_f32x4_splat(1), slope = wasm_f32x4_splat(c);
  const v128_t s = Sigmoid(wasm_f32x4_mul(slope, x));
  const v128_t value = wasm_f32x4_mul(x, s);
  return {value, MulAdd(wasm_f32x4_mul(slope, value), wasm_f32x4_sub(one, s), s)};
}
ValueAndDerivative Silu(v128_t x) { return Swish(x, 1); }
ValueAndDerivative GeluQuick(v128_t x) { return Swish(x, static_cast<float>(kGeluQuick)); }

// f = x P(x) with P the normal distribution, f' = P + x p. For x >= 0: 1 - P = t (a1 + t (a2 + ...)) e^(-x^2 / 2) / 2,
// t = 1 / (1 + 0.3275911 x / sqrt 2).
ValueAndDerivative GeluErf(v128_t x) {
  constexpr float kSteps[] = {1.061405429f, -1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f};
  const v128_t one = wasm_f32x4_splat(1), half = wasm_f32x4_splat(0.5f);
  const v128_t distance = wasm_f32x4_splat(static_cast<float>(0.3275911 * kRootHalf));
  const v128_t t = wasm_f32x4_div(one, MulAdd(distance, wasm_f32x4_abs(x), one));
  const v128_t e = ExpNonPositive(wasm_f32x4_mul(wasm_f32x4_neg(half), wasm_f32x4_mul(x, x)));
  v128_t sum = wasm_f32x4_splat(0);
  for (float step : kSteps) sum = wasm_f32x4_mul(t, wasm_f32x4_add(sum, wasm_f32x4_splat(step)));
  const v128_t tail = wasm_f32x4_mul(wasm_f32x4_mul(half, sum), e);
  const v128_t below = wasm_f32x4_lt(x, wasm_f32x4_splat(0));
  const v128_t probability = wasm_v128_bitselect(tail, wasm_f32x4_sub(one, tail), below);
  const v128_t density = wasm_f32x4_mul(e, wasm_f32x4_splat(static_cast<float>(kOneOverRootTwoPi)));
  return {wasm_f32x4_mul(x, probability), MulAdd(x, density, probability)};
}

// f' is 0 at 0.
ValueAndDerivative Relu(v128_t x) {
  const v128_t zero = wasm_f32x4_splat(0);
  const v128_t positive = wasm_f32x4_gt(x, zero);
  return {wasm_v128_and(x, positive), wasm_v128_and(wasm_f32x4_splat(1), positive)};
}

ValueAndDerivative ReluSquared(v128_t x) {
  const v128_t positive = Relu(x).value;
  return {wasm_f32x4_mul(positive, positive), wasm_f32x4_add(positive, positive)};
}

template <ValueAndDerivative (*kFunction)(v128_t)>
void Apply(int64_t count, const float* x, float* y, float* derivative) {
  int64_t n = 0;
  for (; n + 4 <= count; n += 4) {
    const ValueAndDerivative result = kFunction(wasm_v128_load(x + n));
    wasm_v128_store(y + n, result.value);
    if (derivative) wasm_v128_store(derivative + n, result.derivative);
  }
  if (n == count) return;
  // The tail goes through the same lanes, so that a value does not depend on where it stands.
  const size_t bytes = static_cast<size_t>(count - n) * sizeof(float);
  float lanes[4] = {};
  std::memcpy(lanes, x + n, bytes);
  const ValueAndDerivative result = kFunction(wasm_v128_load(lanes));
  wasm_v128_store(lanes, result.value);
  std::memcpy(y + n, lanes, bytes);
  if (!derivative) return;
  wasm_v128_store(lanes, result.derivative);
  std::memcpy(derivative + n, lanes, bytes);
}

}  // namespace

void ActivationForward(Activation kind, int64_t count, const float* x, float* y, float* derivative) {
  switch (kind) {
    case Activation::kGelu:
      return Apply<Gelu>(count, x, y, derivative);
    case Activation::kRelu:
      return Apply<Relu>(count, x, y, derivative);
    case Activation::kSilu:
      return Apply<Silu>(count, x, y, derivative);
    case Activation::kGeluErf:
      return Apply<GeluErf>(count, x, y, derivative);
    case Activation::kGeluQuick:
      return Apply<GeluQuick>(count, x, y, derivative);
    case Activation::kReluSquared:
      return Apply<ReluSquared>(count, x, y, derivative);
  }
}

void ActivationReference(Activation kind, int64_t count, const float* x, double* y, double* derivative) {
  for (int64_t n = 0; n < count; ++n) {
    const double v = x[n];
    if (kind == Activation::kRelu || kind == Activation::kReluSquared) {
      const bool square = kind == Activation::kReluSquared;
      y[n] = v > 0 ? (square ? v * v : v) : 0;
      derivative[n] = v > 0 ? (square ? 2 * v : 1) : 0;
    } else if (kind == Activation::kSilu || kind == Activation::kGeluQuick) {
      const double c = kind == Activation::kSilu ? 1 : kGeluQuick;
      const double s = 1 / (1 + std::exp(-c * v));
      y[n] = v * s;
      derivative[n] = s + c * v * s * (1 - s);
    } else if (kind == Activation::kGeluErf) {
      const double probability = 0.5 * std::erfc(-v * kRootHalf);
      y[n] = v * probability;
      derivative[n] = probability + v * kOneOverRootTwoPi * std::exp(-0.5 * v * v);
    } else {
      const double root = kTwoRootTwoOverPi / 2;
      const double t = std::tanh(root * (v + kGeluCubic * v * v * v));
      y[n] = 0.5 * v * (1 + t);
      derivative[n] = 0.5 * (1 + t) + 0.5 * v * (1 - t * t) * root * (1 + 3 * kGeluCubic * v * v);
    }
  }
}

void Multiply(int64_t count, const float* x, const float* y, float* z) {
  int64_t n = 0;
  for (; n + 4 <= count; n += 4) wasm_v128_store(z + n, wasm_f32x4_mul(wasm_v128_load(x + n), wasm_v128_load(y + n)));
  for (; n < count; ++n) z[n] = x[n] * y[n];
}

void MultiplyInto(int64_t count, const float* y, float* x) { Multiply(count, x, y, x); }

}  // namespace poslab
