// SPDX-License-Identifier: MIT
// Biases and embeddings of tokens on a grid: their formulas, gradients and defining properties.
#include <cmath>

#include "bias_support.h"
#include "position/inspect.h"
#include "position/table_resize.h"

namespace poslab {
namespace {

using testing::BiasFormula;
using testing::Boolean;
using testing::CheckBias;
using testing::Make;
using testing::NormalNumbers;
using testing::Number;
using testing::Parameters;
using testing::Refusal;
using testing::Tensors;
using testing::Text;

// A grid of 3 rows of 5, tokens row by row.
constexpr Positions kQueries{4, 8, nullptr}, kKeys{0, 15, nullptr};
const std::vector<Field> kGrid = {Number("gridHeight", 3), Number("gridWidth", 5)};

TEST_CASE("Swin looks the difference up in a table of rows and columns, query minus key") {
  Tensors tensors;
  tensors.Add("table", {5 * 9, 2}, 1, 3);
  CheckBias(*Make("swin", kGrid), &tensors, 2, kQueries, kKeys,
            [](const Parameters& p, int64_t h, int64_t i, int64_t j) {
              const int64_t dy = i / 5 - j / 5, dx = i % 5 - j % 5;
              return p.at("table")[static_cast<size_t>(((dy + 2) * 9 + dx + 4) * 2 + h)];
            });
}

TEST_CASE("LeViT shares numbers between directions") {
  Tensors tensors;
  tensors.Add("table", {15, 2}, 1, 4);
  CheckBias(
      *Make("levit", kGrid), &tensors, 2, kQueries, kKeys, [](const Parameters& p, int64_t h, int64_t i, int64_t j) {
        return p.at("table")[static_cast<size_t>((std::abs(i / 5 - j / 5) * 5 + std::abs(i % 5 - j % 5)) * 2 + h)];
      });
}

const BiasFormula kLogCpb = [](const Parameters& p, int64_t h, int64_t i, int64_t j) {
  const double away[] = {static_cast<double>(i / 5 - j / 5), static_cast<double>(i % 5 - j % 5)};
  const double sizes[] = {2, 4};
  double in[2], sum = 0;
  for (int n = 0; n < 2; ++n) in[n] = std::copysign(std::log2(8 * std::fabs(away[n]) / sizes[n] + 1) / 3, away[n]);
  for (size_t n = 0; n < 6; ++n) {
    const double hidden = p.at("weight1")[2 * n] * in[0] + p.at("weight1")[2 * n + 1] * in[1] + p.at("bias1")[n];
    sum += p.at("weight2")[static_cast<size_t>(h) * 6 + n] * std::max(hidden, 0.0);
  }
  return 16 / (1 + std::exp(-sum));
};

TEST_CASE("Swin V2's continuous bias is a perceptron of log-spaced coordinates, on any grid") {
  std::vector<Field> fields = kGrid;
  fields.push_back(Number("width", 6));
  Tensors tensors;
  tensors.Add("weight1", {6, 2}, 1, 5);
  tensors.Add("bias1", {6}, 0.5, 6);
  tensors.Add("weight2", {2, 6}, 1, 7);
  Tensors again = tensors;
  CheckBias(*Make("log-cpb", fields), &tensors, 2, kQueries, kKeys, kLogCpb);
  CheckBias(*Make("log-cpb", fields), &again, 2, {31, 4, nullptr}, kKeys, kLogCpb);  // rows that the window lacks
}

TEST_CASE("Tables of grids know no difference beyond their grid, and a bias asks for its width") {
  Tensors tensors;
  tensors.Add("table", {45, 1}, 1, 3);
  const auto swin = Make("swin", kGrid);
  BindArguments call = testing::Call(1, 8, 1, 1);
  const auto values = tensors.values();
  call.parameters = values;
  const int64_t far[] = {3, 0}, near[] = {0, 0};
  Hooks hooks;
  call.query_positions = {0, 1, far, 2}, call.key_positions = {0, 1, near, 2};
  CHECK(swin->Bind(call, &hooks).code() == Code::kNotDefined);
  Buffer<float> bias;
  inspect::BiasArguments arguments;
  arguments.heads = 1, arguments.query_length = 1, arguments.key_length = 1;
  CHECK(inspect::Bias(*Make("swin"), arguments, &bias).argument() == "position.gridWidth");
  CHECK(Refusal("swin", {Number("width", 3)}).code() == Code::kUnknownName);
}

// The rows that an embedding adds, and the gradients of its tables for random gradients of the rows: rows are linear in
// the tables, so that the change of a weighted sum is the gradient exactly.
void CheckEmbedding(const Scheme& scheme, Tensors* tensors, Positions positions, int64_t dim,
                    const std::function<double(const Parameters&, int64_t n, int64_t c)>& formula) {
  const auto values = tensors->values();
  std::vector<float> rows(static_cast<size_t>(positions.count * dim));
  REQUIRE(scheme.AddEmbedding(positions, dim, values, rows.data()).ok());
  Parameters parameters;
  for (const auto& tensor : values)
    parameters[std::string(tensor.name)] = std::vector<double>(tensor.data, tensor.data + tensor.size());
  for (int64_t n = 0; n < positions.count; ++n)
    for (int64_t c = 0; c < dim; ++c)
      CHECK(rows[static_cast<size_t>(n * dim + c)] == doctest::Approx(formula(parameters, n, c)).epsilon(1e-6));

  const std::vector<float> weights = NormalNumbers(positions.count * dim, 21);
  REQUIRE(scheme.EmbeddingBackward(positions, dim, weights.data(), tensors->gradients()).ok());
  const auto loss = [&] {
    double sum = 0;
    for (int64_t n = 0; n < positions.count; ++n)
      for (int64_t c = 0; c < dim; ++c)
        sum += static_cast<double>(weights[static_cast<size_t>(n * dim + c)]) * formula(parameters, n, c);
    return sum;
  };
  for (auto& [name, numbers] : parameters) {
    for (size_t n = 0; n < numbers.size(); ++n) {
      const double here = loss();
      numbers[n] += 1;
      CHECK(tensors->gradient(name)[n] == doctest::Approx(loss() - here).epsilon(1e-5));
      numbers[n] -= 1;
    }
  }
}

TEST_CASE("Axial tables are added up or stand side by side") {
  const Positions positions{3, 7, nullptr};
  const auto at = [](const Parameters& p, const char* name, int64_t row, int64_t width, int64_t c) {
    return p.at(name)[static_cast<size_t>(row * width + c)];
  };
  Tensors sum, sides;
  sum.Add("rows", {3, 6}, 1, 8), sum.Add("columns", {5, 6}, 1, 9);
  sides.Add("rows", {3, 3}, 1, 8), sides.Add("columns", {5, 3}, 1, 9);
  CheckEmbedding(*Make("axial-learned", kGrid), &sum, positions, 6, [&](const Parameters& p, int64_t n, int64_t c) {
    return at(p, "rows", (n + 3) / 5, 6, c) + at(p, "columns", (n + 3) % 5, 6, c);
  });
  const Tensors fresh = sides;
  CheckEmbedding(*Make("axial-learned", {kGrid[0], kGrid[1], Text("combine", "concatenate")}), &sides, positions, 6,
                 [&](const Parameters& p, int64_t n, int64_t c) {
                   return c < 3 ? at(p, "rows", (n + 3) / 5, 3, c) : at(p, "columns", (n + 3) % 5, 3, c - 3);
                 });
  sides = fresh;
  CheckEmbedding(*Make("axial-learned", {kGrid[0], Text("combine", "concatenate"), Text("firstAxis", "x")}), &sides,
                 positions, 6, [&](const Parameters& p, int64_t n, int64_t c) {
                   return c < 3 ? at(p, "columns", (n + 3) % 5, 3, c) : at(p, "rows", (n + 3) / 5, 3, c - 3);
                 });
}

TEST_CASE("A learned grid has rows for its other tokens, and is resized for another grid while they stay") {
  const Positions all{0, 2 + 15, nullptr};
  Tensors own;
  own.Add("table", {17, 3}, 1, 10);
  const auto row = [](const Parameters& p, int64_t n, int64_t c) {
    return p.at("table")[static_cast<size_t>(n * 3 + c)];
  };
  const Field prefix = Number("prefixTokens", 2);
  CheckEmbedding(*Make("learned-grid", {kGrid[0], prefix}), &own, all, 3, row);
  for (const bool antialias : {false, true}) {
    Tensors table;
    table.Add("table", {17, 3}, 1, 10);
    const auto scheme = Make("learned-grid", {kGrid[0], prefix, Number("targetHeight", 2), Number("targetWidth", 4),
                                              Boolean("antialias", antialias)});
    CheckEmbedding(*scheme, &table, {0, 2 + 8, nullptr}, 3, [&](const Parameters& p, int64_t n, int64_t c) {
      if (n < 2) return row(p, n, c);
      double sum = 0;
      for (const Tap& y : BicubicTaps((n - 2) / 4, 3, 2, antialias))
        for (const Tap& x : BicubicTaps((n - 2) % 4, 5, 4, antialias))
          sum += y.share * x.share * row(p, 2 + y.at * 5 + x.at, c);
      return sum;
    });
    const auto values = table.values();
    CHECK(scheme->DefinedLength(values) == 10);
    std::vector<float> out(3);
    CHECK(scheme->AddEmbedding({10, 1, nullptr}, 3, values, out.data()).code() == Code::kNotDefined);
    CHECK(scheme->AddEmbedding({-1, 1, nullptr}, 3, values, out.data()).code() == Code::kNotDefined);
  }
}

TEST_CASE("Bicubic shares add up to one, keep a size that is kept, and widen with antialiasing") {
  for (const bool antialias : {false, true}) {
    for (const auto& [from, to] : {std::pair<int64_t, int64_t>{5, 5}, {14, 37}, {37, 14}, {1, 3}, {3, 1}}) {
      for (int64_t n = 0; n < to; ++n) {
        double sum = 0, centre = 0;
        for (const Tap& tap : BicubicTaps(n, from, to, antialias)) {
          sum += tap.share, centre += tap.share * static_cast<double>(tap.at);
          CHECK((tap.at >= 0 && tap.at < from));
        }
        CHECK(sum == doctest::Approx(1));
        if (from == to) CHECK(centre == doctest::Approx(static_cast<double>(n)));
      }
    }
  }
  CHECK(BicubicTaps(3, 37, 14, false).size() == 4);
  CHECK(BicubicTaps(6, 37, 14, true).size() > 8);
}

TEST_CASE("A learned table is stretched over more positions, its ends staying its ends") {
  Tensors table;
  table.Add("table", {4, 2}, 1, 11);
  CheckEmbedding(*Make("learned", {Number("offset", 1), Number("stretchTo", 5)}), &table, {0, 5, nullptr}, 2,
                 [](const Parameters& p, int64_t n, int64_t c) {
                   const int64_t low = n / 2, rest = n % 2;
                   const auto row = [&](int64_t at) { return p.at("table")[static_cast<size_t>((1 + at) * 2 + c)]; };
                   return rest ? (row(low) + row(low + 1)) / 2 : row(low);
                 });
  const auto values = table.values();
  std::vector<float> out(2);
  const auto scheme = Make("learned", {Number("stretchTo", 5)});
  CHECK(scheme->DefinedLength(values) == 5);
  CHECK(scheme->AddEmbedding({5, 1, nullptr}, 2, values, out.data()).code() == Code::kNotDefined);
}

TEST_CASE("2-D sinusoids: MAE's and DETR's columns") {
  Tensors none;
  const Positions at{2 + 7, 1, nullptr};  // row 1, column 2 after two other tokens
  const std::vector<Field> fields = {kGrid[0], kGrid[1], Number("prefixTokens", 2)};
  CheckEmbedding(*Make("sinusoidal-2d", fields), &none, at, 8, [](const Parameters&, int64_t, int64_t c) {
    const double angle = (c < 4 ? 2 : 1) * std::pow(10000, -static_cast<double>(c % 2) / 2);
    return c % 4 < 2 ? std::sin(angle) : std::cos(angle);
  });
  std::vector<Field> detr = fields;
  for (const auto& [name, text] :
       {std::pair{"layout", "interleaved"}, {"firstAxis", "y"}, {"coordinates", "normalized"}})
    detr.push_back(Text(name, text));
  CheckEmbedding(*Make("sinusoidal-2d", detr), &none, at, 8, [](const Parameters&, int64_t, int64_t c) {
    const double place = 2 * 3.141592653589793 * (c < 4 ? 2 / (3 + 1e-6) : 3 / (5 + 1e-6));
    const double angle = place * std::pow(10000, -static_cast<double>(c % 4 / 2) / 2);
    return c % 2 ? std::cos(angle) : std::sin(angle);
  });
  std::vector<float> row(8, 1);
  REQUIRE(Make("sinusoidal-2d", fields)->AddEmbedding({1, 1, nullptr}, 8, {}, row.data()).ok());
  CHECK(row == std::vector<float>(8, 1));
  CHECK(Make("sinusoidal-2d")->AddEmbedding(at, 6, {}, row.data()).argument() == "dim");
  CHECK(Refusal("sinusoidal-2d", {Text("coordinates", "normalized")}).argument() == "position.gridWidth");
}

}  // namespace
}  // namespace poslab
