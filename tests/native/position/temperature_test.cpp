// SPDX-License-Identifier: MIT
// Temperatures that grow with the position, layers that do not turn, and learned frequencies.
#include <cmath>

#include "position/turn.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Boolean;
using testing::Make;
using testing::Number;
using testing::Refusal;
using testing::Text;

float FactorAt(const Scheme& scheme, int64_t position, int64_t trained_length = 0) {
  BindArguments call = testing::Call(1, 4, 1, 1);
  call.dimensions.trained_length = trained_length;
  call.query_positions = {position, 1, nullptr};
  Hooks hooks;
  REQUIRE(scheme.Bind(call, &hooks).ok());
  return hooks.temperature ? hooks.temperature->by_query[0] : 1;
}

TEST_CASE("Llama 4 warms up in steps of 8192") {
  const auto scheme = Make("none", {Text("temperature.kind", "llama4")});
  CHECK(FactorAt(*scheme, 8190) == 1);
  CHECK(FactorAt(*scheme, 8191) == doctest::Approx(1.069314718));
  CHECK(FactorAt(*scheme, 131071) == doctest::Approx(1.283321334));
}

TEST_CASE("log-n is 1 up to the trained length and follows the logarithm beyond") {
  const auto scheme = Make("rope", {Text("temperature.kind", "log-n")});
  CHECK(FactorAt(*scheme, 10, 64) == 1);
  CHECK(FactorAt(*scheme, 63, 64) == 1);
  CHECK(FactorAt(*scheme, 4095, 64) == doctest::Approx(2));
  BindArguments call = testing::Call(1, 4, 1, 1);
  Hooks hooks;
  CHECK(scheme->Bind(call, &hooks).argument() == "position.temperature.length");
}

TEST_CASE("Temperatures refuse fields of other kinds") {
  CHECK(Refusal("none", {Number("temperature.length", 8)}).code() == Code::kContradiction);
  CHECK(Refusal("rope", {Text("temperature.kind", "ssmax"), Number("temperature.scale", 1)}).argument() ==
        "position.temperature.scale");
  CHECK(Refusal("rope", {Text("temperature.kind", "cold")}).code() == Code::kUnknownName);
}

TEST_CASE("Every n-th layer does not turn, and alone has Llama 4's temperature") {
  const auto scheme = Make("rope", {Number("noRopeLayerInterval", 4), Text("temperature.kind", "llama4")});
  for (int64_t layer = 0; layer < 8; ++layer) {
    BindArguments call = testing::Call(1, 4, 2, 2);
    call.dimensions.layer = layer;
    Hooks hooks;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    CHECK((hooks.rotation == nullptr) == (layer % 4 == 3));
    CHECK((hooks.temperature != nullptr) == (layer % 4 == 3));
  }
}

TEST_CASE("Learned frequencies are multiplied by their factors") {
  const auto scheme = Make("rope", {Boolean("learnedFrequencies", true)});
  testing::Tensors tensors;
  tensors.Add("frequencyFactors", {2}, std::vector<float>{0.5f, 3});
  BindArguments call = testing::Call(1, 4, 3, 3);
  const auto values = tensors.values();
  call.parameters = values;
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  REQUIRE(hooks.rotation->learns);
  const Turn turn = KeyTurn(*hooks.rotation, 2);
  CHECK(turn.cos[0] == doctest::Approx(std::cos(2 * 0.5)));
  CHECK(turn.sin[1] == doctest::Approx(std::sin(2 * 0.01 * 3)));
}

}  // namespace
}  // namespace poslab
