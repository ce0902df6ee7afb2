// SPDX-License-Identifier: MIT
// Linear layers against plain sums in double.
#include "model/linear.h"

#include <doctest/doctest.h>
#include <cmath>
#include <vector>

#include "base/transpose.h"
#include "model/random_rows.h"

using namespace poslab;
using poslab_test::LargestDifference;
using poslab_test::RandomRows;

namespace {

constexpr double kUnit = 0x1p-24;  // half an ulp of 1: the relative rounding of one float operation

// y = x W^T + b (+ start) in double.
std::vector<double> ReferenceForward(int64_t rows, int64_t inputs, int64_t outputs, const std::vector<float>& x,
                                     const std::vector<float>& w, const std::vector<float>& bias,
                                     const std::vector<float>& start) {
  std::vector<double> y(static_cast<size_t>(rows * outputs));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = (bias.empty() ? 0.0 : bias[o]) + (start.empty() ? 0.0 : start[r * outputs + o]);
      for (int64_t i = 0; i < inputs; ++i) sum += static_cast<double>(x[r * inputs + i]) * w[o * inputs + i];
      y[r * outputs + o] = sum;
    }
  return y;
}

}  // namespace

TEST_CASE("Row additions and column sums agree with double, for every tail and alignment") {
  for (int64_t width : {1, 3, 4, 5, 15, 16, 17, 33, 64})
    for (int64_t rows : {0, 1, 2, 9}) {
      for (int64_t shift : {0, 1, 3}) {
        const std::vector<float> memory = RandomRows(rows * width + shift, 2);
        const float* x = memory.data() + shift;
        std::vector<float> sums = RandomRows(width, 3);
        std::vector<double> expected(sums.begin(), sums.end());
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < width; ++c) expected[c] += x[r * width + c];
        AddColumnSums(rows, width, x, sums.data());
        // At most rows + 1 additions of numbers below 5.
        CHECK(LargestDifference(sums, expected) <= static_cast<double>((rows + 1) * (rows + 1)) * 5 * kUnit);

        std::vector<float> y(memory.begin() + shift, memory.end());
        AddRow(rows, width, sums.data(), y.data());
        for (int64_t n = 0; n < rows * width; ++n) REQUIRE(y[n] == x[n] + sums[n % width]);
      }
    }
}

TEST_CASE("The forward product is x W^T plus bias, set or added") {
  for (int64_t rows : {1, 3, 8, 21})
    for (int64_t inputs : {1, 5, 16})
      for (int64_t outputs : {1, 7, 12})
        for (bool with_bias : {false, true})
          for (bool accumulate : {false, true}) {
            const std::vector<float> x = RandomRows(rows * inputs, 4), w = RandomRows(outputs * inputs, 5);
            const std::vector<float> bias = with_bias ? RandomRows(outputs, 6) : std::vector<float>();
            const std::vector<float> start = RandomRows(rows * outputs, 7);
            std::vector<float> transposed(w.size()), y = start;
            Transpose(w.data(), inputs, outputs, inputs, transposed.data(), outputs);
            LinearForwardArguments arguments;
            arguments.rows = rows, arguments.inputs = inputs, arguments.outputs = outputs;
            arguments.x = x.data(), arguments.transposed_weight = transposed.data();
            arguments.bias = with_bias ? bias.data() : nullptr;
            arguments.y = y.data(), arguments.accumulate = accumulate;
            LinearForward(arguments);
            const auto expected =
                ReferenceForward(rows, inputs, outputs, x, w, bias, accumulate ? start : std::vector<float>());
            // inputs + 2 operations on partial sums below 40.
            CHECK(LargestDifference(y, expected) <= static_cast<double>(inputs + 2) * 40 * kUnit);
          }
}

TEST_CASE("The backward products are the derivatives of sum(c * y)") {
  const int64_t rows = 13, inputs = 6, outputs = 9;
  const std::vector<float> x = RandomRows(rows * inputs, 8), w = RandomRows(outputs * inputs, 9);
  const std::vector<float> c = RandomRows(rows * outputs, 10);
  for (bool accumulate : {false, true}) {
    std::vector<float> dx(x.size(), 1.0f), dw(w.size(), 2.0f), db(outputs, 3.0f);
    LinearBackwardArguments arguments;
    arguments.rows = rows, arguments.inputs = inputs, arguments.outputs = outputs;
    arguments.x = x.data(), arguments.weight = w.data(), arguments.y_gradient = c.data();
    arguments.x_gradient = dx.data(), arguments.accumulate_x = accumulate;
    arguments.weight_gradient = dw.data(), arguments.bias_gradient = db.data();
    LinearBackward(arguments);
    // y is linear in each, so its derivative is the plain sum; at most 14 operations on partial sums below 40.
    const double tolerance = 14 * 40 * kUnit;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < inputs; ++i) {
        double sum = accumulate ? 1 : 0;
        for (int64_t o = 0; o < outputs; ++o) sum += static_cast<double>(c[r * outputs + o]) * w[o * inputs + i];
        CHECK(std::abs(dx[r * inputs + i] - sum) <= tolerance);
      }
    for (int64_t o = 0; o < outputs; ++o) {
      double bias = 3;
      for (int64_t r = 0; r < rows; ++r) bias += c[r * outputs + o];
      CHECK(std::abs(db[o] - bias) <= tolerance);
      for (int64_t i = 0; i < inputs; ++i) {
        double sum = 2;
        for (int64_t r = 0; r < rows; ++r) sum += static_cast<double>(c[r * outputs + o]) * x[r * inputs + i];
        CHECK(std::abs(dw[o * inputs + i] - sum) <= tolerance);
      }
    }
  }
}
