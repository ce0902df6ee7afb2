// SPDX-License-Identifier: MIT
// Sinusoidal tables: fingerprints of the conventions, odd widths, far starts, and PE(p + k) = M_k PE(p).
#include "position/sinusoidal.h"

#include <algorithm>
#include <cmath>

#include "position/inspect.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::Number;
using testing::Text;

std::vector<float> TableOf(const Scheme& scheme, int64_t start, int64_t length, int64_t dim) {
  Buffer<float> out;
  REQUIRE(inspect::Table(scheme, start, length, dim, {}, &out).ok());
  return {out.begin(), out.end()};
}

void CheckRow(const std::vector<float>& row, std::vector<double> expected) {
  REQUIRE(row.size() == expected.size());
  // The published fingerprints have six digits or more behind the point.
  for (size_t n = 0; n < row.size(); ++n) CHECK(std::fabs(row[n] - expected[n]) < 5.1e-7);
}

TEST_CASE("The three sinusoid conventions give their own values at dim 4, position 1") {
  CheckRow(TableOf(*Make("sinusoidal"), 1, 1, 4), {0.841471, 0.540302, 0.009999833, 0.99995});
  CheckRow(TableOf(*Make("sinusoidal", {Text("layout", "concatenated")}), 1, 1, 4),
           {0.841471, 0.009999833, 0.540302, 0.99995});
  CheckRow(TableOf(*Make("sinusoidal", {Text("layout", "concatenated"), Text("denominator", "half-dim-minus-one")}), 1,
                   1, 4),
           {0.841471, 0.0001, 0.540302, 0.999999995});
}

TEST_CASE("Odd widths end with a sine, or with a zero under half-dim-minus-one") {
  CheckRow(TableOf(*Make("sinusoidal"), 1, 1, 3), {std::sin(1.0), std::cos(1.0), std::sin(std::pow(10000, -2.0 / 3))});
  CheckRow(TableOf(*Make("sinusoidal"), 2, 1, 1), {std::sin(2.0)});
  const double w1 = std::pow(10000, -2.0 / 5), w2 = std::pow(10000, -4.0 / 5);
  CheckRow(TableOf(*Make("sinusoidal", {Text("layout", "concatenated")}), 1, 1, 5),
           {std::sin(1.0), std::sin(w1), std::sin(w2), std::cos(1.0), std::cos(w1)});
  for (const char* layout : {"interleaved", "concatenated"}) {
    const auto scheme = Make("sinusoidal", {Text("layout", layout), Text("denominator", "half-dim-minus-one")});
    const std::vector<float> row = TableOf(*scheme, 3, 1, 7);
    CHECK(row.back() == 0);
    const size_t second_sine = layout[0] == 'i' ? 2 : 1;
    CHECK(row[second_sine] == doctest::Approx(std::sin(3 * 0.01)).epsilon(1e-7));
  }
}

TEST_CASE("A width that would divide by zero is refused") {
  Buffer<float> out;
  const auto scheme = Make("sinusoidal", {Text("denominator", "half-dim-minus-one")});
  for (int64_t dim : {1, 2, 3}) {
    const Status status = inspect::Table(*scheme, 0, 1, dim, {}, &out);
    CHECK(status.code() == Code::kRange);
    CHECK(status.argument() == "dim");
  }
  CHECK(inspect::Table(*Make("sinusoidal"), 0, 1, 0, {}, &out).code() == Code::kRange);
}

TEST_CASE("Every entry is the double value rounded once, at any start and base") {
  for (int64_t start : {0, 8000, 100000, 1000000}) {
    const auto scheme = Make("sinusoidal", {Number("base", 500)});
    const std::vector<float> table = TableOf(*scheme, start, 200, 24);
    double worst = 0;
    for (int64_t n = 0; n < 200; ++n) {
      for (int64_t k = 0; k < 12; ++k) {
        const double angle = static_cast<double>(start + n) * std::pow(500.0, -static_cast<double>(k) / 12);
        worst = std::max(worst, std::fabs(table[static_cast<size_t>(n * 24 + 2 * k)] - std::sin(angle)));
        worst = std::max(worst, std::fabs(table[static_cast<size_t>(n * 24 + 2 * k + 1)] - std::cos(angle)));
      }
    }
    // Half a unit in the last place of a number below 1 is 2^-25; the angle's own error, 1e6 * 3 * 2^-53, adds 4e-10.
    CHECK(worst <= 0x1p-25 + 5e-10);
  }
}

TEST_CASE("A shift by k positions is one and the same rotation everywhere") {
  constexpr int64_t kDim = 16, kShift = 29;
  const std::vector<float> table = TableOf(*Make("sinusoidal"), 0, 300, kDim);
  for (int64_t p : {0, 1, 100, 250}) {
    for (int64_t k = 0; k < kDim / 2; ++k) {
      const double angle = kShift * std::pow(10000.0, -2.0 * static_cast<double>(k) / kDim);
      const float *at = &table[static_cast<size_t>(p * kDim + 2 * k)], *after = at + kShift * kDim;
      // Three entries rounded to half of 2^-24, two of them multiplied by at most 1.
      CHECK(std::fabs(std::cos(angle) * at[0] + std::sin(angle) * at[1] - after[0]) < 0x1p-23);
      CHECK(std::fabs(std::cos(angle) * at[1] - std::sin(angle) * at[0] - after[1]) < 0x1p-23);
    }
  }
}

TEST_CASE("The embedding is added to what is there") {
  const auto scheme = Make("sinusoidal");
  std::vector<float> rows(8, 1.f);
  REQUIRE(scheme->AddEmbedding({5, 2, nullptr}, 4, {}, rows.data()).ok());
  CHECK(rows[0] == doctest::Approx(1 + std::sin(5.0)));
  CHECK(rows[5] == doctest::Approx(1 + std::cos(6.0)));
  const int64_t ids[] = {6, 5};
  std::vector<float> swapped(8, 1.f);
  REQUIRE(scheme->AddEmbedding({0, 2, ids}, 4, {}, swapped.data()).ok());
  CHECK(swapped[4] == doctest::Approx(rows[0]));
  CHECK(scheme->AddEmbedding({0, 0, nullptr}, 4, {}, nullptr).ok());
}

}  // namespace
}  // namespace poslab
