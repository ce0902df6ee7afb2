// SPDX-License-Identifier: MIT
// Transformer-XL: the band's rows against the formula in double, every distance covered, clamping, and gradients.
#include <algorithm>
#include <array>
#include <cmath>

#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::Number;
using testing::Tensors;

constexpr int64_t kHeads = 2, kHeadDim = 3, kModelDim = 10;

Tensors MakeTensors() {
  Tensors tensors;
  tensors.Add("projection", {kHeads * kHeadDim, kModelDim}, 0.5, 1);
  tensors.Add("contentBias", {kHeads, kHeadDim}, 1, 2);
  tensors.Add("positionBias", {kHeads, kHeadDim}, 1, 3);
  return tensors;
}

// Column c of the sinusoid of a distance i - j: sines, then cosines.
double Sinusoid(int64_t distance, int64_t c) {
  const int64_t half = kModelDim / 2, k = c % half;
  const double angle = static_cast<double>(distance) * std::pow(10000.0, -2.0 * static_cast<double>(k) / kModelDim);
  return c < half ? std::sin(angle) : std::cos(angle);
}

// W_r,h R(i - j), entry d.
double Relative(const std::vector<float>& projection, int64_t head, int64_t distance, int64_t d) {
  double sum = 0;
  for (int64_t c = 0; c < kModelDim; ++c) {
    sum += Sinusoid(distance, c) * projection[static_cast<size_t>((head * kHeadDim + d) * kModelDim + c)];
  }
  return sum;
}

TEST_CASE("Every distance that can occur has its row, with and without a mask, for Lq other than Lk") {
  const auto scheme = Make("transformer-xl");
  Tensors tensors = MakeTensors();
  const auto values = tensors.values();
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>{4, 4}, {3, 11}, {7, 2}, {1, 1}, {1, 40}}) {
    BindArguments call = testing::Call(kHeads, kHeadDim, queries, keys);
    call.parameters = values;
    Hooks hooks;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    const Band& band = *hooks.score_band;
    CHECK(band.rows == queries + keys - 1);
    CHECK(band.per_head);
    CHECK(band.bias == values[2].data);
    CHECK(hooks.query_bias == values[1].data);
    double worst = 0;
    for (int64_t i = 0; i < queries; ++i) {
      for (int64_t j = 0; j < keys; ++j) {
        const int64_t distance = call.key_positions[j] - call.query_positions[i], row = distance - band.first;
        REQUIRE(row >= 0);
        REQUIRE(row < band.rows);
        for (int64_t h = 0; h < kHeads; ++h) {
          for (int64_t d = 0; d < kHeadDim; ++d) {
            const float got = band.table[(h * band.rows + row) * kHeadDim + d];
            worst = std::max(worst, std::fabs(got - Relative(tensors.numbers("projection"), h, -distance, d)));
          }
        }
      }
    }
    // Ten products of numbers up to 1 and about 2, each with a rounded sinusoid, and as many sums: 30 * 2^-24 * 2 at
    // most.
    CHECK(worst < 4e-6);
  }
}

TEST_CASE("Shifted score matrices are not needed: rows of distances by a direct double loop") {
  // Distance scores [[1,2,3],[4,5,6],[7,8,9]] (column = distance 2, 1, 0) belong to keys as [[3,.,.],[5,6,.],[7,8,9]].
  const double scores[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, expected[3][3] = {{3, 0, 0}, {5, 6, 0}, {7, 8, 9}};
  const auto scheme = Make("transformer-xl");
  Tensors tensors = MakeTensors();
  const auto values = tensors.values();
  BindArguments call = testing::Call(kHeads, kHeadDim, 3, 3);
  call.parameters = values;
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const int64_t row = (j - i) - hooks.score_band->first;  // distance -2, -1, 0 are rows 0, 1, 2
      CHECK(scores[i][row] == expected[i][j]);
    }
  }
}

TEST_CASE("clampLength clamps both signs and shortens the table") {
  const auto scheme = Make("transformer-xl", {Number("clampLength", 2)});
  Tensors tensors = MakeTensors();
  const auto values = tensors.values();
  BindArguments call = testing::Call(kHeads, kHeadDim, 6, 6);
  call.parameters = values;
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.score_band->first == -2);
  CHECK(hooks.score_band->rows == 5);
  CHECK(hooks.score_band->table[0] == doctest::Approx(Relative(tensors.numbers("projection"), 0, 2, 0)).epsilon(1e-5));
  // All queries far behind all keys: one row, the clamped one.
  call.query_positions.start = 100;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.score_band->first == -2);
  CHECK(hooks.score_band->rows == 1);
}

TEST_CASE("Given ids decide the rows, and gaps that cannot be had are an error with its bytes") {
  const auto scheme = Make("transformer-xl");
  Tensors tensors = MakeTensors();
  const auto values = tensors.values();
  BindArguments call = testing::Call(kHeads, kHeadDim, 2, 3);
  call.parameters = values;
  const int64_t query_ids[] = {5, 9}, key_ids[] = {0, 7, 30};
  call.query_positions = {0, 2, query_ids};
  call.key_positions = {0, 3, key_ids};
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.score_band->first == -9);
  CHECK(hooks.score_band->rows == 35);
  const int64_t far_ids[] = {0, 7, int64_t{1} << 50};
  call.key_positions.ids = far_ids;
  const Status status = scheme->Bind(call, &hooks);
  CHECK(status.code() == Code::kMemory);
  CHECK(*status.given_number() > 1e15);
}

TEST_CASE("Gradients of projection, u and v are those of finite differences in double") {
  const auto scheme = Make("transformer-xl");
  Tensors tensors = MakeTensors();
  const auto values = tensors.values();
  BindArguments call = testing::Call(kHeads, kHeadDim, 3, 5);
  call.parameters = values;
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  const int64_t rows = hooks.score_band->rows, first = hooks.score_band->first;
  HookGradients gradients;
  const auto fill = [](Buffer<float>* buffer, int64_t count, uint64_t seed) {
    REQUIRE(buffer->Resize("test", count).ok());
    const std::vector<float> numbers = testing::NormalNumbers(count, seed);
    std::copy(numbers.begin(), numbers.end(), buffer->begin());
  };
  fill(&gradients.score_band_table, kHeads * rows * kHeadDim, 4);
  fill(&gradients.score_band_bias, kHeads * kHeadDim, 5);
  fill(&gradients.query_bias, kHeads * kHeadDim, 6);
  REQUIRE(scheme->Pull(call, hooks, gradients, tensors.gradients()).ok());

  // The loss sum(G * table) in double; linear in the projection, so any step will do.
  const auto loss = [&](const std::vector<float>& projection) {
    double sum = 0;
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t n = 0; n < rows; ++n) {
        for (int64_t d = 0; d < kHeadDim; ++d) {
          sum += gradients.score_band_table[(h * rows + n) * kHeadDim + d] * Relative(projection, h, -(first + n), d);
        }
      }
    }
    return sum;
  };
  std::vector<float> projection = tensors.numbers("projection");
  const double before = loss(projection);
  for (size_t n = 0; n < projection.size(); ++n) {
    const float kept = projection[n];
    projection[n] = kept + 1;
    const double difference = (loss(projection) - before) / (static_cast<double>(projection[n]) - kept);
    projection[n] = kept;
    // Seven rows of products up to 3, summed in float: 7 * 3 * 2^-23.
    CHECK(std::fabs(tensors.gradient("projection")[n] - difference) < 5e-6);
  }
  for (int64_t n = 0; n < kHeads * kHeadDim; ++n) {
    CHECK(tensors.gradient("contentBias")[static_cast<size_t>(n)] == gradients.query_bias[n]);
    CHECK(tensors.gradient("positionBias")[static_cast<size_t>(n)] == gradients.score_band_bias[n]);
  }
}

TEST_CASE("Rows of a table that would be large are made as they are needed, and their gradients pulled") {
  const auto scheme = Make("transformer-xl");
  Tensors tensors = MakeTensors();
  const auto values = tensors.values();
  BindArguments call = testing::Call(kHeads, kHeadDim, 12000, 12000);
  call.parameters = values;
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  const Band& band = *hooks.score_band;
  REQUIRE(band.made);
  CHECK(band.table == nullptr);
  CHECK(band.rows == 23999);
  for (auto [head, first, count] : {std::array<int64_t, 3>{0, 0, 3}, {1, 11998, 4}, {0, 11700, 700}, {1, 23998, 1}}) {
    const int64_t heads = head == 0 ? kHeads : 1;
    std::vector<float> rows(static_cast<size_t>(heads * count * kHeadDim)), row_gradients = rows;
    REQUIRE(band.made->Fill(head, heads, first, count, rows.data()).ok());
    const auto at = [&](const std::vector<float>& all, int64_t h, int64_t n, int64_t d) {
      return all[static_cast<size_t>((h * count + n) * kHeadDim + d)];
    };
    double worst = 0;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t n = 0; n < count; ++n)
        for (int64_t d = 0; d < kHeadDim; ++d)
          worst = std::max(worst, std::fabs(at(rows, h, n, d) - Relative(tensors.numbers("projection"), head + h,
                                                                         -(band.first + first + n), d)));
    CHECK(worst < 4e-6);  // as above

    row_gradients = testing::NormalNumbers(heads * count * kHeadDim, 4);
    Tensors pulled = MakeTensors();
    REQUIRE(band.made->Pull(head, heads, first, count, row_gradients.data(), pulled.gradients()).ok());
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t d = 0; d < kHeadDim; ++d) {
        for (int64_t c = 0; c < kModelDim; ++c) {
          double sum = 0, size = 0;
          for (int64_t n = 0; n < count && h >= head && h < head + heads; ++n) {
            const double term = at(row_gradients, h - head, n, d) * Sinusoid(-(band.first + first + n), c);
            sum += term, size += std::fabs(term);
          }
          const float got = pulled.gradient("projection")[static_cast<size_t>((h * kHeadDim + d) * kModelDim + c)];
          // `count` products of a rounded sinusoid, summed one after the other.
          CHECK(std::fabs(got - sum) <= static_cast<double>(count + 2) * 0x1p-24 * size);
        }
      }
    }
  }
}

TEST_CASE("Only the projection decays and starts random; a given one may have any even width") {
  Dimensions dimensions;
  dimensions.heads = kHeads, dimensions.head_dim = kHeadDim, dimensions.model_dim = 16;
  const auto scheme = Make("transformer-xl");
  const auto specs = scheme->Parameters(dimensions);
  REQUIRE(specs.ok());
  CHECK((*specs)[0].shape == std::vector<int64_t>{6, 16});
  CHECK((*specs)[0].start.a == 0.25);
  CHECK((*specs)[0].decay);
  for (size_t n : {1, 2}) {
    CHECK((*specs)[n].start.kind == Start::Kind::kConstant);
    CHECK((*specs)[n].start.a == 0);
    CHECK_FALSE((*specs)[n].decay);
  }
  dimensions.model_dim = 15;
  CHECK(scheme->Parameters(dimensions).status().argument() == "dim");
  dimensions.model_dim = 0;
  CHECK(scheme->CheckParameters(dimensions, MakeTensors().values()).ok());
  Tensors odd;
  odd.Add("projection", {kHeads * kHeadDim, 5}, 1, 1);
  odd.Add("contentBias", {kHeads, kHeadDim}, 1, 2);
  odd.Add("positionBias", {kHeads, kHeadDim}, 1, 3);
  CHECK_FALSE(scheme->CheckParameters(dimensions, odd.values()).ok());
}

TEST_CASE("A call without queries or keys binds") {
  const auto scheme = Make("transformer-xl");
  Tensors tensors = MakeTensors();
  const auto values = tensors.values();
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>{0, 0}, {0, 3}, {3, 0}}) {
    BindArguments call = testing::Call(kHeads, kHeadDim, queries, keys);
    call.parameters = values;
    Hooks hooks;
    CHECK(scheme->Bind(call, &hooks).ok());
  }
}

}  // namespace
}  // namespace poslab
