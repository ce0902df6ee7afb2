// SPDX-License-Identifier: MIT
// The vector sigmoid and softplus against double over the whole range of floats.
#include "base/sigmoid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = -87.3365f;  // what is below counts as zero

float First(v128_t vector) { return wasm_f32x4_extract_lane(vector, 0); }
float Sigmoid(float x) { return First(poslab::Sigmoid(wasm_f32x4_splat(x))); }
float Softplus(float x) { return First(poslab::Softplus(wasm_f32x4_splat(x))); }
double SigmoidReference(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double SoftplusReference(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

// The largest relative error over every 997th float and both of its signs, and over even steps where neither is flat.
template <typename Function, typename Reference>
double LargestError(Function function, Reference reference) {
  double largest = 0;
  const auto look = [&](float x) {
    if (x < kLowest) return;
    const double expected = reference(x);
    largest = std::max(largest, std::fabs(function(x) - expected) / expected);
  };
  for (uint32_t bits = 0; bits < std::bit_cast<uint32_t>(kInfinity); bits += 997) {
    look(std::bit_cast<float>(bits));
    look(-std::bit_cast<float>(bits));
  }
  for (int n = -900'000; n <= 900'000; ++n) look(static_cast<float>(n) * 1e-4f);
  return largest;
}

}  // namespace

TEST_CASE("The vector sigmoid and softplus keep their stated relative errors") {
  const double sigmoid = LargestError(Sigmoid, SigmoidReference), softplus = LargestError(Softplus, SoftplusReference);
  MESSAGE("largest relative errors: " << sigmoid << ", " << softplus);
  CHECK(sigmoid <= poslab::kSigmoidRelativeError);
  CHECK(softplus <= poslab::kSoftplusRelativeError);
}

TEST_CASE("The vector sigmoid and softplus end where they should and let NaN through") {
  CHECK(Sigmoid(0.0f) == 0.5f);
  CHECK(Sigmoid(-0.0f) == 0.5f);
  CHECK(Sigmoid(kInfinity) == 1.0f);
  CHECK(Softplus(kInfinity) == kInfinity);
  CHECK(Softplus(1e30f) == 1e30f);
  for (const float x : {-87.34f, -1e4f, -1e30f, -kInfinity}) {
    CHECK(Sigmoid(x) == 0.0f);
    CHECK(Softplus(x) == 0.0f);
  }
  CHECK(std::isnan(Sigmoid(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(Softplus(std::numeric_limits<float>::quiet_NaN())));
}
