// SPDX-License-Identifier: MIT
// Angle rows by the addition theorem against the library, over lengths, starts and ids.
#include "position/angles.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "scheme_support.h"

namespace poslab {
namespace {

constexpr double kEpsilon = 0x1p-53;

TEST_CASE("Angle rows agree with the library for every length, start and width") {
  for (int64_t length : {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 100, 1000}) {
    for (int64_t start : {int64_t{0}, int64_t{1}, int64_t{-37}, int64_t{100000}, int64_t{1} << 40}) {
      for (int64_t pairs : {1, 2, 3, 8, 33}) {
        std::vector<double> frequencies;
        for (int64_t k = 0; k < pairs; ++k) frequencies.push_back(std::pow(10000.0, -static_cast<double>(k) / 33));
        Result<AngleRows> rows = AngleRows::Make({start, length, nullptr}, frequencies);
        Result<AngleRows> reference = AngleRows::Make({start, length, nullptr}, frequencies);
        REQUIRE(rows.ok());
        double worst = 0;
        // Each entry: three roundings of products and sums of numbers up to 1, two of library calls on each side, and
        // the rounding of the angles p w (once on either side), each at most |p| w epsilon.
        const double largest =
            std::max(std::fabs(static_cast<double>(start)), std::fabs(static_cast<double>(start + length)));
        const double tolerance = kEpsilon * (8 + 3 * largest);
        for (int64_t n = 0; n < length; ++n) {
          rows->Row(n);
          reference->RowReference(n);
          for (int64_t k = 0; k < pairs; ++k) {
            worst = std::max(worst, std::fabs(rows->cosines()[k] - reference->cosines()[k]));
            worst = std::max(worst, std::fabs(rows->sines()[k] - reference->sines()[k]));
          }
        }
        CAPTURE(length);
        CAPTURE(start);
        CAPTURE(pairs);
        CHECK(worst <= tolerance);
      }
    }
  }
}

TEST_CASE("Angle rows can be read in any order, and follow given ids") {
  const double frequencies[] = {1, 0.25};
  const int64_t ids[] = {7, -3, 7, 1000000};
  Result<AngleRows> rows = AngleRows::Make({0, 4, ids}, frequencies);
  REQUIRE(rows.ok());
  for (int64_t n : {3, 0, 2, 1}) {
    rows->Row(n);
    CHECK(rows->cosines()[0] == Cos(static_cast<double>(ids[n])));
    CHECK(rows->sines()[1] == Sin(0.25 * static_cast<double>(ids[n])));
  }
  Result<AngleRows> contiguous = AngleRows::Make({10, 100, nullptr}, frequencies);
  REQUIRE(contiguous.ok());
  for (int64_t n : {99, 0, 50, 51, 3}) {
    contiguous->Row(n);
    CHECK(contiguous->cosines()[0] == doctest::Approx(std::cos(static_cast<double>(10 + n))).epsilon(1e-14));
  }
}

}  // namespace
}  // namespace poslab
