// SPDX-License-Identifier: MIT
#include "position/dape_tile.h"

#include <algorithm>
#include <cmath>

#include "base/matmul.h"
#include "position/positions.h"
#include "position/tile_lanes.h"

namespace poslab {
namespace {

constexpr float kLeak = 0.01f;
// Biases of more distances than this are asked for tile by tile.
constexpr int64_t kLongestTable = 65536;

// sums[r][c] (four lanes each) += the products of row r of a and row c of b, lane by lane; `count` is a multiple of 4.
// Two rows of a meet four of b at a time.
void AddLaneProducts(const float* a, int64_t rows, const float* b, int64_t columns, int64_t count, float* sums) {
  for (int64_t r = 0; r < rows; r += 2) {
    const float *a0 = a + r * count, *a1 = a + std::min(r + 1, rows - 1) * count;
    for (int64_t c = 0; c < columns; c += 4) {
      const auto b_row = [&](int64_t n) { return b + std::min(c + n, columns - 1) * count; };
      const float *b0 = b_row(0), *b1 = b_row(1), *b2 = b_row(2), *b3 = b_row(3);
      v128_t s[8];
      for (v128_t& sum : s) sum = wasm_f32x4_splat(0.0f);
      for (int64_t n = 0; n < count; n += 4) {
        const v128_t x0 = wasm_v128_load(a0 + n), x1 = wasm_v128_load(a1 + n);
        const v128_t y0 = wasm_v128_load(b0 + n), y1 = wasm_v128_load(b1 + n);
        const v128_t y2 = wasm_v128_load(b2 + n), y3 = wasm_v128_load(b3 + n);
        s[0] = MulAdd(x0, y0, s[0]), s[1] = MulAdd(x0, y1, s[1]), s[2] = MulAdd(x0, y2, s[2]),
        s[3] = MulAdd(x0, y3, s[3]);
        s[4] = MulAdd(x1, y0, s[4]), s[5] = MulAdd(x1, y1, s[5]), s[6] = MulAdd(x1, y2, s[6]),
        s[7] = MulAdd(x1, y3, s[7]);
      }
      for (int64_t n = 0; n < 8; ++n) {
        const int64_t row = r + n / 4, column = c + n % 4;
        if (row >= rows || column >= columns) continue;
        float* at = sums + (row * columns + column) * 4;
        wasm_v128_store(at, wasm_f32x4_add(wasm_v128_load(at), s[n]));
      }
    }
  }
}

void AddLaneSums(const Buffer<float>& lanes, int64_t rows, int64_t columns, int64_t row_stride, double* gradient) {
  for (int64_t n = 0; n < rows * columns; ++n)
    gradient[n / columns * row_stride + n % columns] += SumOfLanes(wasm_v128_load(lanes.data() + 4 * n));
}

void AddRow(const float* from, int64_t count, float* to) {
  for (int64_t n = 0; n < count; n += 4)
    StoreLanes(to + n, count - n, wasm_f32x4_add(LoadLanes(to + n, count - n), LoadLanes(from + n, count - n)));
}

}  // namespace

Status DapeTile::Prepare(const BindArguments& arguments) {
  const DistanceRange range = RangeOfDistances(arguments.query_positions, arguments.key_positions);
  if (range.last - range.first >= kLongestTable) return Status::Ok();
  first_distance_ = range.first, rows_ = range.last - range.first + 1;
  POSLAB_RETURN_IF_ERROR(biases_.ResizeForOverwrite("position", CheckedProduct({heads_, rows_})));
  for (int64_t h = 0; h < heads_; ++h) base.slice->Evaluate(h, first_distance_, rows_, biases_.data() + h * rows_);
  return base.slice->learns() ? bias_gradients_.Resize("position", biases_.size()) : Status::Ok();
}

void DapeTile::Finish() {
  for (int64_t h = 0; h < heads_ && !bias_gradients_.empty(); ++h)
    base.slice->Accumulate(h, first_distance_, rows_, bias_gradients_.data() + h * rows_);
  std::fill(bias_gradients_.begin(), bias_gradients_.end(), 0.0);
}

int64_t DapeTile::DistanceAt(const TileArguments& tile, int64_t column) const {
  // Along a regular tile's columns the query falls behind: the first key and the last query are furthest apart.
  const int64_t query = regular_ ? std::max<int64_t>(0, column - (tile.keys - 1)) : column % tile.queries;
  const int64_t key = regular_ ? std::max<int64_t>(0, tile.keys - 1 - column) : column / tile.queries;
  return tile.key_positions[tile.first_key + key] - tile.query_positions[tile.first_query + query];
}

Status DapeTile::StartTile(const TileArguments& tile) const {
  regular_ = tile.query_positions.contiguous() && tile.key_positions.contiguous();
  distances_ = regular_ ? tile.queries + tile.keys - 1 : tile.queries * tile.keys;
  lanes_ = (tile.queries + 3) / 4 * 4;
  POSLAB_RETURN_IF_ERROR(static_.ResizeForOverwrite("heads", CheckedProduct({heads_, distances_})));
  POSLAB_RETURN_IF_ERROR(static_sums_.ResizeForOverwrite("width", CheckedProduct({width_, distances_})));
  POSLAB_RETURN_IF_ERROR(hidden_.ResizeForOverwrite("width", CheckedProduct({width_, lanes_})));
  for (int64_t n = 0; n < distances_; ++n) {
    const int64_t distance = DistanceAt(tile, n), row = distance - first_distance_;
    for (int64_t h = 0; h < heads_; ++h) {
      float* bias = static_.data() + h * distances_ + n;
      if (row >= 0 && row < rows_) {
        *bias = biases_[h * rows_ + row];
      } else {
        base.slice->Evaluate(h, distance, 1, bias);
      }
    }
  }
  for (int64_t w = 0; w < width_; ++w)
    std::fill_n(static_sums_.data() + w * distances_, distances_, tensors.value(first_ + 1)[w]);
  MatMulArguments product;
  product.m = width_, product.n = distances_, product.k = heads_;
  product.a = tensors.value(first_) + heads_, product.a_row_stride = 2 * heads_;
  product.b = static_.data(), product.b_row_stride = distances_;
  product.c = static_sums_.data(), product.c_row_stride = distances_, product.accumulate = true;
  MatMul(product);
  return Status::Ok();
}

void DapeTile::Sums(const TileArguments& tile, int64_t key, const float* logits, int64_t logit_stride) const {
  const float* from = static_sums_.data() + Offset(tile, key);
  std::fill(hidden_.begin(), hidden_.end(), 0.0f);
  for (int64_t w = 0; w < width_; ++w) std::copy_n(from + w * distances_, tile.queries, hidden_.data() + w * lanes_);
  MatMulArguments product;
  product.m = width_, product.n = tile.queries, product.k = heads_;
  product.a = tensors.value(first_), product.a_row_stride = 2 * heads_;
  product.b = logits, product.b_row_stride = logit_stride;
  product.c = hidden_.data(), product.c_row_stride = lanes_, product.accumulate = true;
  MatMul(product);
}

Status DapeTile::Forward(const TileArguments& tile) const {
  POSLAB_RETURN_IF_ERROR(StartTile(tile));
  const v128_t leak = wasm_f32x4_splat(kLeak);
  for (int64_t j = 0; j < tile.keys; ++j) {
    const int64_t head_stride = tile.keys * tile.stride;
    float* logits = tile.logits + j * tile.stride;
    Sums(tile, j, logits, head_stride);
    for (int64_t n = 0; n < hidden_.size(); n += 4) {
      const v128_t sum = wasm_v128_load(hidden_.data() + n);
      wasm_v128_store(hidden_.data() + n, wasm_f32x4_max(sum, wasm_f32x4_mul(leak, sum)));
    }
    for (int64_t h = 0; h < heads_; ++h) {
      const float* biases = static_.data() + h * distances_ + Offset(tile, j);
      const v128_t bias = wasm_f32x4_splat(tensors.value(first_ + 3)[h]);
      for (int64_t i = 0; i < tile.queries; i += 4) {
        const int64_t lanes = tile.queries - i;
        float* at = logits + h * head_stride + i;
        const v128_t term = wasm_f32x4_add(LoadLanes(biases + i, lanes), bias);
        StoreLanes(at, lanes, wasm_f32x4_add(LoadLanes(at, lanes), term));
      }
    }
    MatMulArguments product;
    product.m = heads_, product.n = tile.queries, product.k = width_;
    product.a = tensors.value(first_ + 2), product.a_row_stride = width_;
    product.b = hidden_.data(), product.b_row_stride = lanes_;
    product.c = logits, product.c_row_stride = head_stride, product.accumulate = true;
    MatMul(product);
  }
  return Status::Ok();
}

Status DapeTile::Backward(const TileArguments& tile, const TileGradients& gradients) {
  POSLAB_RETURN_IF_ERROR(StartTile(tile));
  for (Buffer<float>* buffer : {&finite_, &through_}) {
    POSLAB_RETURN_IF_ERROR(buffer->ResizeForOverwrite("heads", CheckedProduct({heads_, lanes_})));
    std::fill(buffer->begin(), buffer->end(), 0.0f);
  }
  POSLAB_RETURN_IF_ERROR(by_hidden_.ResizeForOverwrite("width", hidden_.size()));
  for (Buffer<float>* buffer : {&by_weight1_, &by_weight2_}) {
    POSLAB_RETURN_IF_ERROR(buffer->ResizeForOverwrite("width", CheckedProduct({heads_, width_, 4})));
    std::fill(buffer->begin(), buffer->end(), 0.0f);
  }
  POSLAB_RETURN_IF_ERROR(by_static_.ResizeForOverwrite("heads", static_.size()));
  POSLAB_RETURN_IF_ERROR(by_sums_.ResizeForOverwrite("width", static_sums_.size()));
  std::fill(by_static_.begin(), by_static_.end(), 0.0f);
  std::fill(by_sums_.begin(), by_sums_.end(), 0.0f);
  for (int64_t j = 0; j < tile.keys; ++j) BackwardKey(tile, gradients, j);
  AddLaneSums(by_weight1_, width_, heads_, 2 * heads_, tensors.gradient(first_));
  AddLaneSums(by_weight2_, heads_, width_, width_, tensors.gradient(first_ + 2));
  ThroughDistances(tile);
  return Status::Ok();
}

void DapeTile::BackwardKey(const TileArguments& tile, const TileGradients& gradients, int64_t key) {
  const int64_t head_stride = tile.keys * tile.stride, offset = Offset(tile, key);
  float* logit_gradients = gradients.logits + key * tile.stride;
  for (int64_t h = 0; h < heads_; ++h) {
    const float* before = gradients.logits_before + key * tile.stride + h * head_stride;
    std::copy_n(logit_gradients + h * head_stride, tile.queries, through_.data() + h * lanes_);
    // What no query sees may be NaN, and 0 * NaN must not reach the perceptron's gradient.
    for (int64_t i = 0; i < tile.queries; i += 4) {
      const v128_t x = LoadLanes(before + i, tile.queries - i);
      const v128_t finite = wasm_f32x4_eq(wasm_f32x4_sub(x, x), wasm_f32x4_splat(0.0f));
      StoreLanes(finite_.data() + h * lanes_ + i, tile.queries - i, wasm_v128_and(x, finite));
    }
  }
  Sums(tile, key, finite_.data(), lanes_);
  MatMulArguments product;
  product.m = width_, product.n = lanes_, product.k = heads_;
  product.a = tensors.value(first_ + 2), product.a_row_stride = 1, product.a_column_stride = width_;
  product.b = through_.data(), product.b_row_stride = lanes_;
  product.c = by_hidden_.data(), product.c_row_stride = lanes_;
  MatMul(product);
  const v128_t leak = wasm_f32x4_splat(kLeak), zero = wasm_f32x4_splat(0.0f);
  for (int64_t n = 0; n < hidden_.size(); n += 4) {
    const v128_t sum = wasm_v128_load(hidden_.data() + n), gradient = wasm_v128_load(by_hidden_.data() + n);
    const v128_t slope = wasm_v128_bitselect(leak, wasm_f32x4_splat(1.0f), wasm_f32x4_lt(sum, zero));
    wasm_v128_store(hidden_.data() + n, wasm_f32x4_mul(sum, slope));
    wasm_v128_store(by_hidden_.data() + n, wasm_f32x4_mul(gradient, slope));
  }
  AddLaneProducts(through_.data(), heads_, hidden_.data(), width_, lanes_, by_weight2_.data());
  AddLaneProducts(by_hidden_.data(), width_, finite_.data(), heads_, lanes_, by_weight1_.data());
  for (int64_t h = 0; h < heads_; ++h)
    AddRow(through_.data() + h * lanes_, tile.queries, by_static_.data() + h * distances_ + offset);
  for (int64_t w = 0; w < width_; ++w)
    AddRow(by_hidden_.data() + w * lanes_, tile.queries, by_sums_.data() + w * distances_ + offset);
  product.m = heads_, product.n = tile.queries, product.k = width_;
  product.a = tensors.value(first_), product.a_column_stride = 2 * heads_;
  product.b = by_hidden_.data();
  product.c = logit_gradients, product.c_row_stride = head_stride, product.accumulate = true;
  MatMul(product);
}

// Gradients summed by distance, to the biases and to what they go through.
void DapeTile::ThroughDistances(const TileArguments& tile) {
  double *by_weight = tensors.gradient(first_), *by_bias1 = tensors.gradient(first_ + 1);
  double* by_bias2 = tensors.gradient(first_ + 3);
  for (int64_t n = 0; n < by_static_.size(); ++n) by_bias2[n / distances_] += by_static_[n];
  for (float& bias : static_) bias = std::isfinite(bias) ? bias : 0;
  for (int64_t w = 0; w < width_; ++w) {
    const float* sums = by_sums_.data() + w * distances_;
    for (int64_t n = 0; n < distances_; ++n) by_bias1[w] += sums[n];
    for (int64_t h = 0; h < heads_; ++h) {
      const float* biases = static_.data() + h * distances_;
      double sum = 0;
      for (int64_t n = 0; n < distances_; ++n) sum += static_cast<double>(sums[n]) * biases[n];
      by_weight[(2 * w + 1) * heads_ + h] += sum;
    }
  }
  if (!base.slice->learns()) return;
  MatMulArguments product;
  product.m = heads_, product.n = distances_, product.k = width_;
  product.a = tensors.value(first_) + heads_, product.a_row_stride = 1, product.a_column_stride = 2 * heads_;
  product.b = by_sums_.data(), product.b_row_stride = distances_;
  product.c = by_static_.data(), product.c_row_stride = distances_, product.accumulate = true;
  MatMul(product);
  for (int64_t n = 0; n < distances_; ++n) {
    const int64_t distance = DistanceAt(tile, n), row = distance - first_distance_;
    for (int64_t h = 0; h < heads_; ++h) {
      const double gradient = by_static_[h * distances_ + n];
      if (row >= 0 && row < rows_) {
        bias_gradients_[h * rows_ + row] += gradient;
      } else if (gradient != 0) {
        base.slice->Accumulate(h, distance, 1, &gradient);
      }
    }
  }
}

void DapeTile::Reference(const double* logits, const double* biases, const float* weight1, const float* bias1,
                         const float* weight2, const float* bias2, int64_t heads, int64_t width, double* out) {
  for (int64_t h = 0; h < heads; ++h) out[h] = logits[h] + biases[h] + bias2[h];
  for (int64_t w = 0; w < width; ++w) {
    double sum = bias1[w];
    for (int64_t h = 0; h < heads; ++h)
      sum += weight1[2 * w * heads + h] * logits[h] + weight1[(2 * w + 1) * heads + h] * biases[h];
    for (int64_t h = 0; h < heads; ++h) out[h] += weight2[h * width + w] * std::max(sum, double{kLeak} * sum);
  }
}

}  // namespace poslab
