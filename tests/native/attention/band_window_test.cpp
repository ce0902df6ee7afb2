// SPDX-License-Identifier: MIT
// Bands whose rows are made as they are needed: the bits of a table, for windows that hold everything and for such that
// move on, and no more rows at a time than are met.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "attention_support.h"

using poslab::AttentionResults;
using poslab::Band;
using poslab::HeadsView;
using poslab::Status;
using poslab_test::Problem;
using poslab_test::Values;

namespace {

struct Made {
  int64_t rows = 0;  // of all heads
  int64_t most = 0;  // by one call
};

// Rows out of a table [heads, rows, width]; the parameter "table" gets its gradient.
class CopiedRows final : public poslab::BandRows {
 public:
  CopiedRows(const Band& band, Made* made) : rows_(band.rows), width_(band.width), table_(band.table), made_(made) {}
  Status Fill(int64_t head, int64_t heads, int64_t first, int64_t count, float* rows) const override {
    made_->rows += heads * count;
    made_->most = std::max(made_->most, heads * count);
    for (int64_t h = 0; h < heads; ++h)
      std::copy_n(table_ + ((head + h) * rows_ + first) * width_, count * width_, rows + h * count * width_);
    return Status::Ok();
  }
  Status Pull(int64_t head, int64_t heads, int64_t first, int64_t count, const float* row_gradients,
              poslab::ParameterGradients gradients) const override {
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t n = 0; n < count * width_; ++n)
        gradients[0].data[((head + h) * rows_ + first) * width_ + n] += row_gradients[h * count * width_ + n];
    return Status::Ok();
  }

 private:
  int64_t rows_, width_;
  const float* table_;
  Made* made_;
};

// Everything that a forward and a backward pass give, one after the other.
struct Passes {
  std::vector<float> numbers;
  int64_t bytes = 0;
};

Passes Run(const Problem& problem, bool backward) {
  const auto& s = problem.shape();
  const auto arguments = problem.arguments();
  std::vector<float> output(static_cast<size_t>(s.heads * s.queries * s.value_dim)),
      log_sum_exp(static_cast<size_t>(s.heads * s.queries));
  poslab::AttentionWorkspace workspace;
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), s.heads, s.queries, s.value_dim);
  results.log_sum_exp = log_sum_exp.data();
  REQUIRE(poslab::Attention(arguments, &results, &workspace).ok());
  Passes passes;
  const auto keep = [&](const auto& values) {
    passes.numbers.insert(passes.numbers.end(), values.begin(), values.end());
  };
  keep(output);
  keep(log_sum_exp);
  passes.bytes = workspace.bytes();
  if (!backward) return passes;

  const std::vector<float> output_gradient = Values(31).Fill(s.heads * s.queries * s.value_dim);
  std::vector<float> query(problem.query.size()), key(problem.key.size()), value(problem.value.size()),
      table(problem.score_table.size());
  const poslab::TensorView<float> parameter{"table", table.data(), {static_cast<int64_t>(table.size())}};
  poslab::HookGradients hooks;
  hooks.parameters = {&parameter, 1};
  poslab::AttentionGradientArguments forward;
  forward.output = HeadsView<const float>::Packed(output.data(), s.heads, s.queries, s.value_dim);
  forward.log_sum_exp = log_sum_exp.data();
  forward.output_gradient = HeadsView<const float>::Packed(output_gradient.data(), s.heads, s.queries, s.value_dim);
  poslab::AttentionGradients gradients;
  gradients.query = HeadsView<float>::Packed(query.data(), s.heads, s.queries, s.dim);
  gradients.key = HeadsView<float>::Packed(key.data(), s.key_value_heads, s.keys, s.dim);
  gradients.value = HeadsView<float>::Packed(value.data(), s.key_value_heads, s.keys, s.value_dim);
  gradients.hooks = &hooks;
  REQUIRE(poslab::AttentionBackward(arguments, forward, &gradients, &workspace).ok());
  passes.bytes = workspace.bytes();
  for (const auto* all : {&query, &key, &value}) keep(*all);
  keep(problem.hooks.score_band->table
           ? std::vector<float>(hooks.score_band_table.begin(), hooks.score_band_table.end())
           : table);
  keep(hooks.score_band_bias);
  return passes;
}

// The same passes with the table and with rows made as needed.
void CheckSame(Problem& problem, bool backward, Made* made, int64_t* bytes = nullptr) {
  const Passes expected = Run(problem, backward);
  Band& band = *problem.hooks.score_band;
  band.made = std::make_unique<CopiedRows>(band, made);
  band.table = nullptr;
  const Passes passes = Run(problem, backward);
  REQUIRE(passes.numbers.size() == expected.numbers.size());
  const auto different = std::mismatch(passes.numbers.begin(), passes.numbers.end(), expected.numbers.begin());
  CHECK(different.first - passes.numbers.begin() == static_cast<ptrdiff_t>(expected.numbers.size()));
  if (bytes) *bytes = passes.bytes - expected.bytes;
}

}  // namespace

TEST_CASE("rows that are made as needed give the bits of a table, under every mask and with given positions") {
  for (int form = 0; form < 9; ++form) {
    CAPTURE(form);
    const int64_t queries = form == 1 ? 70 : 131, keys = form == 2 ? 70 : 131;
    Problem problem({4, 2, queries, keys, 8, 12});
    // More rows than are met, or, from form 6 on, fewer.
    if (form < 6)
      problem.AddScoreBand(Band::Side::kQuery, -140, 290, true, true);
    else
      problem.AddScoreBand(Band::Side::kQuery, -9, 15, true, false);
    problem.mask.causal = form >= 3 && form != 8;
    if (form == 4) problem.mask.window = 20;
    if (form == 5) problem.mask.beyond = 20;
    if (form == 8) problem.hooks.tile = std::make_unique<poslab_test::MixHook>(&problem);
    if (form == 7) {
      std::vector<int64_t> ids(131);
      std::iota(ids.begin(), ids.begin() + 90, -5);
      std::iota(ids.begin() + 90, ids.end(), 60);
      problem.SetPositions(ids, ids);
    }
    Made made;
    CheckSame(problem, true, &made);
    CHECK(made.rows > 0);
  }
}

TEST_CASE("rows that a mask hides are not made, and heads share the others") {
  Problem problem({4, 4, 130, 130, 8, 8});
  problem.AddScoreBand(Band::Side::kQuery, -129, 259, true, true);
  problem.mask.causal = true;
  Made made;
  CheckSame(problem, false, &made);
  CHECK(made.rows == 4 * 130);
  CHECK(made.most == 4 * 130);
}

TEST_CASE("one query meets the rows of its own distances") {
  Problem problem({4, 2, 1, 130, 8, 8});
  problem.AddScoreBand(Band::Side::kQuery, -129, 259, true, true);
  Made made;
  CheckSame(problem, true, &made);
  CHECK(made.rows == 2 * 4 * 130);
}

TEST_CASE("where one head's rows are many, a window moves with the queries and every row is made once a head") {
  for (bool backward : {false, true}) {
    // A head's rows take 1.1 MB, with their gradients 2.2 MB; a block meets 163 of them.
    const int64_t queries = 4200, keys = 100, rows = queries + keys - 1;
    Problem problem({2, 1, queries, keys, 64, 4});
    // Query i is at i + keys - queries, so that every row is met.
    problem.AddScoreBand(Band::Side::kQuery, 1 - keys, rows, true, true);
    Made made;
    int64_t bytes = 0;
    CheckSame(problem, backward, &made, &bytes);
    CHECK(made.rows == (backward ? 2 : 1) * 2 * rows);
    CHECK(made.most < 300);
    CHECK(bytes < (backward ? 2 : 1) * 300 * 64 * 4);
  }
}

TEST_CASE("a table or rows there must be, one a head and for queries") {
  Problem problem({2, 2, 3, 3, 8, 8});
  problem.AddScoreBand(Band::Side::kQuery, -2, 5, true, false);
  Made made;
  Band& band = *problem.hooks.score_band;
  band.made = std::make_unique<CopiedRows>(band, &made);
  band.table = nullptr;
  CHECK(poslab::CheckAttention(problem.arguments()).ok());
  band.per_head = false;
  CHECK(poslab::CheckAttention(problem.arguments()).argument() == "position");
  band.per_head = true, band.side = Band::Side::kKey;
  CHECK(poslab::CheckAttention(problem.arguments()).argument() == "position");
}
