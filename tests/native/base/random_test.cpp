// SPDX-License-Identifier: MIT
// The generator against the reference implementation's demo, and its draws against their distributions.
#include "base/random.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

using poslab::Random;

TEST_CASE("PCG32 with seed 42 and stream 54 begins like the demo of the reference implementation") {
  Random random(42, 54);
  for (uint32_t expected : {0xa15c02b7u, 0x7b47f409u, 0xba1d3330u, 0x83d2f293u, 0xbfa4784bu, 0xcbed606eu})
    CHECK(random.NextBits() == expected);
}

TEST_CASE("Streams and seeds of a generator give different sequences, equal ones the same") {
  std::set<uint64_t> starts;
  for (uint64_t seed : {0u, 1u, 2u, 3u})
    for (uint64_t stream : {0u, 1u, 2u, 3u, 4u}) {
      Random random(seed, stream), again(seed, stream);
      const uint64_t start = uint64_t{random.NextBits()} << 32 | random.NextBits();
      CHECK(start == (uint64_t{again.NextBits()} << 32 | again.NextBits()));
      starts.insert(start);
    }
  CHECK(starts.size() == 20);
}

TEST_CASE("A generator goes on from a saved state with the same numbers") {
  Random random(7, 3);
  for (int n = 0; n < 10; ++n) random.NextBits();
  const Random::State state = random.state();
  std::vector<uint32_t> expected;
  for (int n = 0; n < 5; ++n) expected.push_back(random.NextBits());
  Random resumed(1);
  resumed.set_state(state);
  for (uint32_t bits : expected) CHECK(resumed.NextBits() == bits);
}

TEST_CASE("Below gives every number under its bound about equally often") {
  Random random(1);
  for (uint32_t bound : {1u, 2u, 3u, 7u, 16u, 83u}) {
    constexpr int kDraws = 40000;
    std::vector<int> counts(bound);
    for (int n = 0; n < kDraws; ++n) {
      const uint32_t drawn = random.Below(bound);
      REQUIRE(drawn < bound);
      ++counts[drawn];
    }
    // Six standard deviations of a binomial count: chance would miss one of these 112 counts in 10^7 runs.
    const double mean = double{kDraws} / bound, deviation = std::sqrt(mean * (1 - 1.0 / bound));
    for (int count : counts) CHECK(std::fabs(count - mean) <= 6 * deviation);
  }
}

TEST_CASE("Below reaches into the upper half of a bound that is no power of two") {
  Random random(5);
  const uint32_t bound = 3000000000u;
  int upper = 0;
  for (int n = 0; n < 1000; ++n) {
    const uint32_t drawn = random.Below(bound);
    CHECK(drawn < bound);
    upper += drawn >= bound / 2;
  }
  CHECK(std::abs(upper - 500) < 100);  // six standard deviations of 15.8 are 95
}

TEST_CASE("Uniform draws lie from 0 to below 1 with mean 1/2 and variance 1/12") {
  Random random(3);
  constexpr int kDraws = 100000;
  double sum = 0, squares = 0;
  for (int n = 0; n < kDraws; ++n) {
    const double u = random.Uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u, squares += u * u;
  }
  const double mean = sum / kDraws;
  CHECK(std::fabs(mean - 0.5) < 6 * std::sqrt(1.0 / 12 / kDraws));
  CHECK(std::fabs(squares / kDraws - mean * mean - 1.0 / 12) < 6 * std::sqrt(1.0 / 180 / kDraws));
}

TEST_CASE("Normal draws have mean 0, variance 1, kurtosis 3 and are values of a float") {
  Random random(4);
  constexpr int kDraws = 100000;
  double moments[5] = {};
  for (int n = 0; n < kDraws; ++n) {
    const double x = random.Normal();
    REQUIRE(std::isfinite(x));
    REQUIRE(static_cast<double>(static_cast<float>(x)) == x);
    for (int k = 1; k <= 4; ++k) moments[k] += std::pow(x, k) / kDraws;
  }
  // Six standard deviations of each estimate: variances 1, 2, 15 and 96 (of x^4) over the draws.
  CHECK(std::fabs(moments[1]) < 6 * std::sqrt(1.0 / kDraws));
  CHECK(std::fabs(moments[2] - 1) < 6 * std::sqrt(2.0 / kDraws));
  CHECK(std::fabs(moments[3]) < 6 * std::sqrt(15.0 / kDraws));
  CHECK(std::fabs(moments[4] - 3) < 6 * std::sqrt(96.0 / kDraws));
}

TEST_CASE("A normal draw uses two uniform draws, four times 32 bits") {
  Random random(9), bits(9);
  random.Normal();
  for (int n = 0; n < 4; ++n) bits.NextBits();
  CHECK(random.NextBits() == bits.NextBits());
}
