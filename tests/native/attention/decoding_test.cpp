// SPDX-License-Identifier: MIT
// Token by token: one query at a time against a growing number of keys gives what one pass over everything gives.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "attention_support.h"

using poslab::AttentionArguments;
using poslab::AttentionResults;
using poslab::Band;
using poslab::HeadsView;
using poslab::Rotation;
using poslab_test::Problem;

namespace {

constexpr int64_t kLength = 150, kHeads = 2, kDim = 8;

void CheckDecoding(const std::function<void(Problem*)>& add, double tolerance) {
  Problem problem({kHeads, 1, kLength, kLength, kDim, kDim});
  problem.mask.causal = true;
  add(&problem);
  const AttentionArguments all = problem.arguments();
  std::vector<float> output(kHeads * kLength * kDim), one(kHeads * kDim), gates;
  poslab::AttentionWorkspace workspace;
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), kHeads, kLength, kDim);
  REQUIRE(poslab::Attention(all, &results, &workspace).ok());

  double largest = 0;
  for (int64_t n = 0; n < kLength; ++n) {
    AttentionArguments step = all;
    step.query.length = 1;
    step.query.data = all.query.row(0, n);
    step.key.length = step.value.length = n + 1;
    step.query_positions = {n, 1, nullptr};
    step.key_positions.count = n + 1;
    if (all.gates) {  // [heads, keys] of this call
      gates.clear();
      for (int64_t h = 0; h < kHeads; ++h)
        gates.insert(gates.end(), all.gates + h * kLength, all.gates + h * kLength + n + 1);
      step.gates = gates.data();
    }
    if (problem.hooks.rotation) problem.hooks.rotation->query_row_in_key = n;
    results.output = HeadsView<float>::Packed(one.data(), kHeads, 1, kDim);
    REQUIRE(poslab::Attention(step, &results, &workspace).ok());
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t d = 0; d < kDim; ++d)
        largest = std::max(largest, std::fabs(static_cast<double>(one[static_cast<size_t>(h * kDim + d)]) -
                                              output[static_cast<size_t>((h * kLength + n) * kDim + d)]));
  }
  CHECK(largest <= tolerance);
}

// The scores of both ways are the same sums in the same order; the tiles of keys too. What is left is nothing, but for
// the end rows of bands, which are added once a block, and the weights that tiles on the diagonal leave out as zeros.
constexpr double kSame = 0;
// Sums of 150 weights in another order: 2 * 150 roundings of at most 2^-24 each of outputs up to 2.
constexpr double kOtherOrder = 4 * 150.0 / (1 << 24);

}  // namespace

namespace {

// The last of two queries alone, against the two.
void CheckAlone(int64_t heads, int64_t key_value_heads, int64_t keys, int64_t dim, int64_t window) {
  CAPTURE(heads);
  CAPTURE(keys);
  CAPTURE(dim);
  CAPTURE(window);
  const int64_t value_dim = dim + 1;
  Problem problem({heads, key_value_heads, 2, keys, dim, value_dim});
  if (window > 0) problem.mask = {.causal = true, .window = window};
  const AttentionArguments both = problem.arguments();
  std::vector<float> output(static_cast<size_t>(heads * 2 * value_dim)), one(static_cast<size_t>(heads * value_dim));
  poslab::AttentionWorkspace workspace;
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), heads, 2, value_dim);
  REQUIRE(poslab::Attention(both, &results, &workspace).ok());
  AttentionArguments last = both;
  last.query.length = 1;
  last.query.data = both.query.row(0, 1);
  last.query_positions = {keys - 1, 1, nullptr};
  results.output = HeadsView<float>::Packed(one.data(), heads, 1, value_dim);
  REQUIRE(poslab::Attention(last, &results, &workspace).ok());
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t d = 0; d < value_dim; ++d)
      REQUIRE(one[static_cast<size_t>(h * value_dim + d)] == output[static_cast<size_t>((h * 2 + 1) * value_dim + d)]);
}

}  // namespace

// The kernels for one query against those for many, over widths and numbers of keys around their steps.
TEST_CASE("one query alone gives the bits of the same query among others, whatever the widths") {
  for (int64_t dim : {1, 3, 4, 7, 31, 32, 33, 64, 100})
    for (int64_t keys : {1, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130})
      for (int64_t window : {int64_t{0}, keys / 2}) CheckAlone(kHeads, 1, keys, dim, window);
}

TEST_CASE("one query alone gives the bits of the same query among others, however many heads are taken together") {
  for (const auto& [heads, key_value_heads] : {std::pair{1, 1}, {6, 6}, {6, 2}, {32, 4}, {33, 11}, {40, 40}})
    for (int64_t keys : {5, 64, 130}) CheckAlone(heads, key_value_heads, keys, 20, 0);
}

TEST_CASE("token by token equals one pass, plain and with a window") {
  CheckDecoding([](Problem*) {}, kSame);
  CheckDecoding([](Problem* problem) { problem->mask.window = 70; }, kOtherOrder);
}

TEST_CASE("token by token equals one pass under rotations") {
  CheckDecoding([](Problem* problem) { problem->AddRotation(Rotation::Layout::kHalf, 4, true); }, kSame);
}

TEST_CASE("token by token equals one pass under slices") {
  CheckDecoding([](Problem* problem) { problem->hooks.slice = std::make_unique<poslab_test::LogSlice>(problem); },
                kSame);
  CheckDecoding([](Problem* problem) { problem->hooks.slice = std::make_unique<poslab_test::TableSlice>(problem, 9); },
                kSame);
  CheckDecoding(
      [](Problem* problem) {
        problem->hooks.slice = std::make_unique<poslab_test::SlopeSlice>(problem, std::vector<float>{0.5f, 0.1f});
      },
      kSame);
}

TEST_CASE("token by token equals one pass under bands") {
  CheckDecoding([](Problem* problem) { problem->AddScoreBand(Band::Side::kQuery, -149, 150, true, true); }, kSame);
  CheckDecoding([](Problem* problem) { problem->AddScoreBand(Band::Side::kKey, -20, 30, false, false); }, kOtherOrder);
  CheckDecoding(
      [](Problem* problem) {
        problem->AddScoreBand(Band::Side::kQuery, -16, 33, false, false);
        problem->AddValueBand(-16, 33, false);
      },
      kOtherOrder);
}

TEST_CASE("token by token equals one pass under tile hooks with a state") {
  CheckDecoding(
      [](Problem* problem) {
        problem->SetGates();
        problem->hooks.tile = std::make_unique<poslab_test::ForgettingHook>(problem);
      },
      kOtherOrder);
  CheckDecoding(
      [](Problem* problem) {
        problem->hooks.tile = std::make_unique<poslab_test::RunningHook>(problem);
        problem->mask.window = 40;
      },
      kOtherOrder);
}
