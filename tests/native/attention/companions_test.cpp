// SPDX-License-Identifier: MIT
// What goes with hooks: sinks, temperatures, and bands that meet both sides.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "attention_support.h"

using poslab::Mask;
using poslab::Rotation;
using poslab_test::CheckBackward;
using poslab_test::CheckForward;
using poslab_test::Problem;

TEST_CASE("a sink takes weight and gives no value, rows that see no key included") {
  for (int64_t queries : {1, 7, 70}) {
    for (const bool causal : {false, true}) {
      CAPTURE(queries);
      Problem problem({3, 1, queries, 66, 6, 5});
      problem.mask.causal = causal;
      problem.SetSinks();
      CheckForward(problem);
      CheckBackward(problem, 8);
    }
  }
  Problem hidden({2, 2, 3, 3, 4, 4});
  hidden.SetKeyMask({0, 0, 0});
  hidden.SetSinks();
  CheckForward(hidden);
  CheckBackward(hidden, 4);
  Problem nothing({2, 1, 3, 0, 4, 4});
  nothing.SetSinks();
  CheckForward(nothing);
}

TEST_CASE("a sink of zero is softmax with one more in the denominator") {
  Problem problem({1, 1, 1, 2, 4, 4});
  problem.SetSinks();
  problem.sinks[0] = 0;
  std::vector<float> output(4), weights(2), scores(2);
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output.data(), 1, 1, 4);
  results.weights = weights.data(), results.scores = scores.data();
  poslab::AttentionWorkspace workspace;
  REQUIRE(poslab::Attention(problem.arguments(), &results, &workspace).ok());
  const double first = std::exp(static_cast<double>(scores[0])), second = std::exp(static_cast<double>(scores[1]));
  CHECK(weights[0] == doctest::Approx(first / (1 + first + second)));
  CHECK(weights[1] == doctest::Approx(second / (1 + first + second)));
  problem.sinks[0] = -INFINITY;
  REQUIRE(poslab::Attention(problem.arguments(), &results, &workspace).ok());
  CHECK(weights[0] + weights[1] == doctest::Approx(1));
  problem.sinks[0] = std::nanf("");
  CHECK(poslab::Attention(problem.arguments(), &results, &workspace).argument() == "sinks");
}

TEST_CASE("temperatures multiply the turned queries, by query and by head") {
  for (const bool by_head : {false, true}) {
    CAPTURE(by_head);
    Problem problem({2, 1, 20, 70, 6, 5});
    problem.mask.causal = true;
    problem.AddRotation(Rotation::Layout::kInterleaved, 2, false);
    problem.AddScoreBand(poslab::Band::Side::kQuery, -4, 9, false, false);
    problem.AddTemperature(by_head);
    CheckForward(problem);
    CheckBackward(problem, 8);
  }
}

TEST_CASE("bands can meet queries and keys at once") {
  for (const bool contiguous : {true, false}) {
    CAPTURE(contiguous);
    Problem problem({2, 1, 6, 70, 4, 4});
    problem.mask.causal = true;
    if (!contiguous) {
      std::vector<int64_t> keys(70);
      for (int64_t n = 0; n < 70; ++n) keys[static_cast<size_t>(n)] = n * n % 90;
      problem.SetPositions({3, 80, 7, 60, 61, 62}, keys);
    }
    problem.AddScoreBand(poslab::Band::Side::kQuery, -5, 8, true, false);
    problem.AddKeyBand(-3, 7);
    CheckForward(problem);
    CheckBackward(problem, 8);
  }
}
