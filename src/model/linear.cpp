// SPDX-License-Identifier: MIT
#include "model/linear.h"

#include <cstring>

#include "base/matmul.h"
#include "base/simd.h"

namespace poslab {
void AddInto(int64_t count, const float* x, float* y) {
  int64_t n = 0;
  for (; n + 4 <= count; n += 4) wasm_v128_store(y + n, wasm_f32x4_add(wasm_v128_load(y + n), wasm_v128_load(x + n)));
  for (; n < count; ++n) y[n] += x[n];
}

void AddRow(int64_t rows, int64_t width, const float* row, float* y) {
  for (int64_t r = 0; r < rows; ++r) AddInto(width, row, y + r * width);
}

void AddColumnSums(int64_t rows, int64_t width, const float* x, float* sums) {
  int64_t c = 0;
  // Sixteen columns at a time stay in registers over all rows.
  for (; c + 16 <= width; c += 16) {
    v128_t sum[4];
    for (int n = 0; n < 4; ++n) sum[n] = wasm_f32x4_splat(0);
    for (int64_t r = 0; r < rows; ++r)
      for (int n = 0; n < 4; ++n) sum[n] = wasm_f32x4_add(sum[n], wasm_v128_load(x + r * width + c + 4 * n));
    for (int n = 0; n < 4; ++n)
      wasm_v128_store(sums + c + 4 * n, wasm_f32x4_add(wasm_v128_load(sums + c + 4 * n), sum[n]));
  }
  for (; c < width; ++c) {
    float sum = 0;
    for (int64_t r = 0; r < rows; ++r) sum += x[r * width + c];
    sums[c] += sum;
  }
}

void LinearForward(const LinearForwardArguments& arguments) {
  const auto& [rows, inputs, outputs, x, transposed_weight, bias, y, accumulate] = arguments;
  if (bias && accumulate) AddRow(rows, outputs, bias, y);
  if (bias && !accumulate)
    for (int64_t r = 0; r < rows; ++r) std::memcpy(y + r * outputs, bias, static_cast<size_t>(outputs) * sizeof(float));
  MatMulArguments product;
  product.m = rows, product.n = outputs, product.k = inputs;
  product.a = x, product.a_row_stride = inputs;
  product.b = transposed_weight, product.b_row_stride = outputs;
  product.c = y, product.c_row_stride = outputs;
  product.accumulate = accumulate || bias;
  MatMul(product);
}

void LinearBackward(const LinearBackwardArguments& arguments) {
  const int64_t rows = arguments.rows, inputs = arguments.inputs, outputs = arguments.outputs;
  // dW = dY^T X: A is dY read column by column.
  MatMulArguments weight;
  weight.m = outputs, weight.n = inputs, weight.k = rows;
  weight.a = arguments.y_gradient, weight.a_row_stride = 1, weight.a_column_stride = outputs;
  weight.b = arguments.x, weight.b_row_stride = inputs;
  weight.c = arguments.weight_gradient, weight.c_row_stride = inputs;
  weight.accumulate = true;
  MatMul(weight);
  if (arguments.bias_gradient) AddColumnSums(rows, outputs, arguments.y_gradient, arguments.bias_gradient);
  if (!arguments.x_gradient) return;
  // dX = dY W.
  MatMulArguments input;
  input.m = rows, input.n = inputs, input.k = outputs;
  input.a = arguments.y_gradient, input.a_row_stride = outputs;
  input.b = arguments.weight, input.b_row_stride = inputs;
  input.c = arguments.x_gradient, input.c_row_stride = inputs;
  input.accumulate = arguments.accumulate_x;
  MatMul(input);
}

}  // namespace poslab
