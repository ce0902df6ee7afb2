// SPDX-License-Identifier: MIT
// Means, errors and bins of a measurement against numbers worked by hand.
#include "lab/measurement.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "position/table_resize.h"

using poslab::LengthResult;
using poslab::Measurement;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

void Add(Measurement* measurement, std::vector<float> losses, std::vector<int32_t> targets = {},
         std::vector<uint8_t> correct = {}) {
  if (targets.empty()) targets.assign(losses.size(), 0);
  measurement->Add(targets.data(), losses.data(), correct.empty() ? nullptr : correct.data());
}

}  // namespace

TEST_CASE("The end is the last quarter of the trained length and bins are a sixteenth, both at least one place") {
  CHECK(poslab::EndPlaces(64) == 16);
  CHECK(poslab::EndPlaces(67) == 16);
  CHECK(poslab::EndPlaces(3) == 1);
  CHECK(poslab::BinWidth(64) == 4);
  CHECK(poslab::BinWidth(33) == 2);
  CHECK(poslab::BinWidth(1) == 1);
}

TEST_CASE("Losses are means over places, errors standard errors over windows") {
  Measurement measurement;
  REQUIRE(measurement.Start(4, 3, 8).ok());  // L = 8: the end is 2 places
  Add(&measurement, {1, 2, 3, 4});           // means 2.5, end 3.5
  Add(&measurement, {2, 2, 2, 2});           // 2, 2
  Add(&measurement, {0, 1, 5, 6});           // 3, 5.5
  const LengthResult result = measurement.Finish();
  CHECK(result.defined);
  CHECK(result.length == 4);
  CHECK(result.loss == doctest::Approx(2.5).epsilon(1e-14));
  // Deviations 0, -0.5, 0.5: variance 0.25 over n - 1, error sqrt(0.25 / 3).
  CHECK(result.loss_error == doctest::Approx(std::sqrt(0.25 / 3)).epsilon(1e-14));
  CHECK(result.loss_at_end == doctest::Approx(11.0 / 3).epsilon(1e-14));
  // Deviations -1/6, -5/3, 11/6: squares 1/36 + 100/36 + 121/36 = 222/36; over n - 1 = 2 and n = 3.
  CHECK(result.loss_at_end_error == doctest::Approx(std::sqrt(222.0 / 36 / 2 / 3)).epsilon(1e-14));
}

TEST_CASE("Only scored places count, and windows weigh by how many they have") {
  Measurement measurement;
  REQUIRE(measurement.Start(4, 2, 4).ok());  // the end is the last place
  Add(&measurement, {kNaN, 1, 3, kNaN}, {-1, 5, 5, -1}, {0, 1, 0, 0});
  Add(&measurement, {2, 2, 2, 6}, {5, 5, 5, 5}, {1, 1, 1, 0});
  const LengthResult result = measurement.Finish();
  CHECK(result.loss == doctest::Approx(16.0 / 6).epsilon(1e-14));
  CHECK(result.accuracy == doctest::Approx(4.0 / 6).epsilon(1e-14));
  CHECK(result.loss_at_end == 6);
  CHECK(result.accuracy_at_end == 0);
  // s - m c: 4 - 16/3 = -4/3 and 12 - 32/3 = 4/3; sqrt(2 * 16/9 / 2) / 3.
  CHECK(result.loss_error == doctest::Approx(4.0 / 9).epsilon(1e-14));
}

TEST_CASE("Nothing scored is NaN, a single window has no error, a row shorter than the end is all end") {
  Measurement measurement;
  REQUIRE(measurement.Start(2, 1, 64).ok());
  Add(&measurement, {kNaN, kNaN}, {-1, -1});
  CHECK(measurement.Finish().defined);
  CHECK(std::isnan(measurement.Finish().loss));
  CHECK(std::isnan(measurement.Finish().loss_at_end));
  REQUIRE(measurement.Start(2, 1, 64).ok());
  Add(&measurement, {1, 2});
  CHECK(measurement.Finish().loss == 1.5);
  CHECK(measurement.Finish().loss_at_end == 1.5);
  CHECK(measurement.Finish().loss_error == 0);
}

TEST_CASE("A loss that is not finite is no result") {
  for (float bad : {kNaN, std::numeric_limits<float>::infinity()}) {
    Measurement measurement;
    REQUIRE(measurement.Start(2, 1, 8).ok());
    Add(&measurement, {1, bad});
    const LengthResult result = measurement.Finish();
    CHECK_FALSE(result.defined);
    CHECK(result.reason.code() == poslab::Code::kNotDefined);
  }
}

TEST_CASE("Bins by position average over windows and scored places, the last one may be narrower") {
  Measurement measurement;
  REQUIRE(measurement.Start(5, 2, 32).ok());  // bins of 2
  Add(&measurement, {1, 2, 3, kNaN, 9}, {0, 0, 0, -1, 0});
  Add(&measurement, {3, 4, 5, kNaN, kNaN}, {0, 0, 0, -1, -1});
  const poslab::PositionResult result = measurement.FinishPositions();
  CHECK(result.bin_width == 2);
  CHECK(result.loss == std::vector<double>{2.5, 4, 9});
  REQUIRE(measurement.Start(2, 1, 32).ok());
  Add(&measurement, {kNaN, kNaN}, {-1, -1});
  CHECK(std::isnan(measurement.FinishPositions().loss[0]));
}

TEST_CASE("A stretched table keeps its first and last row and goes straight from row to row") {
  const float table[] = {0, 10, 1, 20, 4, 40};  // 3 rows of 2
  std::vector<float> stretched(5 * 2);
  poslab::StretchTable(table, 3, 2, 5, stretched.data());
  CHECK(stretched == std::vector<float>{0, 10, 0.5, 15, 1, 20, 2.5, 30, 4, 40});
  std::vector<float> same(3 * 2);
  poslab::StretchTable(table, 3, 2, 3, same.data());
  CHECK(same == std::vector<float>(table, table + 6));
  std::vector<float> one(7 * 2);
  poslab::StretchTable(table + 2, 1, 2, 7, one.data());  // a table of one row is that row everywhere
  for (int i = 0; i < 7; ++i) CHECK((one[2 * i] == 1 && one[2 * i + 1] == 20));
}
