// SPDX-License-Identifier: MIT
// Tensors in panels: pieces in any cut, both orders, rows out, and products against the plain triple loop.
#include "transformer/weights.h"

#include <doctest/doctest.h>
#include <algorithm>
#include <vector>

#include "base/matmul.h"
#include "model/random_rows.h"
#include "position/table_resize.h"
#include "transformer/image.h"

using namespace poslab;
using namespace poslab_test;

namespace {

std::vector<float> Transposed(const std::vector<float>& x, int64_t rows, int64_t columns) {
  std::vector<float> y(x.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      y[static_cast<size_t>(c * rows + r)] = x[static_cast<size_t>(r * columns + c)];
  return y;
}

}  // namespace

TEST_CASE("Products with panels are those of the plain matrix, for every remainder") {
  for (int64_t outputs : {1, 3, 4, 7, 8, 9, 16, 21})
    for (int64_t inputs : {1, 5, 8, 300})
      for (int64_t rows : {0, 1, 3, 70}) {
        CAPTURE(outputs);
        CAPTURE(inputs);
        CAPTURE(rows);
        const auto matrix = RandomRows(outputs * inputs, 1), x = RandomRows(rows * inputs, 2);
        const auto turned = Transposed(matrix, outputs, inputs);
        const auto bias = RandomRows(outputs, 3), start = RandomRows(rows * outputs, 4);
        Weights weights;
        const int index = weights.Add("matrix", {outputs, inputs}, true);
        const auto half = matrix.size() / 2;
        REQUIRE(weights.Set("matrix", std::span(matrix).first(half), 0, false).ok());
        CHECK(weights.complete() == (half == matrix.size()));
        REQUIRE(weights.Set("matrix", std::span(matrix).subspan(half), static_cast<int64_t>(half), false).ok());
        CHECK(weights.complete());
        std::vector<float> row(static_cast<size_t>(inputs));
        weights[index].CopyRow(outputs - 1, row.data());
        CHECK(std::equal(row.begin(), row.end(), matrix.end() - inputs));

        for (bool accumulate : {false, true}) {
          auto expected = start, y = start;
          MatMulReference({rows, outputs, inputs, x.data(), inputs, 1, turned.data(), outputs, expected.data(), outputs,
                           accumulate});
          Product(weights[index], {rows, x.data(), inputs, nullptr, y.data(), outputs, accumulate});
          CHECK(LargestDifference(y, expected) < 1e-4);
          for (int64_t n = 0; n < rows * outputs; ++n)
            expected[static_cast<size_t>(n)] += bias[static_cast<size_t>(n % outputs)];
          y = start;
          Product(weights[index], {rows, x.data(), inputs, bias.data(), y.data(), outputs, accumulate});
          CHECK(LargestDifference(y, expected) < 1e-4);
        }

        // The same numbers as [inputs, outputs].
        Weights other;
        other.Add("matrix", {outputs, inputs}, true);
        REQUIRE(other.Set("matrix", turned, 0, true).ok());
        for (int64_t n = 0; n < outputs; ++n) {
          std::vector<float> back(static_cast<size_t>(inputs));
          other[0].CopyRow(n, back.data());
          CHECK(std::equal(back.begin(), back.end(), matrix.begin() + n * inputs));
        }
      }
}

TEST_CASE("A grid resized to its own size is itself, and a constant one stays constant") {
  const int64_t height = 3, width = 5, dim = 4;
  const auto grid = RandomRows(height * width * dim, 9);
  std::vector<float> same(grid.size());
  ResizeGrid(height, width, grid.data(), height, width, dim, same.data());
  CHECK(same == grid);
  const std::vector<float> flat(grid.size(), 0.25f);
  std::vector<float> larger(7 * 8 * dim);
  ResizeGrid(height, width, flat.data(), 7, 8, dim, larger.data());
  for (float value : larger) CHECK(value == doctest::Approx(0.25).epsilon(1e-6));
}

TEST_CASE("Bicubic shares at a quarter of the way are those of the kernel with a = -0.75") {
  // Doubling [0, 0, 1, 0] puts place 3 at 1.25: taps 0, 1, 2, 3 with the distances 1.25, 0.25, 0.75, 1.75.
  const float line[] = {0, 0, 1, 0};
  float doubled[8];
  ResizeGrid(1, 4, line, 1, 8, 1, doubled);
  CHECK(doubled[3] == doctest::Approx(1.25 * 0.421875 - 2.25 * 0.5625 + 1).epsilon(1e-6));
}

TEST_CASE("Patches are cut row by row, channel by channel") {
  ImageDescription image;
  image.channels = 2, image.patch = 2;
  std::vector<float> pixels(2 * 2 * 4), rows(pixels.size());
  for (size_t n = 0; n < pixels.size(); ++n) pixels[n] = static_cast<float>(n);
  CutPatches(image, 2, 4, pixels.data(), rows.data());
  CHECK(rows == std::vector<float>{0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15});
}
