// SPDX-License-Identifier: MIT
#include "model/linear.h"

#include <cstring>

#include "base/matmul.h"
#include "base/simd.h"

namespace poslab {
namespace {

// A 4 x 4 block through registers: two rounds of interleaving.
void TransposeBlock(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  const v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + from_stride);
  const v128_t c = wasm_v128_load(from + 2 * from_stride), d = wasm_v128_load(from + 3 * from_stride);
  const v128_t ac_low = wasm_i32x4_shuffle(a, c, 0, 4, 1, 5), ac_high = wasm_i32x4_shuffle(a, c, 2, 6, 3, 7);
  const v128_t bd_low = wasm_i32x4_shuffle(b, d, 0, 4, 1, 5), bd_high = wasm_i32x4_shuffle(b, d, 2, 6, 3, 7);
  wasm_v128_store(to, wasm_i32x4_shuffle(ac_low, bd_low, 0, 4, 1, 5));
  wasm_v128_store(to + to_stride, wasm_i32x4_shuffle(ac_low, bd_low, 2, 6, 3, 7));
  wasm_v128_store(to + 2 * to_stride, wasm_i32x4_shuffle(ac_high, bd_high, 0, 4, 1, 5));
  wasm_v128_store(to + 3 * to_stride, wasm_i32x4_shuffle(ac_high, bd_high, 2, 6, 3, 7));
}

}  // namespace

void Transpose(int64_t rows, int64_t columns, const float* from, float* to) {
  const int64_t whole_rows = rows & ~int64_t{3}, whole_columns = columns & ~int64_t{3};
  for (int64_t r = 0; r < whole_rows; r += 4) {
    for (int64_t c = 0; c < whole_columns; c += 4)
      TransposeBlock(from + r * columns + c, columns, to + c * rows + r, rows);
    for (int64_t c = whole_columns; c < columns; ++c)
      for (int64_t n = r; n < r + 4; ++n) to[c * rows + n] = from[n * columns + c];
  }
  for (int64_t r = whole_rows; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
}

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
