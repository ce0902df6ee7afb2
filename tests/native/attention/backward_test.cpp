// SPDX-License-Identifier: MIT
// Gradients of queries, keys and values against finite differences of the reference in double.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "attention_support.h"

using poslab::Mask;
using poslab::Rotation;
using poslab_test::CheckBackward;
using poslab_test::Problem;

TEST_CASE("gradients agree with finite differences for lengths around the tile") {
  for (int64_t queries : {1, 3, 64, 70}) {
    for (int64_t keys : {1, 7, 65, 130}) {
      for (bool causal : {false, true}) {
        CAPTURE(causal);
        Problem problem({1, 1, queries, keys, 4, 4});
        problem.mask.causal = causal;
        CheckBackward(problem, 10);
      }
    }
  }
}

TEST_CASE("gradients agree with finite differences for odd widths, groups of heads, strides and a given scale") {
  Problem problem({4, 2, 20, 23, 5, 7});
  problem.mask.causal = true;
  problem.scale = 0.75f;
  CheckBackward(problem);
  Problem interleaved({4, 2, 20, 23, 8, 12});
  interleaved.mask.causal = true;
  interleaved.Interleave(3, 1);
  CheckBackward(interleaved);
}

TEST_CASE("gradients agree with finite differences under windows, alignments and key masks") {
  for (Mask::Alignment alignment : {Mask::Alignment::kBottomRight, Mask::Alignment::kTopLeft}) {
    Problem problem({1, 1, 70, 80, 4, 4});
    problem.mask.causal = true;
    problem.mask.alignment = alignment;
    problem.mask.window = 9;
    std::vector<uint8_t> mask(80, 1);
    mask[3] = mask[20] = mask[65] = 0;
    problem.SetKeyMask(mask);
    CheckBackward(problem);
  }
}

TEST_CASE("gradients go back through both layouts of the rotation") {
  for (Rotation::Layout layout : {Rotation::Layout::kHalf, Rotation::Layout::kInterleaved}) {
    for (int64_t pairs : {0, 1, 3, 4, 5}) {
      for (bool shared : {false, true}) {
        CAPTURE(pairs);
        Problem problem({2, 1, 12, 20, 10, 4});
        problem.mask.causal = true;
        problem.AddRotation(layout, pairs, shared);
        CheckBackward(problem, 20);
        CheckForward(problem);
      }
    }
  }
}

namespace {

struct Gradients {
  std::vector<float> query, key, value;
};

// Gradients of a problem for an output gradient of ones.
Gradients Backward(const Problem& problem) {
  const auto& s = problem.shape();
  const poslab::AttentionArguments arguments = problem.arguments();
  const auto size = static_cast<size_t>(s.heads * s.queries * s.value_dim);
  std::vector<float> output(size), ones(size, 1.0f), log_sum_exp(static_cast<size_t>(s.heads * s.queries));
  poslab::AttentionWorkspace workspace;
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output.data(), s.heads, s.queries, s.value_dim);
  results.log_sum_exp = log_sum_exp.data();
  REQUIRE(poslab::Attention(arguments, &results, &workspace).ok());
  Gradients gradients{std::vector<float>(problem.query.size()), std::vector<float>(problem.key.size()),
                      std::vector<float>(problem.value.size())};
  poslab::AttentionGradientArguments forward;
  forward.output = poslab::HeadsView<const float>::Packed(output.data(), s.heads, s.queries, s.value_dim);
  forward.output_gradient = poslab::HeadsView<const float>::Packed(ones.data(), s.heads, s.queries, s.value_dim);
  forward.log_sum_exp = log_sum_exp.data();
  poslab::AttentionGradients to;
  to.query = problem.View(gradients.query, s.heads, s.queries, s.dim);
  to.key = problem.View(gradients.key, s.key_value_heads, s.keys, s.dim);
  to.value = problem.View(gradients.value, s.key_value_heads, s.keys, s.value_dim);
  REQUIRE(poslab::AttentionBackward(arguments, forward, &to, &workspace).ok());
  return gradients;
}

}  // namespace

TEST_CASE("hidden keys that hold NaN leave every gradient as it is without them") {
  for (bool rotated : {false, true}) {
    for (bool banded : {false, true}) {
      Problem clean({2, 1, 70, 75, 8, 8}), poisoned({2, 1, 70, 75, 8, 8});
      std::vector<uint8_t> mask(75, 1);
      mask[0] = mask[30] = mask[74] = 0;
      for (Problem* problem : {&clean, &poisoned}) {
        problem->mask.causal = true;
        problem->SetKeyMask(mask);
        if (rotated) problem->AddRotation(Rotation::Layout::kHalf, 3, true);
        if (banded) problem->AddScoreBand(poslab::Band::Side::kKey, -3, 7, false, false);
      }
      for (size_t j : {size_t{0}, size_t{30}, size_t{74}})
        for (size_t d = 0; d < 8; ++d)
          poisoned.key[j * 8 + d] = NAN, poisoned.value[j * 8 + d] = d % 2 ? NAN : INFINITY;
      const Gradients expected = Backward(clean), got = Backward(poisoned);
      CHECK(got.query == expected.query);
      CHECK(got.key == expected.key);
      CHECK(got.value == expected.value);
      for (size_t d = 0; d < 8; ++d) CHECK(got.key[30 * 8 + d] == 0.0f);
      for (size_t d = 0; d < 8; ++d) CHECK(got.value[30 * 8 + d] == 0.0f);
    }
  }
}

TEST_CASE("queries that cannot see a poisoned future key keep their gradients") {
  Problem clean({1, 1, 70, 70, 8, 8}), poisoned({1, 1, 70, 70, 8, 8});
  clean.mask.causal = poisoned.mask.causal = true;
  constexpr size_t kFirst = 67;
  for (size_t n = kFirst * 8; n < 70 * 8; ++n) poisoned.key[n] = poisoned.value[n] = NAN;
  const Gradients expected = Backward(clean), got = Backward(poisoned);
  for (size_t n = 0; n < kFirst * 8; ++n) CHECK(got.query[n] == doctest::Approx(expected.query[n]).epsilon(1e-5));
}

TEST_CASE("rows that see nothing give zero gradients whatever they hold") {
  Problem problem({1, 1, 70, 5, 8, 8});
  problem.mask.causal = true;  // bottom-right: the first 65 queries see nothing
  Problem poisoned({1, 1, 70, 5, 8, 8});
  poisoned.mask.causal = true;
  for (size_t n = 0; n < 65 * 8; ++n) poisoned.query[n] = NAN;
  const Gradients expected = Backward(problem), got = Backward(poisoned);
  for (size_t n = 0; n < 65 * 8; ++n) CHECK(got.query[n] == 0.0f);
  CHECK(got.key == expected.key);
  CHECK(got.value == expected.value);

  Problem hidden({1, 1, 3, 5, 8, 8});
  hidden.SetKeyMask(std::vector<uint8_t>(5, 0));
  const Gradients none = Backward(hidden);
  for (const auto* all : {&none.query, &none.key, &none.value})
    for (float value : *all) CHECK(value == 0.0f);
}

TEST_CASE("empty sequences have empty gradients") {
  const Gradients no_keys = Backward(Problem({1, 1, 3, 0, 8, 8}));
  for (float value : no_keys.query) CHECK(value == 0.0f);
  const Gradients no_queries = Backward(Problem({1, 1, 0, 3, 8, 8}));
  for (float value : no_queries.key) CHECK(value == 0.0f);
}

TEST_CASE("gradients are added to what is there") {
  Problem problem({2, 1, 6, 6, 4, 4});
  const Gradients once = Backward(problem);
  const auto& s = problem.shape();
  const poslab::AttentionArguments arguments = problem.arguments();
  std::vector<float> output(48), ones(48, 1.0f), log_sum_exp(12);
  poslab::AttentionWorkspace workspace;
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output.data(), 2, 6, 4);
  results.log_sum_exp = log_sum_exp.data();
  REQUIRE(poslab::Attention(arguments, &results, &workspace).ok());
  Gradients twice{std::vector<float>(once.query.size()), std::vector<float>(once.key.size()),
                  std::vector<float>(once.value.size())};
  poslab::AttentionGradientArguments forward;
  forward.output = poslab::HeadsView<const float>::Packed(output.data(), 2, 6, 4);
  forward.output_gradient = poslab::HeadsView<const float>::Packed(ones.data(), 2, 6, 4);
  forward.log_sum_exp = log_sum_exp.data();
  poslab::AttentionGradients to;
  to.query = problem.View(twice.query, 2, 6, 4);
  to.key = problem.View(twice.key, 1, 6, 4);
  to.value = problem.View(twice.value, 1, 6, 4);
  for (int n = 0; n < 2; ++n) REQUIRE(poslab::AttentionBackward(arguments, forward, &to, &workspace).ok());
  for (size_t n = 0; n < once.query.size(); ++n)
    CHECK(twice.query[n] == doctest::Approx(2 * once.query[n]).epsilon(1e-5));
  for (size_t n = 0; n < once.key.size(); ++n) CHECK(twice.key[n] == doctest::Approx(2 * once.key[n]).epsilon(1e-5));
  for (size_t n = 0; n < once.value.size(); ++n)
    CHECK(twice.value[n] == doctest::Approx(2 * once.value[n]).epsilon(1e-5));
  CHECK(s.heads == 2);
}
