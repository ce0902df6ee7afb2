// SPDX-License-Identifier: MIT
// What is refused and how it is named, and how much memory a call takes.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "attention_support.h"

using poslab::AttentionArguments;
using poslab::AttentionResults;
using poslab::Code;
using poslab::HeadsView;
using poslab::Status;
using poslab_test::Problem;

namespace {

// The status of a call with an output of the right shape and no memory behind most of it: it must be refused first.
Status Try(const AttentionArguments& arguments) { return poslab::CheckAttention(arguments); }

void CheckRefused(const AttentionArguments& arguments, Code code, const std::string& name) {
  const Status status = Try(arguments);
  CHECK(status.code() == code);
  CHECK(status.argument() == name);
  CHECK(status.allowed() != "");
}

}  // namespace

TEST_CASE("shapes that do not fit are refused by name") {
  Problem problem({4, 2, 3, 5, 8, 6});
  AttentionArguments good = problem.arguments();
  REQUIRE(Try(good).ok());
  const auto with = [&](auto change) {
    AttentionArguments bad = good;
    change(&bad);
    return bad;
  };
  using A = AttentionArguments*;
  CheckRefused(with([](A a) { a->query.heads = 0; }), Code::kShape, "query");
  CheckRefused(with([](A a) { a->query.length = -1; }), Code::kShape, "query");
  CheckRefused(with([](A a) { a->query.dim = 0; }), Code::kShape, "query");
  CheckRefused(with([](A a) { a->query.row_stride = -8; }), Code::kShape, "query");
  CheckRefused(with([](A a) { a->query.data = nullptr; }), Code::kMissing, "query");
  CheckRefused(with([](A a) { a->key.dim = 7; }), Code::kShape, "key");
  CheckRefused(with([](A a) { a->key.heads = a->value.heads = 3; }), Code::kShape, "key");
  CheckRefused(with([](A a) { a->key.heads = 8; }), Code::kShape, "key");
  CheckRefused(with([](A a) { a->value.heads = 4; }), Code::kShape, "value");
  CheckRefused(with([](A a) { a->value.length = 4; }), Code::kShape, "value");
  CheckRefused(with([](A a) { a->value.dim = 0; }), Code::kShape, "value");
}

TEST_CASE("windows, scales and positions that make no sense are refused by name") {
  Problem problem({2, 2, 3, 5, 8, 8});
  problem.hooks.slice = std::make_unique<poslab_test::TableSlice>(&problem, 3);
  AttentionArguments a = problem.arguments();
  a.mask.causal = true;
  for (int64_t window : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    a.mask.window = window;
    CheckRefused(a, Code::kRange, "mask.window");
  }
  a.mask.window = 2;
  CHECK(Try(a).ok());
  a.mask.causal = false;
  CheckRefused(a, Code::kContradiction, "mask.window");
  a.mask.window.reset();
  for (float scale : {static_cast<float>(NAN), static_cast<float>(INFINITY)}) {
    a.scale = scale;
    CheckRefused(a, Code::kRange, "scale");
  }
  a.scale.reset();
  a.query_positions.count = 2;
  CheckRefused(a, Code::kShape, "queryPositions");
  a.query_positions.count = 3;
  a.key_positions.count = 6;
  CheckRefused(a, Code::kShape, "keyPositions");
  a.key_positions.count = 5;
  a.key_positions.start = std::numeric_limits<int64_t>::max() - 2;
  CheckRefused(a, Code::kRange, "keyPositions");
  a.key_positions.start = 0;
  const int64_t far[3] = {0, std::numeric_limits<int64_t>::min(), 2};
  a.query_positions.ids = far;
  CheckRefused(a, Code::kRange, "queryPositions");
  // Where nothing looks at positions, they may be anything.
  const int64_t ends[3] = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(), 0};
  a.query_positions.ids = ends;
  a.hooks = nullptr;
  std::vector<float> output(2 * 3 * 8);
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), 2, 3, 8);
  poslab::AttentionWorkspace workspace;
  CHECK(poslab::Attention(a, &results, &workspace).ok());
}

TEST_CASE("hooks that do not fit the call are refused") {
  Problem problem({2, 2, 3, 5, 8, 6});
  problem.AddScoreBand(poslab::Band::Side::kQuery, -2, 5, false, false);
  problem.hooks.score_band->width = 7;
  CheckRefused(problem.arguments(), Code::kShape, "position");
  problem.hooks.score_band.reset();
  problem.AddValueBand(-2, 5, false);
  problem.hooks.value_band->width = 8;
  CheckRefused(problem.arguments(), Code::kShape, "position");
  problem.hooks.value_band.reset();
  problem.hooks.slice = std::make_unique<poslab_test::SlopeSlice>(&problem, std::vector<float>{1.0f});
  CheckRefused(problem.arguments(), Code::kShape, "position.slopes");
  problem.hooks.slice.reset();
  problem.AddRotation(poslab::Rotation::Layout::kHalf, 4, true);
  CHECK(Try(problem.arguments()).ok());
  problem.hooks.rotation->query_row_in_key = 3;  // rows 3 to 5 of 5
  CheckRefused(problem.arguments(), Code::kShape, "position");
  problem.hooks.rotation->pairs = 5;
  CheckRefused(problem.arguments(), Code::kShape, "position.rotaryDim");
}

TEST_CASE("sizes beyond the address space are refused with the bytes asked for") {
  Problem problem({1, 1, 2, 2, 8, 8});
  AttentionArguments a = problem.arguments();
  a.query.length = int64_t{1} << 60;
  CheckRefused(a, Code::kMemory, "query");
  CHECK(*Try(a).given_number() == std::ldexp(32.0, 60));
  a = problem.arguments();
  a.key.length = a.value.length = std::numeric_limits<int64_t>::max();
  CheckRefused(a, Code::kMemory, "key");

  CHECK(*poslab::WeightsSize("weights", 2, 3, 5) == 30);
  CHECK(*poslab::WeightsSize("weights", 2, 0, 5) == 0);
  const poslab::Result<int64_t> size = poslab::WeightsSize("weights", 12, int64_t{1} << 31, int64_t{1} << 31);
  REQUIRE(!size.ok());
  CHECK(size.status().code() == Code::kMemory);
  CHECK(size.status().argument() == "weights");
  CHECK(*size.status().given_number() == std::ldexp(48.0, 62));
  // [12, 9600, 9600] floats are 4.4 GB: too much where addresses have 32 bits, and only there.
  CHECK(poslab::WeightsSize("bias", 12, 9600, 9600).ok() == (sizeof(void*) == 8));
}

TEST_CASE("results and gradients of other shapes are refused") {
  Problem problem({2, 1, 3, 5, 8, 6});
  std::vector<float> data(100);
  AttentionResults results;
  poslab::AttentionWorkspace workspace;
  results.output = HeadsView<float>::Packed(data.data(), 2, 3, 8);
  CHECK(poslab::Attention(problem.arguments(), &results, &workspace).argument() == "output");
  results.output = HeadsView<float>::Packed(data.data(), 2, 3, 6);
  CHECK(poslab::Attention(problem.arguments(), &results, &workspace).ok());

  poslab::AttentionGradientArguments forward;
  forward.output = HeadsView<const float>::Packed(data.data(), 2, 3, 6);
  forward.output_gradient = HeadsView<const float>::Packed(data.data(), 2, 3, 6);
  poslab::AttentionGradients gradients;
  gradients.query = HeadsView<float>::Packed(data.data(), 2, 3, 8);
  gradients.key = HeadsView<float>::Packed(data.data(), 1, 5, 8);
  gradients.value = HeadsView<float>::Packed(data.data(), 1, 5, 8);
  const auto name = [&] {
    return poslab::AttentionBackward(problem.arguments(), forward, &gradients, &workspace).argument();
  };
  CHECK(name() == "gradient.value");
  gradients.value.dim = gradients.value.row_stride = 6;
  CHECK(name() == "logSumExp");
  gradients.key.heads = 2;
  CHECK(name() == "gradient.key");
  forward.output_gradient.length = 2;
  CHECK(name() == "outputGradient");
}

namespace {

// Bytes of scratch that a forward and a backward pass of this length need.
int64_t ScratchBytes(int64_t length, int form) {
  Problem problem({2, 1, length, length, 16, 16});
  problem.mask.causal = true;
  if (form == 1) problem.AddRotation(poslab::Rotation::Layout::kHalf, 8, true);
  if (form == 2) problem.hooks.slice = std::make_unique<poslab_test::LogSlice>(&problem);
  if (form == 3) {
    problem.AddScoreBand(poslab::Band::Side::kQuery, -(length - 1), length, true, true);
    problem.AddValueBand(-8, 17, false);
  }
  if (form == 4) problem.hooks.tile = std::make_unique<poslab_test::RunningHook>(&problem);
  if (form == 5) {
    std::vector<int64_t> ids;
    for (int64_t n = 0; n < length; ++n) ids.push_back(n * 1000);
    problem.SetPositions(ids, ids);
    problem.hooks.slice = std::make_unique<poslab_test::LogSlice>(&problem);
    problem.Interleave(1, 0);
  }
  const auto& s = problem.shape();
  const AttentionArguments arguments = problem.arguments();
  std::vector<float> output(static_cast<size_t>(2 * length * 16)), log_sum_exp(static_cast<size_t>(2 * length));
  poslab::AttentionWorkspace workspace;
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), 2, length, 16);
  results.log_sum_exp = log_sum_exp.data();
  REQUIRE(poslab::Attention(arguments, &results, &workspace).ok());
  std::vector<float> query(problem.query.size()), key(problem.key.size()), value(problem.value.size());
  poslab::AttentionGradientArguments forward;
  forward.output = HeadsView<const float>::Packed(output.data(), 2, length, 16);
  forward.output_gradient = HeadsView<const float>::Packed(output.data(), 2, length, 16);
  forward.log_sum_exp = log_sum_exp.data();
  poslab::AttentionGradients gradients;
  gradients.query = problem.View(query, s.heads, length, 16);
  gradients.key = problem.View(key, s.key_value_heads, length, 16);
  gradients.value = problem.View(value, s.key_value_heads, length, 16);
  REQUIRE(poslab::AttentionBackward(arguments, forward, &gradients, &workspace).ok());
  return workspace.bytes();
}

}  // namespace

TEST_CASE("scratch memory grows at most with the length, by no more than three tables as large as one head's queries") {
  for (int form = 0; form < 6; ++form) {
    CAPTURE(form);
    const int64_t shorter = ScratchBytes(256, form), longer = ScratchBytes(1024, form);
    MESSAGE("form " << form << ": " << shorter << " bytes at 256, " << longer << " at 1024");
    CHECK(longer - shorter <= 3 * (1024 - 256) * 16 * 4);
    CHECK(shorter < 2 * 1024 * 1024);
  }
}
