// SPDX-License-Identifier: MIT
// Functions in double, rounded to float once: the nearest float of values known to more digits.
#include "base/math.h"

#include <doctest/doctest.h>

namespace poslab {
namespace {

TEST_CASE("Each function gives the float nearest to its value") {
  CHECK(Sin(1) == 0.8414709848078965f);
  CHECK(Cos(1) == 0.5403023058681398f);
  CHECK(Exp(1) == 2.718281828459045f);
  CHECK(Log(10) == 2.302585092994046f);
  CHECK(Pow(2, 0.5) == 1.4142135623730951f);
  CHECK(Tanh(0.5) == 0.46211715726000973f);
  CHECK(Erf(0.5) == 0.5204998778130465f);
}

TEST_CASE("A large angle keeps its digits") {
  // The float 1e7f is exact, and sin(1e7) = 0.42054779319078249.
  CHECK(Sin(1e7) == 0.42054779319078249f);
}

}  // namespace
}  // namespace poslab
