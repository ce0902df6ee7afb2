// SPDX-License-Identifier: MIT
// Linear layers y = x W^T + b on rows of tokens, W [outputs, inputs] row-major. The forward product wants W^T, which a
// caller makes once per pass; the backward products take W and the rows as they are.
#pragma once

#include <cstdint>

namespace poslab {

// y[r, :] += row, for `rows` rows of `width`.
void AddRow(int64_t rows, int64_t width, const float* row, float* y);
// sums[c] += sum over r of x[r, c].
void AddColumnSums(int64_t rows, int64_t width, const float* x, float* sums);
// y[n] += x[n].
void AddInto(int64_t count, const float* x, float* y);

struct LinearForwardArguments {
  int64_t rows = 0, inputs = 0, outputs = 0;
  const float* x = nullptr;                  // [rows, inputs]
  const float* transposed_weight = nullptr;  // [inputs, outputs]
  const float* bias = nullptr;               // [outputs] or null
  float* y = nullptr;                        // [rows, outputs]
  bool accumulate = false;                   // y += instead of y =
};
void LinearForward(const LinearForwardArguments& arguments);

// Gradients of weight and bias are accumulated into.
struct LinearBackwardArguments {
  int64_t rows = 0, inputs = 0, outputs = 0;
  const float* x = nullptr;           // what the forward got
  const float* weight = nullptr;      // [outputs, inputs]
  const float* y_gradient = nullptr;  // [rows, outputs]
  float* x_gradient = nullptr;        // [rows, inputs]
  bool accumulate_x = false;          // x_gradient += instead of =
  float* weight_gradient = nullptr;   // [outputs, inputs]
  float* bias_gradient = nullptr;     // [outputs] or null
};
void LinearBackward(const LinearBackwardArguments& arguments);

}  // namespace poslab
