// SPDX-License-Identifier: MIT
#include "base/transpose.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

using poslab::Transpose;

TEST_CASE(
    "Transpose moves and scales every entry and touches no other, for whole blocks, every tail and wider strides") {
  constexpr float kUntouched = -7;
  for (int64_t rows : {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 19}) {
    for (int64_t columns : {0, 1, 2, 3, 4, 5, 6, 8, 11, 12}) {
      for (int64_t wider : {0, 1, 5}) {
        for (float scale : {1.0f, 0.3f}) {
          const int64_t in_stride = columns + wider, out_stride = rows + 2 * wider;
          std::vector<float> in(static_cast<size_t>(rows * in_stride), NAN);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < columns; ++c) in[r * in_stride + c] = static_cast<float>(1 + r * columns + c);
          std::vector<float> out(static_cast<size_t>(columns * out_stride), kUntouched);
          Transpose(in.data(), in_stride, rows, columns, out.data(), out_stride, scale);
          for (int64_t c = 0; c < columns; ++c)
            for (int64_t r = 0; r < out_stride; ++r)
              REQUIRE(out[c * out_stride + r] == (r < rows ? scale * in[r * in_stride + c] : kUntouched));
        }
      }
    }
  }
}
