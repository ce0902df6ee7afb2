// SPDX-License-Identifier: MIT
// DeBERTa: rows by distance and bucket, and both bands with their gradients.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/attention_support.h"
#include "position/inspect.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::Number;
using testing::Refusal;
using testing::Text;

TEST_CASE("Rows of the tables are those of the released code") {
  const auto rows = [](const Scheme& scheme, std::vector<int64_t> distances) {
    Buffer<int64_t> out;
    REQUIRE(inspect::Buckets(scheme, distances, &out).ok());
    return std::vector<int64_t>(out.begin(), out.end());
  };
  // i - j + 4, within 0 .. 7.
  CHECK(rows(*Make("deberta", {Number("maxDistance", 4)}), {-9, -4, -3, -1, 0, 1, 4, 5}) ==
        std::vector<int64_t>{7, 7, 7, 5, 4, 3, 0, 0});
  // 256 buckets up to 512: 256 back is bucket 192, 300 is 207, 511 is 255, and 512 is cut off.
  const auto v3 = Make("deberta", {Number("maxDistance", 512), Number("buckets", 256)});
  CHECK(rows(*v3, {-128, -256, -300, -511, -512, -9999, 256, 512, 9999}) ==
        std::vector<int64_t>{384, 448, 463, 511, 511, 511, 64, 0, 0});
  CHECK(Refusal("deberta", {Number("maxDistance", 4), Number("buckets", 8)}).argument() == "position.maxDistance");
}

double Dot(const float* a, const float* b, int64_t count) {
  double sum = 0;
  for (int64_t n = 0; n < count; ++n) sum += static_cast<double>(a[n]) * b[n];
  return sum;
}

TEST_CASE("Scores are the content and the chosen terms, divided by the root of their number unless a scale is given") {
  constexpr int64_t kHeads = 2, kDim = 4, kWidth = 3, kKeys = 12, kSpan = 5;
  for (const char* terms : {"both", "c2p", "p2c"}) {
    CAPTURE(terms);
    const bool to_position = std::string(terms) != "p2c", to_content = std::string(terms) != "c2p";
    testing::Tensors tensors;
    tensors.Add("table", {2 * kSpan, kWidth}, 1, 1);
    if (to_position) tensors.Add("keyProjection", {kHeads * kDim, kWidth}, 1, 2);
    if (to_content) tensors.Add("queryProjection", {kHeads * kDim, kWidth}, 1, 3);
    const auto scheme = Make("deberta", {Number("maxDistance", kSpan), Text("terms", terms)});
    poslab_test::Problem problem({kHeads, kHeads, kKeys, kKeys, kDim, kDim});
    BindArguments call = testing::Call(kHeads, kDim, kKeys, kKeys);
    const auto values = tensors.values();
    call.parameters = values;
    REQUIRE(scheme->Bind(call, &problem.hooks).ok());
    problem.bias_magnitude += 20;
    poslab_test::CheckForward(problem);

    for (const float scale : {0.0f, 0.25f}) {
      CAPTURE(scale);
      AttentionArguments arguments = problem.arguments();
      if (scale > 0) arguments.scale = scale;  // instead of the whole default
      std::vector<float> scores(kHeads * kKeys * kKeys), output(kHeads * kKeys * kDim);
      AttentionResults results;
      results.output = HeadsView<float>::Packed(output.data(), kHeads, kKeys, kDim);
      results.scores = scores.data();
      AttentionWorkspace workspace;
      REQUIRE(Attention(arguments, &results, &workspace).ok());
      for (int64_t h = 0; h < kHeads; ++h) {
        for (int64_t i = 0; i < kKeys; ++i) {
          for (int64_t j = 0; j < kKeys; ++j) {
            const int64_t row = std::clamp<int64_t>(i - j + kSpan, 0, 2 * kSpan - 1);
            const float *q = problem.query.data() + (h * kKeys + i) * kDim,
                        *k = problem.key.data() + (h * kKeys + j) * kDim;
            double sum = Dot(q, k, kDim);
            for (int64_t d = 0; d < kDim; ++d) {
              const int64_t at = (h * kDim + d) * kWidth;
              const float* p = tensors.numbers("table").data() + row * kWidth;
              if (to_position) sum += q[d] * Dot(p, tensors.numbers("keyProjection").data() + at, kWidth);
              if (to_content) sum += k[d] * Dot(p, tensors.numbers("queryProjection").data() + at, kWidth);
            }
            const double expected = sum * (scale > 0 ? scale : 1 / std::sqrt(kDim * (1.0 + to_position + to_content)));
            CHECK(scores[static_cast<size_t>((h * kKeys + i) * kKeys + j)] == doctest::Approx(expected).epsilon(1e-4));
          }
        }
      }
    }
  }
}

TEST_CASE("Bands are the projected rows of their distances, and their gradients go back to what was projected") {
  struct Setting {
    int64_t max_distance, buckets, keys;
  };
  // One block and several; distances that share a row, and rows that are passed over (130 after 128).
  for (const auto [max_distance, buckets, keys] :
       {Setting{9, 0, 5}, Setting{400, 0, 300}, Setting{64, 8, 300}, Setting{130, 256, 300}}) {
    constexpr int64_t kHeads = 2, kDim = 5, kWidth = 7;
    CAPTURE(max_distance);
    std::vector<Field> fields = {Number("maxDistance", static_cast<double>(max_distance)), Text("terms", "c2p")};
    if (buckets) fields.push_back(Number("buckets", static_cast<double>(buckets)));
    const auto scheme = Make("deberta", fields);
    testing::Tensors tensors;
    tensors.Add("table", {2 * (buckets ? buckets : max_distance), kWidth}, 1, 1);
    tensors.Add("keyProjection", {kHeads * kDim, kWidth}, 1, 2);
    BindArguments call = testing::Call(kHeads, kDim, keys, keys);
    const auto values = tensors.values();
    call.parameters = values;
    Hooks hooks;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    const Band& band = *hooks.score_band;
    std::vector<int64_t> distances(static_cast<size_t>(band.rows));
    std::iota(distances.begin(), distances.end(), band.first);
    Buffer<int64_t> rows;
    REQUIRE(inspect::Buckets(*scheme, distances, &rows).ok());

    HookGradients gradients;
    REQUIRE(gradients.score_band_table.Resize("gradient", kHeads * band.rows * kDim).ok());
    const std::vector<float> numbers = testing::NormalNumbers(gradients.score_band_table.size(), 3);
    std::copy(numbers.begin(), numbers.end(), gradients.score_band_table.begin());
    REQUIRE(scheme->Pull(call, hooks, gradients, tensors.gradients()).ok());

    const std::vector<float>&table = tensors.numbers("table"), &weights = tensors.numbers("keyProjection");
    std::vector<double> by_table(table.size()), by_weights(weights.size()), size_table(table.size()),
        size_weights(weights.size());
    size_t at = 0;
    for (int64_t output = 0; output < kHeads * kDim; output += kDim) {
      for (const int64_t row : rows) {
        for (int64_t d = 0; d < kDim; ++d, ++at) {
          const int64_t to = row * kWidth, from = (output + d) * kWidth;
          double sum = 0, size = 0;
          for (int64_t c = 0; c < kWidth; ++c) {
            const auto t = static_cast<size_t>(to + c), w = static_cast<size_t>(from + c);
            const double term = static_cast<double>(table[t]) * weights[w];
            sum += term, size += std::fabs(term);
            by_table[t] += static_cast<double>(numbers[at]) * weights[w];
            by_weights[w] += static_cast<double>(numbers[at]) * table[t];
            size_table[t] += std::fabs(numbers[at] * weights[w]), size_weights[w] += std::fabs(numbers[at] * table[t]);
          }
          CHECK(std::fabs(band.table[at] - sum) <= 2 * kWidth * size / (1 << 24));
        }
      }
    }
    // A rounding of a sum of these sizes for every product and sum that is in it.
    const double most = 2.0 * static_cast<double>(kHeads * band.rows * kDim) / (1 << 24);
    for (size_t n = 0; n < table.size(); ++n)
      CHECK(std::fabs(tensors.gradient("table")[n] - by_table[n]) <= most * size_table[n]);
    for (size_t n = 0; n < weights.size(); ++n)
      CHECK(std::fabs(tensors.gradient("keyProjection")[n] - by_weights[n]) <= most * size_weights[n]);
  }
}

}  // namespace
}  // namespace poslab
