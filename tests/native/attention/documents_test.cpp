// SPDX-License-Identifier: MIT
// Documents packed into one row: each is computed as if it stood alone.
#include <doctest/doctest.h>

#include <vector>

#include "attention_support.h"
#include "base/status.h"

namespace {

using poslab::AttentionArguments;
using poslab::AttentionResults;
using poslab::AttentionWorkspace;
using poslab::Code;
using poslab::HeadsView;
using poslab::Mask;
using poslab_test::Problem;

// Numbers of documents of these lengths, with gaps between the numbers.
std::vector<int64_t> Documents(std::initializer_list<int64_t> lengths) {
  std::vector<int64_t> documents;
  int64_t number = -3;
  for (int64_t length : lengths) documents.insert(documents.end(), static_cast<size_t>(length), number += 2);
  return documents;
}

TEST_CASE("packed documents agree with the reference, whatever the lengths and masks") {
  for (const std::vector<int64_t>& documents : {Documents({130}), Documents({1, 1, 1}), Documents({64, 64}),
                                                Documents({63, 1, 66, 5}), Documents({3, 100, 27})}) {
    const auto keys = static_cast<int64_t>(documents.size());
    for (int64_t queries : {int64_t{1}, keys / 2, keys, keys + 7}) {
      for (bool causal : {false, true}) {
        for (Mask::Alignment alignment : {Mask::Alignment::kBottomRight, Mask::Alignment::kTopLeft}) {
          CAPTURE(causal);
          Problem problem({2, 1, queries, keys, 8, 8});
          problem.mask.causal = causal;
          problem.mask.alignment = alignment;
          if (causal && queries % 2) problem.mask.window = 20;
          problem.mask.documents = documents.data();
          CheckForward(problem);
        }
      }
    }
  }
}

TEST_CASE("gradients of packed documents agree with finite differences") {
  const std::vector<int64_t> documents = Documents({5, 70, 1, 30});
  for (bool causal : {false, true}) {
    Problem problem({2, 2, 106, 106, 8, 8});
    problem.mask.causal = causal;
    problem.mask.documents = documents.data();
    problem.AddScoreBand(poslab::Band::Side::kQuery, -4, 9, false, true);
    CheckBackward(problem);
  }
}

TEST_CASE("the first queries of every packed document see nothing where the last keys are left out") {
  const std::vector<int64_t> documents = Documents({3, 70, 1, 12, 30, 40});
  const auto keys = static_cast<int64_t>(documents.size());
  for (int64_t beyond : {1, 5, 17, 64}) {
    for (int64_t queries : {keys, int64_t{20}, keys + 7}) {
      for (Mask::Alignment alignment : {Mask::Alignment::kBottomRight, Mask::Alignment::kTopLeft}) {
        CAPTURE(beyond);
        Problem problem({2, 1, queries, keys, 6, 5});
        problem.mask.causal = true;
        problem.mask.alignment = alignment;
        problem.mask.beyond = beyond;
        if (beyond == 5) problem.mask.window = 30;
        problem.mask.documents = documents.data();
        if (beyond == 17) problem.AddScoreBand(poslab::Band::Side::kKey, -4, 9, false, false);
        if (beyond == 17) problem.AddValueBand(-30, 20, true);
        CheckForward(problem);
        if (queries == keys) CheckBackward(problem, 8);
      }
    }
  }
}

TEST_CASE("a packed document gives what it gives alone") {
  const std::vector<int64_t> documents = Documents({20, 70, 10});
  Problem problem({2, 2, 100, 100, 8, 8});
  problem.mask.causal = true;
  problem.mask.documents = documents.data();
  std::vector<float> packed(2 * 100 * 8), alone(2 * 70 * 8);
  AttentionWorkspace workspace;
  AttentionResults results;
  results.output = HeadsView<float>::Packed(packed.data(), 2, 100, 8);
  REQUIRE(poslab::Attention(problem.arguments(), &results, &workspace).ok());
  AttentionArguments second = problem.arguments();
  second.mask.documents = nullptr;
  for (HeadsView<const float>* view : {&second.query, &second.key, &second.value}) {
    view->data = view->row(0, 20);
    view->length = 70;
  }
  second.query_positions = second.key_positions = {0, 70, nullptr};
  results.output = HeadsView<float>::Packed(alone.data(), 2, 70, 8);
  REQUIRE(poslab::Attention(second, &results, &workspace).ok());
  for (size_t head = 0; head < 2; ++head)
    for (size_t n = 0; n < 70 * 8; ++n)
      CHECK(packed[head * 800 + 160 + n] == doctest::Approx(alone[head * 560 + n]).epsilon(1e-5));
}

TEST_CASE("documents out of order are refused") {
  const std::vector<int64_t> documents = {0, 0, 2, 1};
  Problem problem({1, 1, 4, 4, 8, 8});
  problem.mask.documents = documents.data();
  std::vector<float> output(32);
  AttentionWorkspace workspace;
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), 1, 4, 8);
  const poslab::Status status = poslab::Attention(problem.arguments(), &results, &workspace);
  CHECK(status.code() == Code::kRange);
  CHECK(status.argument() == "mask.documents");
  CHECK(status.given_number() == 1);
}

}  // namespace
