// SPDX-License-Identifier: MIT
// Shaw's bands: shapes, clipping, and gradients that go straight to the tables.
#include <algorithm>

#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::Number;
using testing::Tensors;

TEST_CASE("Distances are clipped to the ends of the table") {
  const auto scheme = Make("shaw", {Number("maxDistance", 3)});
  Tensors tensors;
  tensors.Add("keys", {7, 4}, 1, 1);
  const auto values = tensors.values();
  BindArguments call = testing::Call(2, 4, 5, 20);
  call.parameters = values;
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  REQUIRE(hooks.score_band);
  CHECK_FALSE(hooks.value_band);
  const Band& band = *hooks.score_band;
  CHECK(band.side == Band::Side::kQuery);
  CHECK(band.first == -3);
  CHECK(band.rows == 7);
  CHECK(band.width == 4);
  CHECK_FALSE(band.per_head);
  CHECK(band.bias == nullptr);
  // The row of a distance by the band's rule is (j - i) + k, clipped.
  for (int64_t distance = -10; distance <= 10; ++distance) {
    const int64_t row = std::clamp(distance, band.first, band.first + band.rows - 1) - band.first;
    CHECK(band.table + row * band.width ==
          tensors.numbers("keys").data() + (std::clamp<int64_t>(distance, -3, 3) + 3) * 4);
  }
}

TEST_CASE("Tables may be shared or one a head, and values are optional and as wide as a value") {
  const auto scheme = Make("shaw", {Number("maxDistance", 1)});
  Tensors tensors;
  tensors.Add("keys", {2, 3, 4}, 1, 1);
  tensors.Add("values", {3, 6}, 1, 2);
  const auto values = tensors.values();
  BindArguments call = testing::Call(2, 4, 3, 3);
  call.dimensions.value_dim = 6;
  call.parameters = values;
  CHECK(scheme->CheckParameters(call.dimensions, values).ok());
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.score_band->per_head);
  CHECK_FALSE(hooks.value_band->per_head);
  CHECK(hooks.value_band->width == 6);

  const auto refused = [&](std::vector<int64_t> shape) {
    Tensors bad;
    bad.Add("keys", shape, 1, 1);
    return scheme->CheckParameters(call.dimensions, bad.values());
  };
  CHECK(refused({3, 5}).code() == Code::kShape);
  CHECK(refused({4, 4}).argument() == "position.keys");
  CHECK(refused({3, 3, 4}).code() == Code::kShape);
  CHECK(scheme->CheckParameters(call.dimensions, {}).code() == Code::kMissing);
  Tensors unknown;
  unknown.Add("keys", {3, 4}, 1, 1);
  unknown.Add("key", {3, 4}, 1, 1);
  CHECK(scheme->CheckParameters(call.dimensions, unknown.values()).suggestion() == "keys");
}

TEST_CASE("What is learned from nothing: keys and values, shared by heads, distance 16") {
  Dimensions dimensions;
  dimensions.heads = 4, dimensions.head_dim = 16, dimensions.value_dim = 8;
  const auto specs = Make("shaw")->Parameters(dimensions);
  REQUIRE(specs.ok());
  REQUIRE(specs->size() == 2);
  CHECK((*specs)[0].name == "keys");
  CHECK((*specs)[0].shape == std::vector<int64_t>{33, 16});
  CHECK((*specs)[1].name == "values");
  CHECK((*specs)[1].shape == std::vector<int64_t>{33, 8});
  for (const ParameterSpec& spec : *specs) {
    CHECK(spec.start.kind == Start::Kind::kNormal);
    CHECK(spec.start.a == 0.02);
    CHECK_FALSE(spec.decay);
    CHECK_FALSE(spec.shared_by_layers);
  }
}

TEST_CASE("Gradients of the bands are added to those of the tables") {
  const auto scheme = Make("shaw", {Number("maxDistance", 1)});
  Tensors tensors;
  tensors.Add("keys", {3, 2}, 1, 1);
  tensors.Add("values", {3, 2}, 1, 2);
  const auto values = tensors.values();
  BindArguments call = testing::Call(1, 2, 3, 3);
  call.parameters = values;
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  HookGradients gradients;
  REQUIRE(gradients.score_band_table.Resize("test", 6).ok());
  REQUIRE(gradients.value_band_table.Resize("test", 6).ok());
  for (int64_t n = 0; n < 6; ++n)
    gradients.score_band_table[n] = static_cast<float>(n), gradients.value_band_table[n] = 10;
  for (int twice = 0; twice < 2; ++twice) REQUIRE(scheme->Pull(call, hooks, gradients, tensors.gradients()).ok());
  CHECK(tensors.gradient("keys") == std::vector<float>{0, 2, 4, 6, 8, 10});
  CHECK(tensors.gradient("values") == std::vector<float>(6, 20));
}

}  // namespace
}  // namespace poslab
