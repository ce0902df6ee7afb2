// SPDX-License-Identifier: MIT
// Plain attention and its masks against the reference: lengths around the tile, widths, groups, strides, alignments.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention_support.h"

using poslab::Mask;
using poslab::Rotation;
using poslab_test::CheckForward;
using poslab_test::Problem;
using poslab_test::Shape;
using poslab_test::Values;

TEST_CASE("attention agrees with the reference for every pair of lengths around the tile") {
  const int64_t lengths[] = {0, 1, 2, 3, 7, 63, 64, 65, 127, 130, 200};
  for (int64_t queries : lengths) {
    for (int64_t keys : lengths) {
      if (queries > 65 && keys > 65 && queries != keys) continue;
      for (bool causal : {false, true}) {
        CAPTURE(causal);
        Problem problem({1, 1, queries, keys, 8, 8});
        problem.mask.causal = causal;
        CheckForward(problem);
      }
    }
  }
}

TEST_CASE("attention agrees with the reference for every width of queries and values") {
  for (int64_t dim : {1, 3, 8, 16, 20, 64, 80}) {
    for (int64_t value_dim : {1, 3, 8, 20, 64, 80}) {
      Problem problem({2, 1, 70, 70, dim, value_dim});
      problem.mask.causal = true;
      CheckForward(problem);
    }
  }
}

TEST_CASE("heads share keys and values in groups") {
  for (int64_t key_value_heads : {1, 2, 3, 6}) {
    Problem problem({6, key_value_heads, 67, 70, 16, 8});
    problem.mask.causal = true;
    CheckForward(problem);
  }
}

TEST_CASE("tensors may be interleaved, padded and off any alignment") {
  for (int64_t shift : {0, 1, 2, 3}) {
    for (int64_t queries : {3, 17, 70}) {
      Problem problem({4, 2, queries, 70, 16, 20});
      problem.mask.causal = true;
      problem.Interleave(shift, shift);
      CheckForward(problem);
    }
  }
}

TEST_CASE("windows and both alignments go by index for any two lengths") {
  for (int64_t queries : {1, 5, 70, 130}) {
    for (int64_t keys : {1, 2, 70, 150}) {
      for (Mask::Alignment alignment : {Mask::Alignment::kBottomRight, Mask::Alignment::kTopLeft}) {
        for (int64_t window :
             {int64_t{1}, int64_t{3}, int64_t{64}, int64_t{100}, std::numeric_limits<int64_t>::max()}) {
          CAPTURE(window);
          Problem problem({1, 1, queries, keys, 8, 8});
          problem.mask.causal = true;
          problem.mask.alignment = alignment;
          problem.mask.window = window;
          CheckForward(problem);
        }
      }
    }
  }
}

TEST_CASE("a window of 3 shows 1, 2, 3, 3, 3 keys of 5, a window of 1 the query itself, a long one everything") {
  const auto count = [](int64_t window) {
    Problem problem({1, 1, 5, 5, 4, 4});
    problem.mask.causal = true;
    problem.mask.window = window;
    std::vector<float> output(20), weights(25);
    poslab::AttentionResults results;
    results.output = poslab::HeadsView<float>::Packed(output.data(), 1, 5, 4);
    results.weights = weights.data();
    poslab::AttentionWorkspace workspace;
    REQUIRE(poslab::Attention(problem.arguments(), &results, &workspace).ok());
    std::vector<int64_t> seen;
    for (int i = 0; i < 5; ++i)
      seen.push_back(
          std::count_if(weights.begin() + 5 * i, weights.begin() + 5 * i + 5, [](float w) { return w > 0; }));
    return seen;
  };
  CHECK(count(3) == std::vector<int64_t>{1, 2, 3, 3, 3});
  CHECK(count(1) == std::vector<int64_t>{1, 1, 1, 1, 1});
  CHECK(count(5) == std::vector<int64_t>{1, 2, 3, 4, 5});
  CHECK(count(std::numeric_limits<int64_t>::max()) == std::vector<int64_t>{1, 2, 3, 4, 5});
}

TEST_CASE("a key mask hides keys whatever they hold") {
  constexpr float kPoisons[] = {std::numeric_limits<float>::quiet_NaN(), INFINITY, -INFINITY};
  for (bool causal : {false, true}) {
    for (bool interleaved : {false, true}) {
      Problem problem({2, 1, 70, 140, 16, 20});
      problem.mask.causal = causal;
      problem.AddRotation(Rotation::Layout::kHalf, 4, false);
      std::vector<uint8_t> mask(140, 1);
      for (size_t j : {size_t{0}, size_t{1}, size_t{64}, size_t{70}, size_t{100}, size_t{139}}) mask[j] = 0;
      for (size_t j = 0; j < mask.size(); ++j) {
        if (mask[j]) continue;
        for (size_t d = 0; d < 16; ++d) problem.key[j * 16 + d] = kPoisons[(j + d) % 3];
        for (size_t d = 0; d < 20; ++d) problem.value[j * 20 + d] = kPoisons[(j + d) % 3];
      }
      problem.SetKeyMask(mask);
      if (interleaved) problem.Interleave(2, 1);
      CheckForward(problem);
    }
  }
}

TEST_CASE("a key that lies in a query's future does not matter even as NaN, and spoils only those who see it") {
  for (int64_t poisoned : {5, 40, 64, 69}) {
    Problem problem({1, 1, 70, 70, 8, 8});
    problem.mask.causal = true;
    for (int d = 0; d < 8; ++d) problem.key[static_cast<size_t>(poisoned * 8 + d)] = NAN;
    for (int d = 0; d < 8; ++d) problem.value[static_cast<size_t>(poisoned * 8 + d)] = d % 2 ? NAN : INFINITY;
    std::vector<float> output(560), clean(560);
    poslab::AttentionResults results;
    results.output = poslab::HeadsView<float>::Packed(output.data(), 1, 70, 8);
    poslab::AttentionWorkspace workspace;
    REQUIRE(poslab::Attention(problem.arguments(), &results, &workspace).ok());
    Problem same({1, 1, 70, 70, 8, 8});
    same.mask.causal = true;
    results.output = poslab::HeadsView<float>::Packed(clean.data(), 1, 70, 8);
    REQUIRE(poslab::Attention(same.arguments(), &results, &workspace).ok());
    for (int64_t n = 0; n < 560; ++n) {
      CAPTURE(n);
      if (n < poisoned * 8)
        CHECK(output[static_cast<size_t>(n)] == doctest::Approx(clean[static_cast<size_t>(n)]).epsilon(1e-6));
      else
        CHECK(std::isnan(output[static_cast<size_t>(n)]));
    }
  }
}

TEST_CASE("rows that see no key give zeros and a log-sum-exp of minus infinity") {
  Problem hidden({2, 2, 3, 66, 8, 8});
  hidden.SetKeyMask(std::vector<uint8_t>(66, 0));
  std::fill(hidden.key.begin(), hidden.key.end(), NAN);
  std::fill(hidden.value.begin(), hidden.value.end(), NAN);
  CheckForward(hidden);
  Problem early({1, 1, 70, 3, 8, 8});  // bottom-right: the first 67 queries stand before the first key
  early.mask.causal = true;
  CheckForward(early);

  std::vector<float> output(560, 1.0f), log_sum_exp(70, 1.0f), weights(210, 1.0f);
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output.data(), 1, 70, 8);
  results.log_sum_exp = log_sum_exp.data();
  results.weights = weights.data();
  poslab::AttentionWorkspace workspace;
  REQUIRE(poslab::Attention(early.arguments(), &results, &workspace).ok());
  for (size_t n = 0; n < 67 * 8; ++n) CHECK(output[n] == 0.0f);
  for (size_t n = 0; n < 67; ++n) CHECK(log_sum_exp[n] == -INFINITY);
  for (size_t n = 0; n < 67 * 3; ++n) CHECK(weights[n] == 0.0f);
}

TEST_CASE("a given scale takes the place of 1 / sqrt(D)") {
  for (float scale : {1.0f, 0.25f, 0.0f, -0.5f}) {
    Problem problem({1, 1, 20, 66, 8, 8});
    problem.scale = scale;
    CheckForward(problem);
  }
}

TEST_CASE("scores far apart neither overflow nor give NaN") {
  Problem problem({1, 1, 4, 130, 8, 8});
  for (float& x : problem.query) x *= 1e15f;
  for (float& x : problem.key) x *= 1e15f;
  std::vector<float> output(32);
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output.data(), 1, 4, 8);
  poslab::AttentionWorkspace workspace;
  REQUIRE(poslab::Attention(problem.arguments(), &results, &workspace).ok());
  for (float value : output) CHECK(std::fabs(value) <= 1.0f);
}
