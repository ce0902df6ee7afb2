// SPDX-License-Identifier: MIT
// xPos: the tile against its defining sum, far from any centre, and its gradients.
#include "position/xpos.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "position/xpos_tile.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::NormalNumbers;
using testing::Number;
using testing::Text;

constexpr double kScaleBase = 512;

double Decay(int64_t pair, int64_t head_dim, double distance) {
  const double z = (2.0 * static_cast<double>(pair) / static_cast<double>(head_dim) + 0.4) / 1.4;
  return std::pow(z, distance / kScaleBase);
}

// One tile of one head with everything it needs, and its logits [keys, stride].
struct TestTile {
  TestTile(const char* layout, int64_t queries, int64_t keys, int64_t head_dim, Positions query_positions,
           Positions key_positions)
      : half(layout[0] == 'h'), query(NormalNumbers(queries * head_dim, 1)), key(NormalNumbers(keys * head_dim, 2)) {
    const auto scheme = Make("xpos", {Text("layout", layout)});
    BindArguments call = testing::Call(1, head_dim, queries, keys);
    call.query_positions = query_positions;
    call.key_positions = key_positions;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    tile.queries = queries, tile.keys = keys, tile.head_dim = head_dim;
    tile.query_positions = query_positions, tile.key_positions = key_positions;
    tile.scale = 0.3f;
    tile.stride = queries + 1;
    logits.assign(static_cast<size_t>(keys * tile.stride), -7.f);
  }
  void Forward() {
    tile.query = query.data(), tile.key = key.data(), tile.logits = logits.data();
    REQUIRE(hooks.tile->Forward(tile).ok());
  }
  int64_t distance(int64_t i, int64_t j) const { return tile.query_positions[i] - tile.key_positions[j]; }
  int64_t pair(int64_t lane) const { return half ? lane % (tile.head_dim / 2) : lane / 2; }
  double Expected(int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t c = 0; c < tile.head_dim; ++c) {
      sum += Decay(pair(c), tile.head_dim, static_cast<double>(distance(i, j))) *
             query[static_cast<size_t>(i * tile.head_dim + c)] * key[static_cast<size_t>(j * tile.head_dim + c)];
    }
    return sum * static_cast<double>(tile.scale);
  }
  float at(int64_t i, int64_t j) const { return logits[static_cast<size_t>(j * tile.stride + i)]; }

  bool half;
  std::vector<float> query, key, logits;
  Hooks hooks;
  TileArguments tile;
};

TEST_CASE("The tile is the defining sum for every size, layout and place") {
  for (const char* layout : {"interleaved", "half"}) {
    for (auto [queries, keys, head_dim] :
         {std::array<int64_t, 3>{1, 1, 2}, {3, 5, 4}, {8, 4, 6}, {17, 33, 16}, {64, 64, 64}}) {
      for (int64_t start : {0, 4096, 80000}) {
        TestTile test(layout, queries, keys, head_dim, {start, queries, nullptr}, {start - keys / 2, keys, nullptr});
        test.Forward();
        double worst = 0;
        for (int64_t i = 0; i < queries; ++i) {
          for (int64_t j = 0; j < keys; ++j) worst = std::max(worst, std::fabs(test.at(i, j) - test.Expected(i, j)));
        }
        // head_dim products below 0.3 * 4 * 4, each with five roundings, and as many sums.
        CHECK(worst < static_cast<double>(head_dim + 5) * 5 * 0x1p-24 * 5);
        // Nothing is written past the tile.
        for (int64_t j = 0; j < keys; ++j) CHECK(test.at(queries, j) == -7.f);
      }
    }
  }
}

TEST_CASE("At distance 4096 pair 0 is scaled by 4.44074e-5") {
  TestTile test("interleaved", 1, 1, 64, {4096, 1, nullptr}, {0, 1, nullptr});
  std::fill(test.query.begin(), test.query.end(), 0.f);
  std::fill(test.key.begin(), test.key.end(), 0.f);
  test.query[0] = test.key[0] = 1;
  test.tile.scale = 1;
  test.Forward();
  CHECK(test.at(0, 0) == doctest::Approx(4.44074e-5).epsilon(2e-6));
}

TEST_CASE("A length of 80,000 gives no infinity and no NaN") {
  TestTile test("interleaved", 8, 8, 64, {79992, 8, nullptr}, {0, 8, nullptr});
  test.Forward();
  for (int64_t i = 0; i < 8; ++i) {
    for (int64_t j = 0; j < 8; ++j) CHECK(std::fabs(test.at(i, j) - test.Expected(i, j)) < 1e-6);
  }
  // Hidden keys 80,000 to the right: whatever comes out is finite, so that it can be replaced and its gradient is 0.
  TestTile ahead("interleaved", 8, 8, 64, {0, 8, nullptr}, {79992, 8, nullptr});
  ahead.Forward();
  for (float logit : ahead.logits) CHECK(std::isfinite(logit));
}

TEST_CASE("Scores are the same to the bit after a shift of all ids") {
  TestTile here("interleaved", 9, 12, 16, {3, 9, nullptr}, {0, 12, nullptr});
  TestTile shifted("interleaved", 9, 12, 16, {10003, 9, nullptr}, {10000, 12, nullptr});
  here.Forward();
  shifted.Forward();
  CHECK(here.logits == shifted.logits);
}

TEST_CASE("Ids with wide gaps inside a tile go entry by entry and agree with the sum") {
  const int64_t query_ids[] = {200000, 200100, 1000000}, key_ids[] = {0, 199000, 1000000, 5};
  TestTile test("half", 3, 4, 8, {0, 3, query_ids}, {0, 4, key_ids});
  test.Forward();
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      CHECK(std::isfinite(test.at(i, j)));
      if (test.distance(i, j) >= 0) CHECK(test.at(i, j) == doctest::Approx(test.Expected(i, j)).epsilon(1e-6));
    }
  }
}

TEST_CASE("Gradients of queries and keys are those of finite differences in double, near and with gaps") {
  const int64_t gap_ids[] = {90000, 90040, 90700, 150000};
  for (bool gaps : {false, true}) {
    TestTile test("interleaved", 3, 4, 6, {200, 3, gaps ? gap_ids + 1 : nullptr}, {0, 4, gaps ? gap_ids : nullptr});
    test.Forward();
    std::vector<float> weights = NormalNumbers(static_cast<int64_t>(test.logits.size()), 3);
    // Only keys at or before the query count: the others are hidden and have gradient 0.
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        if (test.distance(i, j) < 0) weights[static_cast<size_t>(j * test.tile.stride + i)] = 0;
      }
    }
    const std::vector<float> kept = weights;
    std::vector<float> query_gradient(18, 0.5f), key_gradient(24, 0.5f);
    TileGradients gradients;
    gradients.logits = weights.data();
    gradients.query = query_gradient.data();
    gradients.key = key_gradient.data();
    REQUIRE(test.hooks.tile->Backward(test.tile, gradients).ok());
    const auto loss = [&] {
      double sum = 0;
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < 4; ++j) {
          const float weight = kept[static_cast<size_t>(j * test.tile.stride + i)];
          if (weight != 0) sum += weight * test.Expected(i, j);
        }
      }
      return sum;
    };
    const auto check = [&](std::vector<float>& numbers, const std::vector<float>& gradient) {
      for (size_t n = 0; n < numbers.size(); ++n) {
        const float before = numbers[n];
        const double at = loss();
        numbers[n] = before + 1;  // the sum is linear in each entry
        const double difference = (loss() - at) / (static_cast<double>(numbers[n]) - before);
        numbers[n] = before;
        // Added to the 0.5 that was there; four products below 5 with a few roundings each.
        CHECK(std::fabs(gradient[n] - 0.5 - difference) < 4e-6);
      }
    };
    check(test.query, query_gradient);
    check(test.key, key_gradient);
    // The content logits were replaced, so nothing flows on to them.
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 4; ++j) CHECK(weights[static_cast<size_t>(j * test.tile.stride + i)] == 0);
    }
  }
}

TEST_CASE("A hidden key may hold NaN without reaching a query's gradient") {
  TestTile test("interleaved", 2, 3, 4, {1, 2, nullptr}, {0, 3, nullptr});
  for (size_t c = 8; c < 12; ++c) test.key[c] = std::nanf("");
  test.Forward();
  std::vector<float> weights(test.logits.size(), 1.f);
  std::fill_n(weights.begin() + 2 * test.tile.stride, test.tile.stride, 0.f);
  std::vector<float> query_gradient(8, 0.f), key_gradient(12, 0.f);
  TileGradients gradients;
  gradients.logits = weights.data();
  gradients.query = query_gradient.data();
  gradients.key = key_gradient.data();
  REQUIRE(test.hooks.tile->Backward(test.tile, gradients).ok());
  for (float gradient : query_gradient) CHECK(std::isfinite(gradient));
  for (float gradient : key_gradient) CHECK(std::isfinite(gradient));
}

TEST_CASE("xPos needs an even head") {
  Dimensions dimensions;
  dimensions.head_dim = 7;
  CHECK(Make("xpos")->Parameters(dimensions).status().argument() == "headDim");
  BindArguments call = testing::Call(1, 7, 2, 2);
  Hooks hooks;
  CHECK(Make("xpos")->Bind(call, &hooks).code() == Code::kRange);
}

}  // namespace
}  // namespace poslab
