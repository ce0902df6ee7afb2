// SPDX-License-Identifier: MIT
// Cross-entropy and its gradient against double, scores, and rows that are not scored.
#include "model/cross_entropy.h"

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/exponential.h"
#include "model/random_rows.h"

using namespace poslab;
using poslab_test::RandomIds;
using poslab_test::RandomRows;

namespace {

double ReferenceLoss(int64_t vocabulary, const float* row, int32_t target) {
  double largest = row[0], sum = 0;
  for (int64_t v = 1; v < vocabulary; ++v) largest = std::max(largest, static_cast<double>(row[v]));
  for (int64_t v = 0; v < vocabulary; ++v) sum += std::exp(row[v] - largest);
  return std::log(sum) + largest - row[target];
}

}  // namespace

TEST_CASE("Loss, gradient and scores agree with double for every vocabulary and tail") {
  for (int64_t vocabulary : {1, 2, 3, 4, 5, 6, 7, 8, 11, 80, 83, 5000}) {
    const int64_t rows = 6;
    std::vector<float> logits = RandomRows(rows * vocabulary, 1, 4);
    std::vector<int32_t> targets = RandomIds(rows, static_cast<int32_t>(vocabulary), 2);
    targets[2] = -1;
    double expected = 0;
    for (int64_t r = 0; r < rows; ++r)
      if (targets[r] >= 0) expected += ReferenceLoss(vocabulary, logits.data() + r * vocabulary, targets[r]);
    const std::vector<float> before = logits;
    // log of a sum whose relative error is the exponential's (with the difference x - largest, below 40, rounded once)
    // and vocabulary / 4 additions'.
    const double relative = kExpRelativeError + (40 + static_cast<double>(vocabulary) / 4) * 0x1p-24;
    const double tolerance = relative * static_cast<double>(rows);
    CHECK(std::abs(CrossEntropy(rows, vocabulary, targets.data(), 1, false, logits.data()) - expected) <= tolerance);
    CHECK(logits == before);

    std::vector<float> losses(rows);
    std::vector<uint8_t> correct(rows);
    ScoreRows(rows, vocabulary, targets.data(), logits.data(), losses.data(), correct.data());
    const double scale = 0.2;
    const double loss = CrossEntropy(rows, vocabulary, targets.data(), scale, true, logits.data());
    CHECK(std::abs(loss - expected) <= tolerance);
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = before.data() + r * vocabulary;
      if (targets[r] < 0) {
        CHECK(std::isnan(losses[r]));
        CHECK(correct[r] == 0);
        for (int64_t v = 0; v < vocabulary; ++v) REQUIRE(logits[r * vocabulary + v] == 0.0f);
        continue;
      }
      CHECK(losses[r] == doctest::Approx(ReferenceLoss(vocabulary, row, targets[r])).epsilon(relative + 1e-7));
      bool largest = true;
      for (int64_t v = 0; v < vocabulary; ++v) largest = largest && row[v] <= row[targets[r]];
      CHECK(correct[r] == largest);
      for (int64_t v = 0; v < vocabulary; ++v) {
        const double p = std::exp(-ReferenceLoss(vocabulary, row, static_cast<int32_t>(v)));
        const double wanted = scale * (p - (v == targets[r]));
        REQUIRE(std::abs(logits[r * vocabulary + v] - wanted) <= scale * (relative * p + 4 * 0x1p-24));
      }
    }
  }
}

TEST_CASE("Logits far from zero neither overflow nor vanish") {
  std::vector<float> logits = {1e4f, 1e4f, -1e4f, -1e4f, -1e4f};
  const int32_t target = 0;
  CHECK(CrossEntropy(1, 5, &target, 1, false, logits.data()) == doctest::Approx(std::log(2.0)));
  const int32_t unlikely = 4;
  CHECK(CrossEntropy(1, 5, &unlikely, 1, true, logits.data()) == doctest::Approx(2e4 + std::log(2.0)));
  CHECK(logits[4] == -1.0f);
}

TEST_CASE("A vocabulary of one is always right and costs nothing") {
  std::vector<float> logits = {3.5f};
  const int32_t target = 0;
  float loss = 1;
  uint8_t correct = 0;
  ScoreRows(1, 1, &target, logits.data(), &loss, &correct);
  CHECK(loss == 0.0f);
  CHECK(correct == 1);
  CHECK(CrossEntropy(1, 1, &target, 1, true, logits.data()) == 0.0);
  CHECK(logits[0] == 0.0f);
}

TEST_CASE("Not-a-number anywhere in a scored row is seen in the loss") {
  for (int64_t place : {0, 1, 3, 4, 6}) {
    std::vector<float> logits = RandomRows(7, 3);
    logits[place] = NAN;
    const int32_t target = 2;
    CHECK(std::isnan(CrossEntropy(1, 7, &target, 1, false, logits.data())));
  }
}
