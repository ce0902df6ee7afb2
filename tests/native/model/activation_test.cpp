// SPDX-License-Identifier: MIT
// The vector kernels of the activations against libm in double, and the reference's derivative against differences.
#include "model/activation.h"

#include <doctest/doctest.h>
#include <cmath>
#include <limits>
#include <vector>

#include "base/exponential.h"
#include "model/random_rows.h"

using namespace poslab;
using Activation = ModelDescription::Activation;

namespace {

constexpr double kUnit = 0x1p-24;
const Activation kAll[] = {Activation::kGelu,    Activation::kRelu,        Activation::kSilu,
                           Activation::kGeluErf, Activation::kReluSquared, Activation::kGeluQuick};

std::vector<float> Sweep() {
  std::vector<float> x = {0.0f, -0.0f, 1e-30f, -1e-30f, 100, -100, 1e4f, -1e4f};
  for (int n = -4000; n <= 4000; ++n) x.push_back(static_cast<float>(n) * 0.005f);  // -20 to 20
  return x;
}

}  // namespace

TEST_CASE("Activations and their derivatives stay near the double reference") {
  const std::vector<float> x = Sweep();
  const auto count = static_cast<int64_t>(x.size());
  std::vector<float> y(x.size()), slope(x.size());
  std::vector<double> expected(x.size()), expected_slope(x.size());
  for (Activation kind : kAll) {
    ActivationForward(kind, count, x.data(), y.data(), slope.data());
    ActivationReference(kind, count, x.data(), expected.data(), expected_slope.data());
    for (size_t n = 0; n < x.size(); ++n) {
      // s = 1 / (1 + e), e = exp(-z): z is off by some 4 roundings of |z|, which changes e by that factor; then the
      // exponential's own error, a sum, a quotient, a product. Where e is large the whole is small: |x| e^-|z| |z| < 1.
      const double size = std::abs(static_cast<double>(x[n]));
      double z = kind == Activation::kGelu ? 1.6 * size * (1 + 0.045 * size * size) : size;
      if (kind == Activation::kGeluQuick) z *= 1.702;
      const double relative = kExpRelativeError + (4 * z + 4) * kUnit;
      CAPTURE(static_cast<int>(kind));
      CAPTURE(x[n]);
      // 1 + tanh in the reference cancels: there it is only good to a rounding of 1 in double.
      // The formula for erf is off by 1.5e-7 wherever it is, in P and so in both results.
      const double floor = kind == Activation::kGeluErf ? 2.5e-7 : 0x1p-52;
      CHECK(std::abs(y[n] - expected[n]) <= relative * std::abs(expected[n]) + size * floor);
      // f' = s + x s (1 - s) z': each part with the error above, the second up to 1.2 large (z' x s (1 - s)).
      const double parts = std::abs(expected_slope[n]) + 2 * std::exp(-z / 2) * (1 + z);
      CHECK(std::abs(slope[n] - expected_slope[n]) <= 2 * relative * parts + (1 + size * size * size) * floor);
    }
  }
}

TEST_CASE("The reference's derivatives match central differences") {
  const double h = 1e-3;
  for (Activation kind : kAll)
    for (double v : {-3.0, -0.7, 0.4, 2.5}) {
      // The reference takes floats: use the steps that floats really make.
      const float points[3] = {static_cast<float>(v - h), static_cast<float>(v), static_cast<float>(v + h)};
      double y[3], slope[3];
      ActivationReference(kind, 3, points, y, slope);
      const double measured = (y[2] - y[0]) / (static_cast<double>(points[2]) - points[0]);
      CHECK(std::abs(measured - slope[1]) <= 2e-6);  // h^2 / 6 times a third derivative below 5, and the uneven step
    }
}

TEST_CASE("A value does not depend on where in an array it stands, in place or not") {
  for (Activation kind : kAll)
    for (int64_t count : {1, 2, 3, 4, 5, 7, 8, 9}) {
      for (int64_t shift : {0, 1, 2, 3}) {
        const std::vector<float> x = poslab_test::RandomRows(count + shift, 9, 2);
        std::vector<float> y(count), slope(count), in_place(x.begin() + shift, x.end());
        ActivationForward(kind, count, x.data() + shift, y.data(), slope.data());
        std::vector<float> value(count);
        ActivationForward(kind, count, in_place.data(), value.data(), in_place.data());
        for (int64_t n = 0; n < count; ++n) {
          float alone, slope_alone;
          ActivationForward(kind, 1, x.data() + shift + n, &alone, &slope_alone);
          REQUIRE(y[n] == alone);
          REQUIRE(value[n] == alone);
          REQUIRE(slope[n] == slope_alone);
          REQUIRE(in_place[n] == slope_alone);
        }
      }
    }
}

TEST_CASE("Not-a-number goes through the smooth activations, so that a diverged run is seen") {
  const float x = std::numeric_limits<float>::quiet_NaN();
  for (Activation kind : {Activation::kGelu, Activation::kSilu}) {
    float y = 0, slope = 0;
    ActivationForward(kind, 1, &x, &y, &slope);
    CHECK(std::isnan(y));
    CHECK(std::isnan(slope));
  }
}

TEST_CASE("GELU, ReLU and SiLU have the values worked by hand") {
  const float x[] = {1.0f, -1.0f, 2.0f};
  float y[3];
  ActivationForward(Activation::kGelu, 3, x, y, nullptr);
  // 0.5 (1 + tanh(0.7978845608 * 1.044715)) = 0.8411919906
  CHECK(y[0] == doctest::Approx(0.8411919906).epsilon(1e-6));
  CHECK(y[1] == doctest::Approx(-0.1588080094).epsilon(1e-6));
  CHECK(y[2] == doctest::Approx(1.9545976941).epsilon(1e-6));
  ActivationForward(Activation::kRelu, 3, x, y, nullptr);
  CHECK(y[0] == 1.0f);
  CHECK(y[1] == 0.0f);
  ActivationForward(Activation::kSilu, 3, x, y, nullptr);
  CHECK(y[0] == doctest::Approx(0.7310585786).epsilon(1e-6));
  CHECK(y[1] == doctest::Approx(-0.2689414214).epsilon(1e-6));
}

TEST_CASE("Products entry by entry are exact for every tail") {
  for (int64_t count : {0, 1, 3, 4, 6, 9}) {
    const std::vector<float> x = poslab_test::RandomRows(count, 1), y = poslab_test::RandomRows(count, 2);
    std::vector<float> z(count), in_place = x;
    Multiply(count, x.data(), y.data(), z.data());
    MultiplyInto(count, y.data(), in_place.data());
    for (int64_t n = 0; n < count; ++n) {
      CHECK(z[n] == x[n] * y[n]);
      CHECK(in_place[n] == x[n] * y[n]);
    }
  }
}
