// SPDX-License-Identifier: MIT
// The same bits on every machine: this program runs natively, with kernels in plain C++, and as WebAssembly, and all must
// give the checksums below. They were taken from the native build; a change of the order of a sum changes them, which is
// then to be said where results of earlier builds are kept.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "attention_support.h"

using poslab_test::Problem;

namespace {

// FNV-1a over the bits of floats.
uint64_t Checksum(const std::vector<float>& values) {
  uint64_t hash = 14695981039346656037u;
  for (float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ ((bits >> shift) & 255)) * 1099511628211u;
  }
  return hash;
}

}  // namespace

TEST_CASE("output and gradients have the same bits in every build") {
  Problem problem({2, 1, 101, 130, 20, 12});
  problem.mask.causal = true;
  problem.hooks.slice = std::make_unique<poslab_test::SlopeSlice>(&problem, std::vector<float>{0.25f, 0.07f});
  problem.AddScoreBand(poslab::Band::Side::kQuery, -20, 30, true, true);
  problem.AddValueBand(-7, 15, false);
  problem.AddQueryBias();
  const poslab::AttentionArguments arguments = problem.arguments();
  std::vector<float> output(2 * 101 * 12), log_sum_exp(2 * 101);
  poslab::AttentionWorkspace workspace;
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output.data(), 2, 101, 12);
  results.log_sum_exp = log_sum_exp.data();
  REQUIRE(poslab::Attention(arguments, &results, &workspace).ok());
  CHECK(Checksum(output) == 12127392770990046043u);
  CHECK(Checksum(log_sum_exp) == 8649711600297738505u);

  const std::vector<float> output_gradient = poslab_test::Values(2).Fill(2 * 101 * 12);
  std::vector<float> query(2 * 101 * 20), key(130 * 20), value(130 * 12);
  poslab::AttentionGradientArguments forward;
  forward.output = poslab::HeadsView<const float>::Packed(output.data(), 2, 101, 12);
  forward.log_sum_exp = log_sum_exp.data();
  forward.output_gradient = poslab::HeadsView<const float>::Packed(output_gradient.data(), 2, 101, 12);
  poslab::AttentionGradients gradients;
  gradients.query = poslab::HeadsView<float>::Packed(query.data(), 2, 101, 20);
  gradients.key = poslab::HeadsView<float>::Packed(key.data(), 1, 130, 20);
  gradients.value = poslab::HeadsView<float>::Packed(value.data(), 1, 130, 12);
  poslab::HookGradients hooks;
  gradients.hooks = &hooks;
  REQUIRE(poslab::AttentionBackward(arguments, forward, &gradients, &workspace).ok());
  CHECK(Checksum(query) == 18145976734040045857u);
  CHECK(Checksum(key) == 5868814749044781947u);
  CHECK(Checksum(value) == 4218474951602399514u);
  CHECK(Checksum({hooks.score_band_table.begin(), hooks.score_band_table.end()}) == 4804461997646467982u);
  CHECK(Checksum({hooks.value_band_table.begin(), hooks.value_band_table.end()}) == 14476236327028635500u);
}

// Not-a-number has many bit patterns, and machines differ in which they make: they count as one here.
TEST_CASE("numbers at the ends of float have the same bits in every build") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> all;
  for (float odd :
       {0.0f, -0.0f, 1e30f, -1e30f, 1e-42f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    Problem problem({1, 1, 70, 70, 8, 8});
    problem.mask.causal = true;
    // A query, a key and a value of rows of their own, so that what each spoils can be told apart.
    problem.query[3 * 8 + 1] = odd;
    problem.key[20 * 8 + 2] = odd;
    problem.value[40 * 8 + 3] = odd;
    std::vector<float> output(70 * 8), log_sum_exp(70);
    poslab::AttentionWorkspace workspace;
    poslab::AttentionResults results;
    results.output = poslab::HeadsView<float>::Packed(output.data(), 1, 70, 8);
    results.log_sum_exp = log_sum_exp.data();
    REQUIRE(poslab::Attention(problem.arguments(), &results, &workspace).ok());
    // Rows before the first odd number know nothing of it.
    for (int n = 0; n < 3 * 8; ++n) CHECK(std::isfinite(output[static_cast<size_t>(n)]));
    // A value is seen in its own column alone.
    if (std::isnan(odd)) CHECK(std::isnan(output[69 * 8 + 3]));
    for (const std::vector<float>* results_of : {&output, &log_sum_exp})
      for (float value : *results_of) all.push_back(std::isnan(value) ? -12345.0f : value);
  }
  CHECK(Checksum(all) == 11247590207031442506u);
}
