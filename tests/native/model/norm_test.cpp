// SPDX-License-Identifier: MIT
// LayerNorm and RMSNorm against double, their gradients against finite differences in double.
#include "model/norm.h"

#include <doctest/doctest.h>
#include <cmath>
#include <vector>

#include "model/random_rows.h"

using namespace poslab;
using poslab_test::LargestDifference;
using poslab_test::RandomRows;

namespace {

// One row, in double.
std::vector<double> ReferenceRow(NormKind kind, const std::vector<double>& x, const std::vector<double>& gain,
                                 const std::vector<double>& bias) {
  const double width = static_cast<double>(x.size());
  double mean = 0, square = 0;
  if (kind == NormKind::kLayer)
    for (double v : x) mean += v / width;
  for (double v : x) square += (v - mean) * (v - mean) / width;
  std::vector<double> y(x.size());
  for (size_t n = 0; n < x.size(); ++n)
    y[n] = (x[n] - mean) / std::sqrt(square + 1e-5) * gain[n] + (bias.empty() ? 0 : bias[n]);
  return y;
}

std::vector<double> Doubles(const float* from, int64_t count) { return {from, from + count}; }

}  // namespace

TEST_CASE("Norms agree with double for every width and tail") {
  for (NormKind kind : {NormKind::kLayer, NormKind::kRms})
    for (int64_t width : {1, 2, 3, 4, 5, 7, 8, 16, 19, 64, 130}) {
      const int64_t rows = 3;
      const std::vector<float> x = RandomRows(rows * width, 1, 3), gain = RandomRows(width, 2);
      for (const std::vector<float>& bias : {std::vector<float>(), RandomRows(width, 3)}) {
        std::vector<float> y(x.size()), statistics(2 * rows);
        NormArguments arguments{kind, rows, width, x.data(), gain.data(), bias.empty() ? nullptr : bias.data()};
        NormForward(arguments, y.data(), statistics.data());
        for (int64_t r = 0; r < rows; ++r) {
          const auto expected = ReferenceRow(kind, Doubles(x.data() + r * width, width), Doubles(gain.data(), width),
                                             std::vector<double>(bias.begin(), bias.end()));
          // The mean of numbers below 12 is off by at most width / 4 + 4 roundings of 12; divided by a deviation of at
          // least 0.3 (width 2) and times a gain below 4.
          const double tolerance = (static_cast<double>(width) / 4 + 12) * 12 * 0x1p-24 / 0.3 * 4;
          CHECK(LargestDifference(std::vector<float>(y.begin() + r * width, y.begin() + (r + 1) * width), expected) <=
                (width == 1 ? 1e-5 : tolerance));
        }
      }
    }
}

TEST_CASE("A large common offset does not spoil LayerNorm") {
  // A one-pass variance would cancel completely here.
  const int64_t width = 64;
  std::vector<float> x = RandomRows(width, 4), gain(width, 1.0f), y(width);
  for (float& v : x) v += 4096;
  NormForward({NormKind::kLayer, 1, width, x.data(), gain.data(), nullptr}, y.data(), nullptr);
  const auto expected = ReferenceRow(NormKind::kLayer, Doubles(x.data(), width), std::vector<double>(width, 1.0), {});
  // The mean is rounded to 2^-12 at this size (half an ulp is 2.4e-4), a few times over.
  CHECK(LargestDifference(y, expected) <= 2e-3);
}

TEST_CASE("Rows of equal entries give the bias, not a quotient of zeros") {
  const int64_t width = 8;
  const std::vector<float> x(width, 2.5f), gain(width, 3.0f), bias(width, 0.25f);
  std::vector<float> y(width);
  NormForward({NormKind::kLayer, 1, width, x.data(), gain.data(), bias.data()}, y.data(), nullptr);
  for (float v : y) CHECK(v == 0.25f);
}

TEST_CASE("Gradients of norms match finite differences in double") {
  for (NormKind kind : {NormKind::kLayer, NormKind::kRms})
    for (int64_t width : {2, 5, 8, 12, 23}) {
      const int64_t rows = 4;
      const std::vector<float> x = RandomRows(rows * width, 5, 2), gain = RandomRows(width, 6);
      const std::vector<float> bias = RandomRows(width, 7), c = RandomRows(rows * width, 8);
      std::vector<float> y(x.size()), statistics(2 * rows), dx(x.size(), 0.5f), dgain(width, 0.0f), dbias(width, 0.0f);
      NormArguments arguments{kind, rows, width, x.data(), gain.data(), bias.data()};
      NormForward(arguments, y.data(), statistics.data());
      NormBackward(arguments, statistics.data(), c.data(), /*accumulate_x=*/true, dx.data(), dgain.data(),
                   dbias.data());
      std::vector<float> set(x.size());
      std::vector<float> unused_gain(width, 0.0f);
      NormBackward(arguments, statistics.data(), c.data(), /*accumulate_x=*/false, set.data(), unused_gain.data(),
                   nullptr);

      const auto loss = [&](const std::vector<double>& xs, const std::vector<double>& gains,
                            const std::vector<double>& biases) {
        double sum = 0;
        for (int64_t r = 0; r < rows; ++r) {
          const std::vector<double> row(xs.begin() + r * width, xs.begin() + (r + 1) * width);
          const auto out = ReferenceRow(kind, row, gains, biases);
          for (int64_t n = 0; n < width; ++n) sum += c[r * width + n] * out[n];
        }
        return sum;
      };
      const double h = 1e-5;  // truncation h^2 and cancellation 1e-16 / h are both near 1e-10
      std::vector<double> xs = Doubles(x.data(), rows * width), gains = Doubles(gain.data(), width);
      std::vector<double> biases = Doubles(bias.data(), width);
      const auto slope = [&](double& variable) {
        const double before = variable;
        variable = before + h;
        const double up = loss(xs, gains, biases);
        variable = before - h;
        const double down = loss(xs, gains, biases);
        variable = before;
        return (up - down) / (2 * h);
      };
      // Some 40 roundings of terms up to 20 (1 / deviation <= 5 times c * gain <= 4 at the smallest width).
      const double tolerance = 40 * 20 * 0x1p-24;
      for (int64_t n = 0; n < rows * width; ++n) {
        const double expected = slope(xs[n]);
        CHECK(std::abs(dx[n] - 0.5 - expected) <= tolerance);
        CHECK(std::abs(set[n] - expected) <= tolerance);
      }
      for (int64_t n = 0; n < width; ++n) {
        CHECK(std::abs(dgain[n] - slope(gains[n])) <= tolerance);
        CHECK(std::abs(dbias[n] - slope(biases[n])) <= tolerance);
      }
    }
}
