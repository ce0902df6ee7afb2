// SPDX-License-Identifier: MIT
// The vector exponential against double over the whole range of floats.
#include "base/exponential.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float First(v128_t vector) { return wasm_f32x4_extract_lane(vector, 0); }
float ExpNonPositive(float x) { return First(poslab::ExpNonPositive(wasm_f32x4_splat(x))); }
float Exp(float x) { return First(poslab::Exp(wasm_f32x4_splat(x))); }

// The largest relative error over about `count` floats from `low` to `high`, even in bits and so dense near zero.
template <typename Function>
double LargestError(Function function, float low, float high, int64_t count) {
  auto bits = [](float x) {
    int32_t value;
    std::memcpy(&value, &x, sizeof value);
    return value < 0 ? int64_t{INT32_MIN} - value : int64_t{value};
  };
  const int64_t from = bits(low), to = bits(high), step = std::max<int64_t>(1, (to - from) / count);
  double largest = 0;
  for (int64_t at = from; at <= to; at += step) {
    const auto raw = static_cast<int32_t>(at < 0 ? INT32_MIN - at : at);
    float x;
    std::memcpy(&x, &raw, sizeof x);
    const double expected = poslab::ExpReference(x);
    largest = std::max(largest, std::fabs(function(x) - expected) / expected);
  }
  return largest;
}

}  // namespace

TEST_CASE("the vector exponential keeps its stated relative error over all arguments with a normal result") {
  // Even in bits: most of the points are near zero; even in value: all binades of the result.
  CHECK(LargestError(ExpNonPositive, -87.3365f, -0.0f, 2'000'000) <= poslab::kExpRelativeError);
  CHECK(LargestError(Exp, -87.3365f, 88.72283f, 2'000'000) <= poslab::kExpRelativeError + 2 * std::ldexp(1.0, -24));
  double largest = 0;
  for (int i = 0; i <= 1'000'000; ++i) {
    const float x = -87.3365f * (static_cast<float>(i) / 1e6f);
    largest = std::max(largest, std::fabs(ExpNonPositive(x) / poslab::ExpReference(x) - 1));
  }
  MESSAGE("largest relative error: " << largest);
  CHECK(largest <= poslab::kExpRelativeError);
}

TEST_CASE("the vector exponential is exact at 0, zero far below and never NaN for large negative arguments") {
  CHECK(ExpNonPositive(0.0f) == 1.0f);
  CHECK(ExpNonPositive(-0.0f) == 1.0f);
  for (float x : {-87.34f, -88.0f, -100.0f, -1e3f, -1e9f, -1e30f, -std::numeric_limits<float>::max(), -kInfinity}) {
    CAPTURE(x);
    CHECK(ExpNonPositive(x) == 0.0f);
    CHECK(Exp(x) == 0.0f);
  }
  CHECK(ExpNonPositive(-87.336f) > 0.0f);
}

TEST_CASE("the vector exponential overflows to infinity and lets NaN through") {
  CHECK(std::isfinite(Exp(88.7228f)));
  CHECK(Exp(88.7229f) == kInfinity);
  CHECK(Exp(1e30f) == kInfinity);
  CHECK(Exp(kInfinity) == kInfinity);
  CHECK(std::isnan(Exp(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(ExpNonPositive(std::numeric_limits<float>::quiet_NaN())));
}
