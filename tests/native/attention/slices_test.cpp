// SPDX-License-Identifier: MIT
// The slice hook: biases by distance with contiguous, given and far-apart positions, and their gradients.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "attention_support.h"

using poslab::Mask;
using poslab_test::CheckBackward;
using poslab_test::CheckForward;
using poslab_test::LogSlice;
using poslab_test::Problem;
using poslab_test::SlopeSlice;
using poslab_test::TableSlice;
using poslab_test::Values;

namespace {

// Positions of three kinds: restarting as in packed sequences, sorted with small gaps, and far apart.
std::vector<int64_t> Packed(int64_t count) {
  std::vector<int64_t> ids;
  for (int64_t n = 0; n < count; ++n) ids.push_back(n % 23);
  return ids;
}
std::vector<int64_t> Spread(int64_t count, uint32_t step) {
  std::vector<int64_t> ids;
  Values values(3);
  int64_t at = 5;
  for (int64_t n = 0; n < count; ++n) ids.push_back(at += 1 + values.Below(step));
  return ids;
}

}  // namespace

TEST_CASE("slices agree with the reference for contiguous positions, any lengths and masks") {
  for (int64_t queries : {1, 5, 64, 70}) {
    for (int64_t keys : {1, 3, 64, 131}) {
      for (int kind = 0; kind < 6; ++kind) {
        CAPTURE(kind);
        Problem problem({2, 1, queries, keys, 8, 8});
        problem.mask.causal = kind % 2 == 1;
        if (kind == 3) problem.mask.window = 5;
        if (kind == 5) problem.mask.alignment = Mask::Alignment::kTopLeft;
        if (kind < 2)
          problem.hooks.slice = std::make_unique<TableSlice>(&problem, kind == 0 ? 3 : 500);
        else if (kind < 4)
          problem.hooks.slice = std::make_unique<LogSlice>(&problem);
        else
          problem.hooks.slice = std::make_unique<SlopeSlice>(&problem, std::vector<float>{0.25f, 0.0625f});
        CheckForward(problem);
      }
    }
  }
}

TEST_CASE("slices agree with the reference for given positions") {
  for (int kind = 0; kind < 3; ++kind) {
    for (int ids = 0; ids < 3; ++ids) {
      CAPTURE(kind);
      CAPTURE(ids);
      Problem problem({2, 2, 70, 75, 8, 8});
      problem.mask.causal = ids != 1;
      problem.SetPositions(ids == 0 ? Packed(70) : Spread(70, ids == 1 ? 4 : 100000),
                           ids == 0 ? Packed(75) : Spread(75, ids == 1 ? 4 : 100000));
      if (kind == 0) problem.hooks.slice = std::make_unique<TableSlice>(&problem, 12);
      if (kind == 1) problem.hooks.slice = std::make_unique<LogSlice>(&problem);
      if (kind == 2) problem.hooks.slice = std::make_unique<SlopeSlice>(&problem, std::vector<float>{0.25f, 0.0625f});
      if (kind == 2 && ids == 2) problem.bias_magnitude += 0.25 * 75 * 100000;
      CheckForward(problem);
      if (kind < 2) CheckBackward(problem, 6);
    }
  }
}

TEST_CASE("slices learn from sums along diagonals") {
  for (bool causal : {false, true}) {
    Problem table({2, 1, 70, 81, 4, 4});
    table.mask.causal = causal;
    table.hooks.slice = std::make_unique<TableSlice>(&table, 6);
    CheckBackward(table, 26);
    Problem log({3, 3, 9, 12, 4, 4});
    log.mask.causal = causal;
    log.hooks.slice = std::make_unique<LogSlice>(&log);
    CheckBackward(log);
    Problem windowed({1, 1, 80, 70, 4, 4});
    windowed.mask.causal = true;
    windowed.mask.window = 5;
    windowed.hooks.slice = std::make_unique<TableSlice>(&windowed, 90);
    CheckBackward(windowed, 40);
  }
}

TEST_CASE("a slope of 0.5 at a distance of 200,000 next to hidden keys gives no NaN and no infinity") {
  Problem problem({1, 1, 2, 70, 8, 8});
  std::vector<int64_t> keys(70);
  for (size_t n = 0; n < keys.size(); ++n) keys[n] = static_cast<int64_t>(n);
  problem.SetPositions({200'000, 200'001}, keys);
  std::vector<uint8_t> mask(70, 1);
  for (size_t n = 0; n < 60; ++n) mask[n] = 0;
  problem.SetKeyMask(mask);
  problem.hooks.slice = std::make_unique<SlopeSlice>(&problem, std::vector<float>{0.5f});
  problem.bias_magnitude = 0.5 * 200'001;
  CheckForward(problem);
}

TEST_CASE("a slice of minus infinity hides like a mask, and a bias of -1e9 does not overflow") {
  struct Cut final : poslab::Slice {
    float beyond;
    explicit Cut(float value) : beyond(value) {}
    void Evaluate(int64_t, int64_t first, int64_t count, float* bias) const override {
      for (int64_t n = 0; n < count; ++n) bias[n] = first + n > 0 ? beyond : 0.0f;
    }
  };
  for (float value : {-INFINITY, -1e9f, -3e38f}) {
    Problem cut({1, 1, 70, 70, 8, 8}), causal({1, 1, 70, 70, 8, 8});
    cut.hooks.slice = std::make_unique<Cut>(value);
    causal.mask.causal = true;
    std::vector<float> a(560), b(560);
    poslab::AttentionWorkspace workspace;
    poslab::AttentionResults results;
    results.output = poslab::HeadsView<float>::Packed(a.data(), 1, 70, 8);
    REQUIRE(poslab::Attention(cut.arguments(), &results, &workspace).ok());
    results.output = poslab::HeadsView<float>::Packed(b.data(), 1, 70, 8);
    REQUIRE(poslab::Attention(causal.arguments(), &results, &workspace).ok());
    // The same weights, summed in another order: 70 roundings of values up to 1.
    for (size_t n = 0; n < a.size(); ++n) CHECK(std::fabs(a[n] - b[n]) <= 70 * std::ldexp(1.0, -24));
  }
}

TEST_CASE("positions far apart need no memory for the gap") {
  Problem problem({1, 1, 40, 40, 8, 8});
  std::vector<int64_t> ids(40);
  for (size_t n = 0; n < ids.size(); ++n) ids[n] = static_cast<int64_t>(n) * 1'000'000'000'000;
  problem.SetPositions(ids, ids);
  problem.hooks.slice = std::make_unique<LogSlice>(&problem);
  std::vector<float> output(320);
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output.data(), 1, 40, 8);
  poslab::AttentionWorkspace workspace;
  REQUIRE(poslab::Attention(problem.arguments(), &results, &workspace).ok());
  CHECK(workspace.bytes() < 100'000);
  CheckForward(problem);
}
