// SPDX-License-Identifier: MIT
// The series against the same functions in long double, in units in the last place, and at the ends of their ranges.
#include "base/math.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "base/random.h"

namespace poslab {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Where the C library computes long double functions in double only (musl), the nearest double itself may seem a whole
// unit away, so the bound is at most 1, not under 1.
// How far `got` is from `exact`, in units in the last place of the double nearest to it.
double Units(double got, long double exact) {
  const double nearest = std::fabs(static_cast<double>(exact));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) /
                             (std::nextafter(nearest, kInfinity) - nearest));
}

// The largest of `units` over draws from [-1, 1).
template <typename Error>
double Largest(Error units) {
  Random random(7);
  double largest = 0;
  for (int n = 0; n < 20'000; ++n)
    largest = std::fmax(largest, units(2 * random.Uniform() - 1, 2 * random.Uniform() - 1));
  return largest;
}

TEST_CASE("Exp is within a unit in the last place") {
  for (double reach : {1e-3, 1.0, 30.0, 700.0}) {
    CAPTURE(reach);
    CHECK(Largest([&](double u, double) {
            return Units(Exp(reach * u), std::exp(static_cast<long double>(reach * u)));
          }) <= 1);
  }
  CHECK(Exp(0) == 1);
  CHECK(Exp(-kInfinity) == 0);
  CHECK(Exp(-746) == 0);
  CHECK(Exp(-745) > 0);
  CHECK(Exp(710) == kInfinity);
  CHECK(std::isfinite(Exp(709.7)));
  CHECK(std::isnan(Exp(std::nan(""))));
}

TEST_CASE("Log is within a unit in the last place") {
  for (double reach : {1e-6, 0.1, 10.0, 600.0}) {
    CAPTURE(reach);
    CHECK(Largest([&](double u, double) {
            const double x = std::exp(reach * u);
            return Units(Log(x), std::log(static_cast<long double>(x)));
          }) <= 1);
  }
  CHECK(Log(1) == 0);
  CHECK(Log(0) == -kInfinity);
  CHECK(Log(kInfinity) == kInfinity);
  CHECK(std::isnan(Log(-1)));
  CHECK(std::isnan(Log(std::nan(""))));
  CHECK(Log(std::numeric_limits<double>::denorm_min()) == doctest::Approx(-744.4400719213812).epsilon(1e-15));
}

TEST_CASE("Pow is within a unit in the last place where frequencies are, and within three beyond") {
  const auto error = [](double base_reach, double exponent_reach) {
    return Largest([=](double u, double v) {
      const double base = std::exp(base_reach * u), exponent = exponent_reach * v;
      return Units(Pow(base, exponent), std::pow(static_cast<long double>(base), static_cast<long double>(exponent)));
    });
  };
  CHECK(error(15, 1) <= 1);
  CHECK(error(7, 100) < 3);
  CHECK(Pow(2, 1023) == std::ldexp(1.0, 1023));
  CHECK(Pow(2, -1074) == std::numeric_limits<double>::denorm_min());
  CHECK(Pow(10, 400) == kInfinity);
  CHECK(Pow(10, -400) == 0);
  CHECK(Pow(0, 2) == 0);
  CHECK(Pow(0, 0) == 1);
  CHECK(Pow(kInfinity, 2) == kInfinity);
}

TEST_CASE("SinCos is within a unit in the last place") {
  for (double reach : {0.5, 10.0, 1e6}) {
    CAPTURE(reach);
    CHECK(Largest([&](double u, double) {
            return Units(Sin(reach * u), std::sin(static_cast<long double>(reach * u)));
          }) <= 1);
    CHECK(Largest([&](double u, double) {
            return Units(Cos(reach * u), std::cos(static_cast<long double>(reach * u)));
          }) <= 1);
  }
  CHECK(Sin(0) == 0);
  CHECK(Cos(0) == 1);
  CHECK(std::isnan(Sin(kInfinity)));
  CHECK(std::isnan(Cos(std::nan(""))));
}

TEST_CASE("A large angle keeps its digits, and an absurd one stays on the circle") {
  CHECK(static_cast<float>(Sin(1e7)) == 0.42054779319078249f);
  CHECK(Largest([](double u, double) { return std::fabs(Sin(9e15 * u) - std::sin(9e15 * u)); }) < 2e-13);
  for (double x : {1e17, 1e30, 1e300}) {
    const auto [sine, cosine] = SinCos(x);
    CHECK(sine * sine + cosine * cosine == doctest::Approx(1).epsilon(1e-14));
  }
}

}  // namespace
}  // namespace poslab
