// SPDX-License-Identifier: MIT
// The register tile and its tails. Every entry of C is one chain of products in ascending k, whichever tile it falls
// into, so that a row or column gives the same bits alone as inside a larger product.
#include "base/matmul.h"

#include <algorithm>
#include <cstddef>

#include "base/simd.h"

namespace poslab {
namespace {

// Columns of B longer than this are taken in parts: a part of 8 columns (8 KiB) stays in the first-level cache.
constexpr ptrdiff_t kDepth = 256;
// Fewer rows than this do not pay for packing the columns of B.
constexpr ptrdiff_t kRowsThatPay = 32;
// Rows of B this far apart (in floats) fall on few cache sets.
constexpr ptrdiff_t kFarRows = 96;

// How the entries of A lie: rows one after the other in k (kRows), or four rows side by side (kColumns, A transposed).
enum class Order { kRows, kColumns };

// C[kHeight, 4 * kVectors] (+)= A[kHeight, depth] B[depth, 4 * kVectors]. `row` and `step` are the distances of A's
// entries in m and k; one of them is 1.
template <int kHeight, int kVectors, Order kOrder>
inline void Tile(const float* a, ptrdiff_t row, ptrdiff_t step, const float* b, ptrdiff_t b_row, float* c,
                 ptrdiff_t c_row, ptrdiff_t depth, bool accumulate) {
  v128_t sum[kHeight][kVectors];
  for (int m = 0; m < kHeight; ++m)
    for (int n = 0; n < kVectors; ++n)
      sum[m][n] = accumulate ? wasm_v128_load(c + m * c_row + 4 * n) : wasm_f32x4_splat(0.0f);
  const float* rows[kHeight];
  for (int m = 0; m < kHeight; ++m) rows[m] = a + m * row;
  for (ptrdiff_t k = 0; k < depth; ++k) {
    v128_t columns[kVectors];
    for (int n = 0; n < kVectors; ++n) columns[n] = wasm_v128_load(b + 4 * n);
    for (int m = 0; m < kHeight; ++m) {
      const v128_t entry = wasm_v128_load32_splat(kOrder == Order::kRows ? rows[m] + k : a + m);
      for (int n = 0; n < kVectors; ++n) sum[m][n] = MulAdd(entry, columns[n], sum[m][n]);
    }
    b += b_row;
    if constexpr (kOrder == Order::kColumns) a += step;
  }
  for (int m = 0; m < kHeight; ++m)
    for (int n = 0; n < kVectors; ++n) wasm_v128_store(c + m * c_row + 4 * n, sum[m][n]);
}

// The last one to three columns, entry by entry.
void NarrowColumns(const float* a, ptrdiff_t row, ptrdiff_t step, const float* b, ptrdiff_t b_row, float* c,
                   ptrdiff_t c_row, ptrdiff_t height, ptrdiff_t width, ptrdiff_t depth, bool accumulate) {
  for (ptrdiff_t m = 0; m < height; ++m) {
    for (ptrdiff_t n = 0; n < width; ++n) {
      float sum = accumulate ? c[m * c_row + n] : 0.0f;
      for (ptrdiff_t k = 0; k < depth; ++k) sum += a[m * row + k * step] * b[k * b_row + n];
      c[m * c_row + n] = sum;
    }
  }
}

// All rows of a strip of 4 * kVectors columns.
template <int kVectors, Order kOrder>
void Strip(const float* a, ptrdiff_t row, ptrdiff_t step, const float* b, ptrdiff_t b_row, float* c, ptrdiff_t c_row,
           ptrdiff_t height, ptrdiff_t depth, bool accumulate) {
  ptrdiff_t m = 0;
  for (; m + 4 <= height; m += 4)
    Tile<4, kVectors, kOrder>(a + m * row, row, step, b, b_row, c + m * c_row, c_row, depth, accumulate);
  const float* rest = a + m * row;
  float* out = c + m * c_row;
  switch (height - m) {
    case 3:
      Tile<3, kVectors, kOrder>(rest, row, step, b, b_row, out, c_row, depth, accumulate);
      break;
    case 2:
      Tile<2, kVectors, kOrder>(rest, row, step, b, b_row, out, c_row, depth, accumulate);
      break;
    case 1:
      Tile<1, kVectors, kOrder>(rest, row, step, b, b_row, out, c_row, depth, accumulate);
      break;
    default:
      break;
  }
}

// C[height, width] (+)= A B for a depth of at most kDepth, strip by strip.
template <Order kOrder>
void Part(const float* a, ptrdiff_t row, ptrdiff_t step, const float* b, ptrdiff_t b_row, float* c, ptrdiff_t c_row,
          ptrdiff_t height, ptrdiff_t width, ptrdiff_t depth, bool accumulate) {
  const bool pack = height >= kRowsThatPay && b_row >= kFarRows;
  ptrdiff_t n = 0;
  if (pack) {
    alignas(16) float packed[kDepth * 8];
    for (; n + 8 <= width; n += 8) {
      for (ptrdiff_t k = 0; k < depth; ++k) {
        wasm_v128_store(packed + 8 * k, wasm_v128_load(b + k * b_row + n));
        wasm_v128_store(packed + 8 * k + 4, wasm_v128_load(b + k * b_row + n + 4));
      }
      Strip<2, kOrder>(a, row, step, packed, 8, c + n, c_row, height, depth, accumulate);
    }
  }
  for (; n + 8 <= width; n += 8) Strip<2, kOrder>(a, row, step, b + n, b_row, c + n, c_row, height, depth, accumulate);
  if (n + 4 <= width) {
    Strip<1, kOrder>(a, row, step, b + n, b_row, c + n, c_row, height, depth, accumulate);
    n += 4;
  }
  if (n < width) NarrowColumns(a, row, step, b + n, b_row, c + n, c_row, height, width - n, depth, accumulate);
}

}  // namespace

void MatMul(const MatMulArguments& arguments) {
  const auto m = static_cast<ptrdiff_t>(arguments.m), n = static_cast<ptrdiff_t>(arguments.n);
  const auto row = static_cast<ptrdiff_t>(arguments.a_row_stride);
  const auto step = static_cast<ptrdiff_t>(arguments.a_column_stride);
  const auto b_row = static_cast<ptrdiff_t>(arguments.b_row_stride);
  const auto c_row = static_cast<ptrdiff_t>(arguments.c_row_stride);
  const auto depth = static_cast<ptrdiff_t>(arguments.k);
  if (m <= 0 || n <= 0) return;
  if (depth <= 0) {
    for (ptrdiff_t i = 0; i < m && !arguments.accumulate; ++i) std::fill_n(arguments.c + i * c_row, n, 0.0f);
    return;
  }
  bool accumulate = arguments.accumulate;
  for (ptrdiff_t k = 0; k < depth; k += kDepth) {
    const ptrdiff_t part = std::min(kDepth, depth - k);
    const float* a = arguments.a + k * step;
    const float* b = arguments.b + k * b_row;
    if (step == 1)
      Part<Order::kRows>(a, row, 1, b, b_row, arguments.c, c_row, m, n, part, accumulate);
    else if (row == 1)
      Part<Order::kColumns>(a, 1, step, b, b_row, arguments.c, c_row, m, n, part, accumulate);
    else
      NarrowColumns(a, row, step, b, b_row, arguments.c, c_row, m, n, part, accumulate);
    accumulate = true;
  }
}

void MatMulReference(const MatMulArguments& arguments) {
  for (int64_t m = 0; m < arguments.m; ++m) {
    for (int64_t n = 0; n < arguments.n; ++n) {
      float& c = arguments.c[m * arguments.c_row_stride + n];
      double sum = arguments.accumulate ? c : 0.0;
      for (int64_t k = 0; k < arguments.k; ++k)
        sum += static_cast<double>(arguments.a[m * arguments.a_row_stride + k * arguments.a_column_stride]) *
               arguments.b[k * arguments.b_row_stride + n];
      c = static_cast<float>(sum);
    }
  }
}

}  // namespace poslab
