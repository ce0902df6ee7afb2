// SPDX-License-Identifier: MIT
// T5's buckets at their exact edges, for any setting and any distance, and the bias table with its gradient.
#include "position/t5.h"

#include <algorithm>
#include <cmath>

#include "position/inspect.h"
#include "position/t5_buckets.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Boolean;
using testing::Make;
using testing::Number;
using testing::Tensors;

T5Buckets MakeBuckets(int64_t buckets, int64_t max_distance, bool bidirectional) {
  Result<T5Buckets> made = T5Buckets::Make(buckets, max_distance, bidirectional);
  REQUIRE(made.ok());
  return std::move(*made);
}

std::vector<int64_t> LogThresholds(const T5Buckets& buckets, size_t exact) {
  return {buckets.thresholds().begin() + static_cast<int64_t>(exact), buckets.thresholds().end()};
}

TEST_CASE("The first distances of the logarithmic buckets are those of the published models") {
  CHECK(LogThresholds(MakeBuckets(32, 128, true), 8) == std::vector<int64_t>{8, 12, 16, 23, 32, 46, 64, 91});
  CHECK(LogThresholds(MakeBuckets(32, 128, false), 16) ==
        std::vector<int64_t>{16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113});
}

TEST_CASE("Distances at the edges fall into the right bucket") {
  const T5Buckets both = MakeBuckets(32, 128, true), causal = MakeBuckets(32, 128, false);
  CHECK(both.Bucket(-64) == 14);
  CHECK(both.Bucket(-90) == 14);
  CHECK(both.Bucket(-91) == 15);
  CHECK(both.Bucket(-200) == 15);
  CHECK(both.Bucket(200) == 31);
  CHECK(both.Bucket(0) == 0);
  CHECK(both.Bucket(1) == 17);
  CHECK(causal.Bucket(-112) == 30);
  CHECK(causal.Bucket(-113) == 31);
  CHECK(causal.Bucket(-1000) == 31);
  CHECK(causal.Bucket(1) == 0);
  CHECK(causal.Bucket(1000000) == 0);
  // ln 10 / ln 100 * 8 is 4 exactly; a float multiplication by the reciprocal misses it.
  CHECK(MakeBuckets(32, 800, true).Bucket(-80) == 12);
  CHECK(MakeBuckets(32, 800, true).Bucket(-79) == 11);
}

TEST_CASE("No distance whatever leaves the table") {
  for (bool bidirectional : {false, true}) {
    const T5Buckets buckets = MakeBuckets(32, 128, bidirectional);
    for (int64_t distance : {INT64_MIN, INT64_MIN + 1, int64_t{-1} << 40, int64_t{1} << 40, INT64_MAX - 1, INT64_MAX}) {
      CHECK(buckets.Bucket(distance) >= 0);
      CHECK(buckets.Bucket(distance) < 32);
    }
    CHECK(buckets.Bucket(INT64_MIN) == (bidirectional ? 15 : 31));
    CHECK(buckets.Bucket(INT64_MAX) == (bidirectional ? 31 : 0));
  }
}

TEST_CASE("Any setting gives the formula's bucket wherever a double can tell") {
  for (int64_t per_side : {2, 3, 5, 8, 16, 31, 32, 160, 500}) {
    for (int64_t max_distance :
         {int64_t{252}, int64_t{256}, int64_t{800}, int64_t{1000}, int64_t{65536}, int64_t{1} << 30}) {
      const int64_t exact = per_side / 2;
      if (max_distance <= exact) continue;
      const T5Buckets buckets = MakeBuckets(per_side, max_distance, false);
      CHECK(std::is_sorted(buckets.thresholds().begin(), buckets.thresholds().end()));
      for (int64_t step = 0; step < 3000; ++step) {
        const int64_t distance = step < 1500 ? step : 1500 + (step - 1500) * (step - 1500) * 97;
        int64_t expected = distance;
        if (distance >= exact) {
          const double place = std::log(static_cast<double>(distance) / static_cast<double>(exact)) /
                               std::log(static_cast<double>(max_distance) / static_cast<double>(exact)) *
                               static_cast<double>(per_side - exact);
          if (std::fabs(place - std::round(place)) < 1e-9) continue;  // decided in whole numbers, below
          expected = std::min(per_side - 1, exact + static_cast<int64_t>(std::floor(place)));
        }
        if (buckets.Bucket(-distance) != expected) {
          CAPTURE(per_side);
          CAPTURE(max_distance);
          CAPTURE(distance);
          CHECK(buckets.Bucket(-distance) == expected);
        }
      }
    }
  }
}

TEST_CASE("Edges that are whole numbers belong to the upper bucket") {
  // maxDistance / exact = 2^k with as many log buckets: bucket exact + t begins at exact * 2^t precisely.
  for (int64_t exact : {1, 2, 3, 5, 8, 10, 16}) {
    const int64_t log_buckets = exact;  // per side 2 * exact
    const T5Buckets buckets = MakeBuckets(2 * exact, exact << log_buckets, false);
    for (int64_t t = 0; t < log_buckets; ++t) CHECK(buckets.thresholds()[static_cast<size_t>(exact + t)] == exact << t);
  }
  // Powers of 3: what a rounded logarithm gets wrong somewhere.
  const T5Buckets threes = MakeBuckets(20, 10 * 59049, false);
  for (int64_t t = 0, power = 10; t < 10; ++t, power *= 3) {
    CHECK(threes.Bucket(-power) == 10 + t);
    CHECK(threes.Bucket(-(power - 1)) == 9 + t);
  }
}

TEST_CASE("Powers are compared in whole numbers") {
  CHECK(PowerReaches(10, 3, 10, 3, 1));
  CHECK(PowerReaches(7, 2, 49, 1, 1));
  CHECK_FALSE(PowerReaches(7, 2, 50, 1, 1));
  // (2^31 - 1)^64 against 2^31 * (2^31 - 1)^63: equal but for the last factor.
  CHECK_FALSE(PowerReaches((uint64_t{1} << 31) - 1, 64, uint64_t{1} << 31, 1, (uint64_t{1} << 31) - 1));
  CHECK(PowerReaches((uint64_t{1} << 31) - 1, 64, (uint64_t{1} << 31) - 1, 1, (uint64_t{1} << 31) - 1));
}

TEST_CASE("The most buckets and the longest distance are found in good time and stay sorted") {
  const T5Buckets buckets = MakeBuckets(4096, 2147483647, true);
  CHECK(std::is_sorted(buckets.thresholds().begin(), buckets.thresholds().end()));
  CHECK(buckets.thresholds().back() < 2147483647);
}

TEST_CASE("Runs of one bucket cover every distance once") {
  for (bool bidirectional : {false, true}) {
    const T5Buckets buckets = MakeBuckets(10, 40, bidirectional);
    for (int64_t distance = -60; distance <= 60; ++distance) {
      const int64_t last = buckets.LastOfRun(distance);
      CAPTURE(distance);
      CHECK(last >= distance);
      CHECK(buckets.Bucket(last) == buckets.Bucket(distance));
      if (last < INT64_MAX) CHECK(buckets.Bucket(last + 1) != buckets.Bucket(distance));
    }
  }
}

TEST_CASE("The bias is the table's entry of the bucket, at any stretch of distances") {
  for (bool bidirectional : {false, true}) {
    const auto scheme = Make("t5", {Boolean("bidirectional", bidirectional)});
    Tensors tensors;
    tensors.Add("table", {32, 3}, 1, 7);
    BindArguments call = testing::Call(3, 8, 4, 4);
    const auto values = tensors.values();
    call.parameters = values;
    Hooks hooks;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    const T5Buckets buckets = MakeBuckets(32, 128, bidirectional);
    for (int64_t first : {int64_t{-400}, int64_t{-5}, int64_t{0}, int64_t{3}, INT64_MIN, INT64_MAX - 9}) {
      for (int64_t count : {1, 2, 10}) {
        std::vector<float> bias(static_cast<size_t>(count));
        hooks.slice->Evaluate(2, first, count, bias.data());
        for (int64_t n = 0; n < count; ++n) {
          CHECK(bias[static_cast<size_t>(n)] ==
                tensors.numbers("table")[static_cast<size_t>(buckets.Bucket(first + n) * 3 + 2)]);
        }
      }
    }
    // Beyond the ends the value no longer changes.
    float inside, outside;
    hooks.slice->Evaluate(0, hooks.slice->lowest(), 1, &inside);
    hooks.slice->Evaluate(0, hooks.slice->lowest() - 1000, 1, &outside);
    CHECK(inside == outside);
    hooks.slice->Evaluate(0, hooks.slice->highest(), 1, &inside);
    hooks.slice->Evaluate(0, hooks.slice->highest() + 1000, 1, &outside);
    CHECK(inside == outside);
  }
}

TEST_CASE("The gradient of the table is the sum over the distances of each bucket") {
  const auto scheme = Make("t5", {Number("buckets", 8), Number("maxDistance", 20), Boolean("bidirectional", true)});
  Tensors tensors;
  tensors.Add("table", {8, 2}, 1, 3);
  constexpr int64_t kFirst = -30, kCount = 61;
  const std::vector<float> weights = testing::NormalNumbers(2 * kCount, 4);
  const std::vector<double> gradient(weights.begin(), weights.end());
  BindArguments call = testing::Call(2, 8, 4, 4);
  const auto values = tensors.values();
  call.parameters = values;
  // Loss sum(gradient * bias): linear in the table, so a step of 1 in double is exact but for the float entries.
  const auto loss = [&] {
    Hooks hooks;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    double sum = 0;
    for (int64_t h = 0; h < 2; ++h) {
      std::vector<float> bias(kCount);
      hooks.slice->Evaluate(h, kFirst, kCount, bias.data());
      for (int64_t n = 0; n < kCount; ++n)
        sum += gradient[static_cast<size_t>(h * kCount + n)] * bias[static_cast<size_t>(n)];
    }
    return sum;
  };
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.slice->learns());
  // In two parts, as an engine may do it.
  for (int64_t h = 0; h < 2; ++h) {
    hooks.slice->Accumulate(h, kFirst, 10, gradient.data() + h * kCount);
    hooks.slice->Accumulate(h, kFirst + 10, kCount - 10, gradient.data() + h * kCount + 10);
  }
  REQUIRE(scheme->Pull(call, hooks, {}, tensors.gradients()).ok());
  for (size_t n = 0; n < 16; ++n) {
    float& entry = tensors.numbers("table")[n];
    const float before = entry;
    entry = before + 1;
    const double above = loss(), step_up = static_cast<double>(entry) - before;
    entry = before;
    // Up to 61 entries of size 3 weighed by entries rounded to 2^-23.
    CHECK(tensors.gradient("table")[n] == doctest::Approx((above - loss()) / step_up).epsilon(1e-5));
  }
}

TEST_CASE("T5's table is shared by layers and starts small") {
  Dimensions dimensions;
  CHECK(Make("t5")->Parameters(dimensions).status().argument() == "heads");
  dimensions.heads = 4;
  const auto specs = Make("t5", {Number("buckets", 16)})->Parameters(dimensions);
  REQUIRE(specs.ok());
  CHECK((*specs)[0].name == "table");
  CHECK((*specs)[0].shape == std::vector<int64_t>{16, 4});
  CHECK((*specs)[0].shared_by_layers);
  CHECK_FALSE((*specs)[0].decay);
  CHECK((*specs)[0].start.a == 0.02);
}

}  // namespace
}  // namespace poslab
