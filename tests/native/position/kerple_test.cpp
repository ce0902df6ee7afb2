// SPDX-License-Identifier: MIT
// KERPLE: its two kernels, that they fall with the distance, and their gradients.
#include <cmath>
#include <functional>

#include "position/inspect.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::Tensors;
using testing::Text;

double Kernel(const std::string& kind, double r1, double r2, int64_t distance) {
  const double d = std::fabs(static_cast<double>(distance));
  if (kind == "log") return -r1 * std::log(1 + r2 * d);
  return d == 0 ? 0 : -r1 * std::pow(d, r2);
}

Tensors Positive() {
  Tensors tensors;
  tensors.Add("r1", {2}, std::vector<float>{1.5f, 0.3f});
  tensors.Add("r2", {2}, std::vector<float>{0.7f, 0.01f});
  return tensors;
}

TEST_CASE("The bias is the kernel of the distance, symmetric, the same along diagonals and falling") {
  for (const char* kind : {"log", "power"}) {
    const Tensors tensors = Positive();
    const auto values = tensors.values();
    inspect::BiasArguments arguments;
    arguments.heads = 2, arguments.query_length = 6, arguments.key_length = 15, arguments.parameters = values;
    Buffer<float> bias;
    REQUIRE(inspect::Bias(*Make("kerple", {Text("kind", kind)}), arguments, &bias).ok());
    for (int64_t h = 0; h < 2; ++h) {
      const double r1 = values[0].data[h], r2 = values[1].data[h];
      for (int64_t i = 0; i < 6; ++i) {
        for (int64_t j = 0; j < 15; ++j) {
          const float at = bias[(h * 6 + i) * 15 + j];
          CHECK(at == static_cast<float>(Kernel(kind, r1, r2, j - i - 9)));
          if (i > 0 && j > 0) CHECK(at == bias[(h * 6 + i - 1) * 15 + j - 1]);
          if (j > 0 && j <= i + 9) CHECK(at > bias[(h * 6 + i) * 15 + j - 1]);
        }
      }
    }
  }
}

TEST_CASE("The gradients of r1 and r2 are those of finite differences in double") {
  for (const char* kind : {"log", "power"}) {
    Tensors tensors = Positive();
    const auto scheme = Make("kerple", {Text("kind", kind)});
    BindArguments call = testing::Call(2, 8, 20, 20);
    const auto values = tensors.values();
    call.parameters = values;
    constexpr int64_t kFirst = -19, kCount = 39;
    const std::vector<float> weights = testing::NormalNumbers(2 * kCount, 5);
    const std::vector<double> gradient(weights.begin(), weights.end());
    Hooks hooks;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    for (int64_t h = 0; h < 2; ++h) hooks.slice->Accumulate(h, kFirst, kCount, gradient.data() + h * kCount);
    REQUIRE(scheme->Pull(call, hooks, {}, tensors.gradients()).ok());
    for (size_t h = 0; h < 2; ++h) {
      const double r1 = values[0].data[h], r2 = values[1].data[h];
      const auto loss = [&](double a, double b) {
        double sum = 0;
        for (int64_t n = 0; n < kCount; ++n)
          sum += gradient[h * kCount + static_cast<size_t>(n)] * Kernel(kind, a, b, kFirst + n);
        return sum;
      };
      // Central differences with step 1e-5: error 1e-10 times the third derivative (below 1e4 here at r2 = 0.01 of the
      // log kernel), and the float that the gradient is stored in.
      constexpr double kStep = 1e-5;
      const double by_r1 = (loss(r1 + kStep, r2) - loss(r1 - kStep, r2)) / (2 * kStep);
      const double by_r2 = (loss(r1, r2 + kStep) - loss(r1, r2 - kStep)) / (2 * kStep);
      CHECK(tensors.gradient("r1")[h] == doctest::Approx(by_r1).epsilon(1e-5));
      CHECK(tensors.gradient("r2")[h] == doctest::Approx(by_r2).epsilon(1e-5));
    }
  }
}

TEST_CASE("KERPLE starts uniformly and is kept at or above 0.01") {
  Dimensions dimensions;
  dimensions.heads = 4;
  const auto specs = Make("kerple")->Parameters(dimensions);
  REQUIRE(specs.ok());
  REQUIRE(specs->size() == 2);
  for (const ParameterSpec& spec : *specs) {
    CHECK(spec.shape == std::vector<int64_t>{4});
    CHECK(spec.start.kind == Start::Kind::kUniform);
    CHECK(spec.start.a == 0);
    CHECK(spec.start.b == (spec.name == "r1" ? 2 : 1));
    CHECK(spec.minimum == 0.01f);
    CHECK_FALSE(spec.shared_by_layers);
    CHECK_FALSE(spec.decay);
  }
}

TEST_CASE("Parameters that are negative or NaN are refused by name") {
  const auto scheme = Make("kerple");
  for (float bad : {-0.1f, std::nanf("")}) {
    Tensors tensors;
    tensors.Add("r1", {1}, std::vector<float>{1});
    tensors.Add("r2", {1}, std::vector<float>{bad});
    const auto values = tensors.values();
    BindArguments call = testing::Call(1, 8, 2, 2);
    call.parameters = values;
    Hooks hooks;
    const Status status = scheme->Bind(call, &hooks);
    CHECK(status.code() == Code::kRange);
    CHECK(status.argument() == "position.r2");
  }
}

}  // namespace
}  // namespace poslab
