// SPDX-License-Identifier: MIT
// Rotations of tokens with several ids: M-RoPE's sections and 2-D axial RoPE. Which pair turns by which axis, and what
// makes them rotations: norms kept, scores of differences only, along each axis.
#include <cmath>

#include "attention/attention.h"
#include "position/inspect.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::NormalNumbers;
using testing::Number;
using testing::Numbers;
using testing::Refusal;
using testing::Text;

using Ids = std::vector<int64_t>;

std::vector<float> Rotated(const Scheme& scheme, const std::vector<float>& x, const Ids& ids) {
  Buffer<float> out;
  const Positions positions{0, 1, ids.data(), static_cast<int64_t>(ids.size())};
  REQUIRE(inspect::Rotate(scheme, 1, 1, static_cast<int64_t>(x.size()), x.data(), positions, &out).ok());
  return {out.begin(), out.end()};
}

// The angle that pair k turned by, with its whole turns lost.
double AngleOf(const Scheme& scheme, int64_t dim, int64_t pair, bool half, const Ids& ids) {
  std::vector<float> x(static_cast<size_t>(dim));
  const auto a = static_cast<size_t>(half ? pair : 2 * pair);
  const auto b = static_cast<size_t>(half ? pair + dim / 2 : 2 * pair + 1);
  x[a] = 1;
  const std::vector<float> y = Rotated(scheme, x, ids);
  return std::atan2(y[b], y[a]);
}

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t n = 0; n < a.size(); ++n) sum += static_cast<double>(a[n]) * b[n];
  return sum;
}

// Ids small enough that no pair goes round.
void CheckAxes(const Scheme& scheme, int64_t dim, bool half, const std::vector<std::pair<int, double>>& pairs) {
  REQUIRE(static_cast<int64_t>(pairs.size()) == dim / 2);
  const Ids ids = {1, 2, 3};
  int axes = 2;
  for (const auto& [axis, frequency] : pairs) axes = std::max(axes, axis + 1);
  for (size_t k = 0; k < pairs.size(); ++k) {
    CAPTURE(k);
    const auto& [axis, frequency] = pairs[k];
    const double expected = static_cast<double>(ids[static_cast<size_t>(axis)]) * frequency;
    const double angle = AngleOf(scheme, dim, static_cast<int64_t>(k), half, Ids(ids.begin(), ids.begin() + axes));
    CHECK(std::fabs(std::remainder(angle - expected, 2 * 3.141592653589793)) < 1e-6);
  }
}

TEST_CASE(
    "Sections give pairs to axes one after the other, interleaved ones in turns, with the frequencies of one axis") {
  const auto f = [](int k) { return std::pow(10000, -2.0 * k / 16); };
  CheckAxes(*Make("rope", {Numbers("sections", {2, 3, 3})}), 16, true,
            {{0, f(0)}, {0, f(1)}, {1, f(2)}, {1, f(3)}, {1, f(4)}, {2, f(5)}, {2, f(6)}, {2, f(7)}});
  CheckAxes(*Make("rope", {Numbers("sections", {4, 2, 2}), Text("sectionOrder", "interleaved")}), 16, true,
            {{0, f(0)}, {1, f(1)}, {2, f(2)}, {0, f(3)}, {1, f(4)}, {2, f(5)}, {0, f(6)}, {0, f(7)}});
}

TEST_CASE("2-D axial RoPE: which pair turns by the row and which by the column, in every layout") {
  const auto restart = [](int m) { return std::pow(100, -2.0 * m / 8); };
  const auto split = [](int k) { return std::pow(100, -2.0 * k / 16); };
  const Field theta = Number("theta", 100), alternating = Text("order", "alternating"),
              by_parity = Text("frequencies", "split"), x_first = Text("firstAxis", "x");
  CheckAxes(*Make("axial-rope", {theta}), 16, true,
            {{0, restart(0)},
             {0, restart(1)},
             {0, restart(2)},
             {0, restart(3)},
             {1, restart(0)},
             {1, restart(1)},
             {1, restart(2)},
             {1, restart(3)}});
  CheckAxes(*Make("axial-rope", {theta, by_parity}), 16, true,
            {{0, split(0)},
             {0, split(2)},
             {0, split(4)},
             {0, split(6)},
             {1, split(1)},
             {1, split(3)},
             {1, split(5)},
             {1, split(7)}});
  CheckAxes(*Make("axial-rope", {theta, alternating, by_parity}), 16, true,
            {{0, split(0)},
             {1, split(1)},
             {0, split(2)},
             {1, split(3)},
             {0, split(4)},
             {1, split(5)},
             {0, split(6)},
             {1, split(7)}});
  CheckAxes(*Make("axial-rope", {theta, alternating, x_first, Text("layout", "interleaved")}), 16, false,
            {{1, restart(0)},
             {0, restart(0)},
             {1, restart(1)},
             {0, restart(1)},
             {1, restart(2)},
             {0, restart(2)},
             {1, restart(3)},
             {0, restart(3)}});
}

TEST_CASE("Normalized coordinates are the middles of the cells of a grid from -1 to 1, whatever its size") {
  const auto scheme = Make("axial-rope", {Number("theta", 100), Text("coordinates", "normalized"),
                                          Number("gridHeight", 4), Number("gridWidth", 2)});
  const double y = 2 * (2 + 0.5) / 4 - 1, x = 2 * (1 + 0.5) / 2 - 1, pi = 3.141592653589793;
  CHECK(AngleOf(*scheme, 8, 0, true, {2, 1}) == doctest::Approx(2 * pi * y));
  CHECK(AngleOf(*scheme, 8, 1, true, {2, 1}) == doctest::Approx(2 * pi * y / 10));
  CHECK(std::fabs(AngleOf(*scheme, 8, 2, true, {2, 1})) == doctest::Approx(2 * pi * x));
  CHECK(AngleOf(*scheme, 8, 3, true, {2, 1}) == doctest::Approx(2 * pi * x / 10));
}

TEST_CASE("One id a token is that of every axis, where frequencies learn as well") {
  const auto scheme = Make("rope", {Numbers("sections", {1, 1, 2}), testing::Boolean("learnedFrequencies", true)});
  testing::Tensors factors;
  factors.Add("frequencyFactors", {4}, std::vector<float>(4, 1.f));
  const auto values = factors.values();
  const std::vector<float> rows = NormalNumbers(3 * 8, 7), sums(3, 0.f);
  std::vector<double> gradients[2];
  for (const bool each : {false, true}) {
    const Ids ids = each ? Ids{4, 4, 4, 0, 0, 0, 7, 7, 7} : Ids{4, 0, 7};
    BindArguments call = testing::Call(1, 8, 3, 3);
    call.parameters = values;
    call.query_positions = call.key_positions = {0, 3, ids.data(), each ? 3 : 1};
    Hooks hooks;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    AttentionArguments arguments;
    arguments.query = arguments.key = arguments.value = HeadsView<const float>::Packed(rows.data(), 1, 3, 8);
    arguments.hooks = &hooks;
    arguments.query_positions = call.query_positions, arguments.key_positions = call.key_positions;
    std::vector<float> query(24), key(24), value(24);
    AttentionGradients to;
    to.query = HeadsView<float>::Packed(query.data(), 1, 3, 8);
    to.key = HeadsView<float>::Packed(key.data(), 1, 3, 8), to.value = HeadsView<float>::Packed(value.data(), 1, 3, 8);
    HookGradients learned;
    to.hooks = &learned;
    AttentionWorkspace workspace;
    REQUIRE(AttentionBackward(arguments, {arguments.query, sums.data(), arguments.query}, &to, &workspace).ok());
    gradients[each].assign(learned.rotation.begin(), learned.rotation.end());
  }
  CHECK(gradients[0].size() == 4);
  CHECK(gradients[0] == gradients[1]);
}

TEST_CASE("Norms are kept, and scores depend on the difference along each axis") {
  const std::vector<float> query = NormalNumbers(24, 5), key = NormalNumbers(24, 6);
  const double size = std::sqrt(Dot(query, query) * Dot(key, key));
  struct {
    std::unique_ptr<Scheme> scheme;
    size_t axes;
  } const all[] = {
      {Make("rope", {Numbers("sections", {4, 4, 4})}), 3},
      {Make("rope",
            {Numbers("sections", {6, 3, 3}), Text("sectionOrder", "interleaved"), Text("layout", "interleaved")}),
       3},
      {Make("axial-rope"), 2},
      {Make("axial-rope", {Text("order", "alternating"), Text("frequencies", "split"), Number("rotaryDim", 16)}), 2},
      {Make("axial-rope", {Text("coordinates", "normalized"), Number("gridHeight", 7), Number("gridWidth", 30)}), 2},
  };
  for (const auto& [scheme, axes] : all) {
    Ids at_query = {5, 2, 9}, at_key = {1, 6, 4};
    at_query.resize(axes), at_key.resize(axes);
    const double score = Dot(Rotated(*scheme, query, at_query), Rotated(*scheme, key, at_key));
    for (size_t axis = 0; axis < axes; ++axis) {
      Ids shifted_query = at_query, shifted_key = at_key;
      shifted_query[axis] += 11, shifted_key[axis] += 11;
      const std::vector<float> turned = Rotated(*scheme, query, shifted_query);
      CHECK(Dot(turned, turned) == doctest::Approx(Dot(query, query)));
      // Each turned lane is within 4 * 2^-24 of the pair's size, as in rope_test.
      CHECK(std::fabs(Dot(turned, Rotated(*scheme, key, shifted_key)) - score) <= size * 16 * 0x1p-24);
      // And the axis does count.
      CHECK(std::fabs(Dot(turned, Rotated(*scheme, key, at_key)) - score) > 1e-5 * size);
    }
  }
}

TEST_CASE("A text under M-RoPE is a text under RoPE") {
  const std::vector<float> x = NormalNumbers(5 * 16, 7);
  Buffer<float> plain, sections, by_id;
  const Positions text{100, 5, nullptr};
  Ids ids;
  for (int64_t n = 0; n < 5; ++n) ids.insert(ids.end(), 3, 100 + n);
  const auto mrope = Make("rope", {Numbers("sections", {2, 3, 3})});
  REQUIRE(inspect::Rotate(*Make("rope"), 1, 5, 16, x.data(), text, &plain).ok());
  REQUIRE(inspect::Rotate(*mrope, 1, 5, 16, x.data(), text, &sections).ok());
  REQUIRE(inspect::Rotate(*mrope, 1, 5, 16, x.data(), {0, 5, ids.data(), 3}, &by_id).ok());
  for (int64_t n = 0; n < plain.size(); ++n) {
    CHECK(plain[n] == sections[n]);
    CHECK(plain[n] == doctest::Approx(by_id[n]).epsilon(1e-6));
  }
}

TEST_CASE("One id a token is laid on the grid row by row, after tokens that are on no place of it") {
  const std::vector<float> x = NormalNumbers(8, 8);
  const auto scheme = Make("axial-rope", {Number("gridWidth", 3), Number("prefixTokens", 2)});
  CHECK(Rotated(*scheme, x, {1}) == x);
  CHECK(Rotated(*scheme, x, {2}) == Rotated(*scheme, x, {0, 0}));
  CHECK(Rotated(*scheme, x, {9}) == Rotated(*scheme, x, {2, 1}));
  CHECK(Rotated(*Make("axial-rope"), x, {9}) == Rotated(*scheme, x, {0, 9}));
  CHECK(Rotated(*Make("axial-rope", {Number("gridWidth", 3)}), x, {-1}) == Rotated(*scheme, x, {-1, 2}));
}

TEST_CASE("What does not fit is refused by name") {
  Buffer<float> out;
  const std::vector<float> x(12);
  const Ids ids(6);
  const auto refusal = [&](const Scheme& scheme, int64_t dim, int64_t axes) {
    return inspect::Rotate(scheme, 1, 1, dim, x.data(), {0, 1, ids.data(), axes}, &out);
  };
  CHECK(refusal(*Make("rope"), 8, 2).argument() == "positions");
  CHECK(refusal(*Make("rope", {Numbers("sections", {1, 1, 2})}), 8, 2).code() == Code::kShape);
  CHECK(refusal(*Make("rope", {Numbers("sections", {1, 1, 1})}), 8, 3).argument() == "position.sections");
  CHECK(
      refusal(*Make("rope", {Numbers("sections", {1, 2, 1}), Text("sectionOrder", "interleaved")}), 8, 3).argument() ==
      "position.sections");
  CHECK(refusal(*Make("axial-rope"), 6, 2).argument() == "headDim");
  CHECK(refusal(*Make("axial-rope", {Text("coordinates", "normalized")}), 8, 2).argument() == "position.gridWidth");
  CHECK(Refusal("rope", {Text("sectionOrder", "interleaved")}).argument() == "position.sections");
  CHECK(Refusal("axial-rope", {Number("rotaryDim", 3)}).argument() == "position.rotaryDim");
}

}  // namespace
}  // namespace poslab
