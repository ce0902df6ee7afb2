// SPDX-License-Identifier: MIT
// Sandwich, TISA, the clipped scalar table and dynamic position bias: their formulas, gradients and defining properties.
#include <algorithm>
#include <cmath>

#include "bias_support.h"
#include "position/inspect.h"

namespace poslab {
namespace {

using testing::BiasFormula;
using testing::CheckBias;
using testing::Make;
using testing::Number;
using testing::Parameters;
using testing::Refusal;
using testing::Tensors;
using testing::Text;

constexpr Positions kQueries{9, 6, nullptr}, kKeys{0, 15, nullptr};
// Wider apart than any table that is made.
constexpr int64_t kFarIds[] = {3, -200000, 5, 70001, 12};
constexpr Positions kFar{0, 5, kFarIds};

void CheckEverywhere(const Scheme& scheme, const Tensors& tensors, int64_t heads, const BiasFormula& formula) {
  for (const auto& [queries, keys] : {std::pair{kQueries, kKeys}, std::pair{kFar, kKeys}}) {
    Tensors own = tensors;
    CheckBias(scheme, &own, heads, queries, keys, formula);
  }
}

TEST_CASE("Sandwich is the product of two sinusoidal vectors, shared out over the heads") {
  const BiasFormula formula = [](const Parameters&, int64_t h, int64_t i, int64_t j) {
    double sum = 0;
    for (int k = 0; k < 64; ++k) sum += std::cos(static_cast<double>(j - i) * std::pow(10000, -2.0 * k / 128));
    return sum / (8 * static_cast<double>(h + 1) / 4);
  };
  CheckEverywhere(*Make("sandwich"), {}, 4, formula);
}

TEST_CASE("Sandwich is symmetric, highest at distance 0, and falls fastest in the first head") {
  Buffer<float> bias;
  inspect::BiasArguments arguments;
  arguments.heads = 8, arguments.query_length = 1, arguments.key_length = 5;
  REQUIRE(inspect::Bias(*Make("sandwich"), arguments, &bias).ok());
  CHECK(bias[7 * 5 + 3] == doctest::Approx(62.0936838 / 8));
  for (int64_t h = 0; h < 8; ++h) {
    CHECK(bias[h * 5 + 4] == doctest::Approx(64.0 / static_cast<double>(h + 1)));
    for (int64_t j = 0; j < 4; ++j) CHECK(bias[h * 5 + j] < bias[h * 5 + j + 1]);
  }
  CHECK(Refusal("sandwich", {Number("dim", 3)}).argument() == "position.dim");
}

TEST_CASE("TISA is a sum of bells around learned distances") {
  const BiasFormula formula = [](const Parameters& p, int64_t h, int64_t i, int64_t j) {
    double sum = 0;
    for (size_t s = 0; s < 3; ++s) {
      const size_t n = static_cast<size_t>(h) * 3 + s;
      const double away = static_cast<double>(j - i) - p.at("offsets")[n];
      sum += p.at("amplitudes")[n] * std::exp(-std::fabs(p.at("sharpnesses")[n]) * away * away);
    }
    return sum;
  };
  Tensors tensors;
  tensors.Add("amplitudes", {2, 3}, 1, 1);
  tensors.Add("sharpnesses", {2, 3}, std::vector<float>{0.1f, -0.3f, 0.02f, 0.5f, -0.05f, 0.2f});
  tensors.Add("offsets", {2, 3}, 4, 3);
  CheckEverywhere(*Make("tisa", {Number("kernels", 3)}), tensors, 2, formula);
}

TEST_CASE("The scalar table gives a number a clipped distance and head") {
  const BiasFormula formula = [](const Parameters& p, int64_t h, int64_t i, int64_t j) {
    const int64_t row = std::clamp<int64_t>(j - i, -4, 4) + 4;
    return p.at("table")[static_cast<size_t>(row * 2 + h)];
  };
  Tensors tensors;
  tensors.Add("table", {9, 2}, 1, 1);
  CheckEverywhere(*Make("relative-scalar", {Number("maxDistance", 4)}), tensors, 2, formula);
}

// A linear layer, with SiLU where more layers follow.
std::vector<double> Layer(const Parameters& p, const std::string& number, const std::vector<double>& x, bool last) {
  const std::vector<double>&weight = p.at("weight" + number), &bias = p.at("bias" + number);
  std::vector<double> y = bias;
  for (size_t n = 0; n < y.size(); ++n) {
    for (size_t m = 0; m < x.size(); ++m) y[n] += weight[n * x.size() + m] * x[m];
    if (!last) y[n] *= 1 / (1 + std::exp(-y[n]));
  }
  return y;
}

TEST_CASE("Dynamic position bias is a perceptron of the signed distance i - j, or of its logarithm") {
  for (const bool by_logarithm : {false, true}) {
    const BiasFormula formula = [=](const Parameters& p, int64_t h, int64_t i, int64_t j) {
      double x = static_cast<double>(i - j);
      if (by_logarithm) x = (x < 0 ? -1 : 1) * std::log(std::fabs(x) + 1);
      return Layer(p, "3", Layer(p, "2", Layer(p, "1", {x}, false), false), true)[static_cast<size_t>(h)];
    };
    Tensors tensors;
    tensors.Add("weight1", {5, 1}, 0.3, 1);
    tensors.Add("bias1", {5}, 0.5, 2);
    tensors.Add("weight2", {5, 5}, 0.5, 3);
    tensors.Add("bias2", {5}, 0.5, 4);
    tensors.Add("weight3", {2, 5}, 0.5, 5);
    tensors.Add("bias3", {2}, 0.5, 6);
    const auto scheme = Make("dynamic-bias", {Number("width", 5), Text("distance", by_logarithm ? "log" : "linear")});
    if (by_logarithm) {
      CheckEverywhere(*scheme, tensors, 2, formula);
    } else {
      CheckBias(*scheme, &tensors, 2, kQueries, kKeys, formula);
    }
  }
}

TEST_CASE("Schemes of the distance ask for their tensors by name and shape") {
  Dimensions dimensions;
  CHECK(Make("tisa")->Parameters(dimensions).status().code() == Code::kMissing);
  dimensions.heads = 2;
  CHECK(Make("dynamic-bias", {Number("depth", 1)})->Parameters(dimensions)->size() == 4);
  Tensors tensors;
  tensors.Add("table", {9, 3}, 1, 1);
  BindArguments call = testing::Call(2, 8, 4, 4);
  const auto values = tensors.values();
  call.parameters = values;
  Hooks hooks;
  const Status status = Make("relative-scalar", {Number("maxDistance", 4)})->Bind(call, &hooks);
  CHECK(status.code() == Code::kShape);
  CHECK(status.argument() == "position.table");
}

}  // namespace
}  // namespace poslab
