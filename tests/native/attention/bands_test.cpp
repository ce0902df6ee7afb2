// SPDX-License-Identifier: MIT
// The band hook: relative vectors that meet queries, keys or weights, clipped or not, against the reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "attention_support.h"

using poslab::Band;
using poslab::Mask;
using poslab::Rotation;
using poslab_test::CheckBackward;
using poslab_test::CheckForward;
using poslab_test::Problem;
using poslab_test::Values;

namespace {

// Every form of band, by number.
constexpr int kForms = 6;
void AddForm(int form, int64_t queries, int64_t keys, Problem* problem) {
  switch (form) {
    case 0:
      problem->AddScoreBand(Band::Side::kQuery, -3, 7, false, false);
      break;
    case 1:
      problem->AddScoreBand(Band::Side::kQuery, -(queries - 1) - 2, queries + keys + 3, true, true);
      break;
    case 2:
      problem->AddScoreBand(Band::Side::kKey, -5, 9, true, false);
      break;
    case 3:
      problem->AddValueBand(-4, 9, false);
      break;
    case 4:
      problem->AddScoreBand(Band::Side::kQuery, -16, 33, true, false);
      problem->AddValueBand(-16, 33, true);
      break;
    case 5:
      problem->AddScoreBand(Band::Side::kQuery, 0, 1, false, true);  // one row for every distance
      problem->AddValueBand(-1000, 3, false);                        // beyond every distance
      problem->AddQueryBias();
      break;
  }
}

}  // namespace

TEST_CASE("bands agree with the reference for lengths around the tile and every mask") {
  for (int form = 0; form < kForms; ++form) {
    for (int64_t queries : {1, 3, 13, 64, 70, 130}) {
      for (int64_t keys : {1, 7, 66, 130}) {
        for (int masked = 0; masked < 4; ++masked) {
          if (queries == 130 && keys == 130 && masked > 1) continue;
          CAPTURE(form);
          CAPTURE(masked);
          Problem problem({2, 1, queries, keys, 8, 12});
          problem.mask.causal = masked > 0;
          if (masked == 2) problem.mask.window = 10;
          if (masked == 3) problem.mask.alignment = Mask::Alignment::kTopLeft;
          AddForm(form, queries, keys, &problem);
          CheckForward(problem);
        }
      }
    }
  }
}

TEST_CASE("bands agree with the reference for odd widths and interleaved tensors") {
  for (int form = 0; form < kForms; ++form) {
    for (int64_t dim : {1, 3, 16, 20}) {
      CAPTURE(form);
      Problem problem({2, 2, 20, 70, dim, dim + 1});
      problem.mask.causal = true;
      AddForm(form, 20, 70, &problem);
      problem.Interleave(1, 1);
      CheckForward(problem);
    }
  }
}

TEST_CASE("bands agree with the reference for given positions") {
  for (int form = 0; form < kForms; ++form) {
    for (int ids = 0; ids < 2; ++ids) {
      CAPTURE(form);
      CAPTURE(ids);
      Problem problem({2, 1, 70, 75, 8, 8});
      problem.mask.causal = true;
      std::vector<int64_t> queries, keys;
      Values values(3);
      for (int64_t n = 0; n < 75; ++n)
        keys.push_back(ids == 0 ? n % 30 : (keys.empty() ? 0 : keys.back()) + values.Below(3));
      for (int64_t n = 0; n < 70; ++n) queries.push_back(keys[static_cast<size_t>(n + 5)]);
      problem.SetPositions(queries, keys);
      AddForm(form, 70, 75, &problem);
      CheckForward(problem);
      CheckBackward(problem, 8);
    }
  }
}

TEST_CASE("positions that restart within a call keep the bands' gradients right tile by tile") {
  // 64 contiguous ids, then a jump: regular and irregular tiles in one call.
  for (int form = 0; form < kForms; ++form) {
    CAPTURE(form);
    Problem problem({1, 1, 100, 100, 4, 4});
    std::vector<int64_t> ids;
    for (int64_t n = 0; n < 100; ++n) ids.push_back(n < 70 ? n : n - 70);
    problem.SetPositions(ids, ids);
    AddForm(form, 100, 100, &problem);
    CheckForward(problem);
    CheckBackward(problem, 6);
  }
}

TEST_CASE("bands learn: tables, biases and what they meet") {
  for (int form = 0; form < kForms; ++form) {
    for (bool causal : {false, true}) {
      for (int64_t queries : {5, 70}) {
        CAPTURE(form);
        CAPTURE(causal);
        Problem problem({2, 1, queries, 75, 4, 5});
        problem.mask.causal = causal;
        AddForm(form, queries, 75, &problem);
        CheckBackward(problem, 16);
      }
    }
  }
}

TEST_CASE("bands, rotation, slices and biases work together") {
  for (Band::Side side : {Band::Side::kQuery, Band::Side::kKey}) {
    Problem problem({4, 2, 67, 70, 8, 8});
    problem.mask.causal = true;
    problem.AddRotation(Rotation::Layout::kInterleaved, 3, true);
    problem.AddScoreBand(side, -6, 10, true, side == Band::Side::kQuery);
    problem.AddValueBand(-5, 9, false);
    problem.AddQueryBias();
    problem.hooks.slice = std::make_unique<poslab_test::TableSlice>(&problem, 10);
    CheckForward(problem);
    CheckBackward(problem, 8);
  }
}

TEST_CASE("the shift of Transformer-XL puts distance scores where a direct loop puts them") {
  // One dimension and keys of zero: a score is the relative vector of its distance. Row i of distance scores
  // [1, 2, 3] + 3 i for distances Lk - 1 down to 0 becomes, under the mask, [3], [5, 6], [7, 8, 9].
  Problem problem({1, 1, 3, 3, 1, 1});
  std::fill(problem.query.begin(), problem.query.end(), 1.0f);
  std::fill(problem.key.begin(), problem.key.end(), 0.0f);
  problem.scale = 1.0f;
  problem.mask.causal = true;
  problem.AddScoreBand(Band::Side::kQuery, -2, 3, false, false);
  std::vector<float> output(3), scores(9);
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output.data(), 1, 3, 1);
  results.scores = scores.data();
  poslab::AttentionWorkspace workspace;
  const float expected[3][3] = {{3, -INFINITY, -INFINITY}, {5, 6, -INFINITY}, {7, 8, 9}};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t r = 0; r < 3; ++r) problem.score_table[r] = static_cast<float>(3 * i + r + 1);
    REQUIRE(poslab::Attention(problem.arguments(), &results, &workspace).ok());
    for (size_t j = 0; j < 3; ++j) CHECK(scores[3 * i + j] == expected[i][j]);
  }
  // Lq != Lk and no mask: distances Lk - 1 to -(Lq - 1), each its own row.
  for (int64_t queries : {2, 5, 70}) {
    for (int64_t keys : {3, 65, 130}) {
      Problem wide({1, 1, queries, keys, 1, 1});
      std::fill(wide.query.begin(), wide.query.end(), 1.0f);
      std::fill(wide.key.begin(), wide.key.end(), 0.0f);
      wide.scale = 1.0f;
      const int64_t first = -(keys - 1);
      wide.AddScoreBand(Band::Side::kQuery, first, queries + keys - 1, false, false);
      for (size_t r = 0; r < wide.score_table.size(); ++r) wide.score_table[r] = static_cast<float>(r);
      std::vector<float> out(static_cast<size_t>(queries)), all(static_cast<size_t>(queries * keys));
      results.output = poslab::HeadsView<float>::Packed(out.data(), 1, queries, 1);
      results.scores = all.data();
      REQUIRE(poslab::Attention(wide.arguments(), &results, &workspace).ok());
      for (int64_t i = 0; i < queries; ++i)
        for (int64_t j = 0; j < keys; ++j)
          CHECK(all[static_cast<size_t>(i * keys + j)] == static_cast<float>(j - (i + keys - queries) - first));
    }
  }
}
