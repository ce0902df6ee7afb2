// SPDX-License-Identifier: MIT
// FIRE: its formula and gradients, and that the distance is seen as a share of the query's own reach.
#include <algorithm>
#include <cmath>

#include "bias_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::Number;
using testing::Parameters;
using testing::Tensors;

constexpr double kThreshold = 20;

double Fire(const Parameters& p, int64_t h, int64_t i, int64_t j) {
  const double c = p.at("c")[0], threshold = std::fabs(p.at("lengthFactor")[0] * kThreshold);
  const double reach = std::max(static_cast<double>(i), threshold);
  const double x =
      std::log(std::fabs(c * static_cast<double>(i - j)) + 1) / (std::log(std::fabs(c * reach) + 1) + 1e-6);
  double sum = p.at("bias2")[static_cast<size_t>(h)];
  const size_t width = p.at("bias1").size();
  for (size_t n = 0; n < width; ++n)
    sum +=
        p.at("weight2")[static_cast<size_t>(h) * width + n] * std::max(0.0, p.at("weight1")[n] * x + p.at("bias1")[n]);
  return sum;
}

Tensors Tensor(float c, float factor) {
  Tensors tensors;
  tensors.Add("c", {1}, std::vector<float>{c});
  tensors.Add("lengthFactor", {1}, std::vector<float>{factor});
  tensors.Add("weight1", {8, 1}, 1, 1);
  tensors.Add("bias1", {8}, 0.4, 2);
  tensors.Add("weight2", {2, 8}, 1, 3);
  tensors.Add("bias2", {2}, 1, 4);
  return tensors;
}

TEST_CASE("FIRE is the perceptron of the normalized logarithm, with gradients for c and the threshold") {
  const auto scheme = Make("fire", {Number("width", 8), Number("threshold", kThreshold)});
  // Queries before and after the threshold, which lies between positions; ids that do not step by one; signs that the absolute values undo.
  constexpr int64_t kIds[] = {2, 40, 41, 7, 90};
  for (const auto& [c, factor] : {std::pair{0.3f, 0.91f}, std::pair{-0.2f, -0.72f}}) {
    Tensors tensors = Tensor(c, factor), again = Tensor(c, factor);
    testing::CheckBias(*scheme, &tensors, 2, {5, 40, nullptr}, {0, 45, nullptr}, Fire);
    testing::CheckBias(*scheme, &again, 2, {0, 5, kIds}, {0, 45, nullptr}, Fire);
  }
}

TEST_CASE("FIRE sees the first key of every long text at the same share of the way") {
  const auto scheme = Make("fire", {Number("width", 8), Number("threshold", kThreshold)});
  const Tensors tensors = Tensor(0.3f, 1);
  const auto values = tensors.values();
  std::vector<float> first;
  for (const int64_t i : {30, 3000, 3000000}) {
    BindArguments call;
    call.dimensions.heads = 2;
    call.query_positions = {i, 1, nullptr}, call.key_positions = {0, 1, nullptr};
    call.parameters = values;
    Hooks hooks;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    float logit = 0;
    TileArguments tile;
    tile.queries = tile.keys = tile.stride = 1;
    tile.query_positions = call.query_positions, tile.key_positions = call.key_positions;
    tile.logits = &logit;
    REQUIRE(hooks.tile->Forward(tile).ok());
    first.push_back(logit);
  }
  // ln(c i + 1) over itself plus 1e-6.
  CHECK(first[1] == doctest::Approx(first[0]).epsilon(1e-5));
  CHECK(first[2] == doctest::Approx(first[0]).epsilon(1e-5));
}

}  // namespace
}  // namespace poslab
