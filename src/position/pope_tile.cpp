// SPDX-License-Identifier: MIT
#include "position/pope_tile.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "base/matmul.h"
#include "base/sigmoid.h"
#include "position/tile_lanes.h"
#include "position/turn.h"

namespace poslab {
namespace {

constexpr double kTurn = 6.283185307179586;

}  // namespace

Status PopeTile::Prepare(const BindArguments& arguments) {
  const int64_t dim = arguments.dimensions.head_dim;
  POSLAB_RETURN_IF_ERROR(turned_.ResizeForOverwrite("phases", CheckedProduct({2, dim})));
  POSLAB_RETURN_IF_ERROR(phases_.ResizeForOverwrite("phases", CheckedProduct({2, tensors.size(0)})));
  for (int64_t n = 0; n < tensors.size(0); ++n) {
    const auto [sine, cosine] = SinCos(std::clamp<double>(tensors.value(0)[n], -kTurn, 0));
    const int64_t at = n / dim * 2 * dim + n % dim;
    phases_[at] = static_cast<float>(cosine), phases_[at + dim] = static_cast<float>(sine);
  }
  return Status::Ok();
}

Status PopeTile::Forward(const TileArguments& tile) const {
  const int64_t width = 2 * tile.head_dim;
  for (int64_t slot = 0; slot < tile.heads; ++slot) {
    POSLAB_RETURN_IF_ERROR(MakePanels(tile, slot));
    POSLAB_RETURN_IF_ERROR(transposed_.ResizeForOverwrite("query", query_panel_.size()));
    ProductLogits(tile, width, query_panel_.data(), key_panel_.data(), transposed_.data(),
                  tile.logits + slot * tile.keys * tile.stride);
  }
  return Status::Ok();
}

Status PopeTile::Backward(const TileArguments& tile, const TileGradients& gradients) {
  const int64_t dim = tile.head_dim, width = 2 * dim;
  for (int64_t slot = 0; slot < tile.heads; ++slot) {
    POSLAB_RETURN_IF_ERROR(MakePanels(tile, slot));
    POSLAB_RETURN_IF_ERROR(by_query_.ResizeForOverwrite("query", query_panel_.size()));
    POSLAB_RETURN_IF_ERROR(by_key_.ResizeForOverwrite("key", key_panel_.size()));
    float* through = gradients.logits + slot * tile.keys * tile.stride;
    ClearUnseenKeys(tile, through, width, key_panel_.data());
    MatMulArguments product;
    product.n = width, product.a = through, product.b_row_stride = product.c_row_stride = width;
    product.m = tile.queries, product.k = tile.keys, product.b = key_panel_.data(), product.c = by_query_.data();
    product.a_row_stride = 1, product.a_column_stride = tile.stride;
    MatMul(product);
    product.m = tile.keys, product.k = tile.queries, product.b = query_panel_.data(), product.c = by_key_.data();
    product.a_row_stride = tile.stride, product.a_column_stride = 1;
    MatMul(product);
    const float* sines;
    for (int64_t n = 0; gradients.query && n < tile.queries; ++n) {
      const int64_t row = (slot * tile.queries + n) * dim;
      const float* cosines = CosinesOf(tile.first_query + n, false, dim, &sines);
      ThroughPanel(cosines, sines, dim, tile.scale, tile.query + row, by_query_.data() + n * width,
                   gradients.query + row);
    }
    for (int64_t n = 0; gradients.key && n < tile.keys; ++n) {
      const int64_t row = (slot * tile.keys + n) * dim;
      const float* cosines = CosinesOf(tile.first_key + n, true, dim, &sines);
      ThroughPanel(cosines, sines, dim, tile.scale, tile.key + row, by_key_.data() + n * width, gradients.key + row);
    }
    AddToPhases(tile, slot);
    ClearLogitGradients(tile, through);
  }
  return Status::Ok();
}

const float* PopeTile::CosinesOf(int64_t index, bool is_key, int64_t dim, const float** sines) const {
  const Turn turn = is_key ? KeyTurn(*angles_, index) : QueryTurn(*angles_, index);
  *sines = turn.sin;
  if (!is_key) return turn.cos;
  float *cosines = turned_.data(), *turned_sines = cosines + dim;
  for (int64_t d = 0; d < dim; d += 4) {
    const int64_t lanes = dim - d;
    const v128_t cos = LoadLanes(turn.cos + d, lanes), sin = LoadLanes(turn.sin + d, lanes);
    const v128_t c = LoadLanes(head_phases_ + d, lanes), s = LoadLanes(head_phases_ + dim + d, lanes);
    StoreLanes(cosines + d, lanes, wasm_f32x4_sub(wasm_f32x4_mul(cos, c), wasm_f32x4_mul(sin, s)));
    StoreLanes(turned_sines + d, lanes, wasm_f32x4_add(wasm_f32x4_mul(sin, c), wasm_f32x4_mul(cos, s)));
  }
  *sines = turned_sines;
  return cosines;
}

Status PopeTile::MakePanels(const TileArguments& tile, int64_t slot) const {
  const int64_t dim = tile.head_dim;
  POSLAB_RETURN_IF_ERROR(query_panel_.ResizeForOverwrite("query", CheckedProduct({tile.queries, 2, dim})));
  POSLAB_RETURN_IF_ERROR(key_panel_.ResizeForOverwrite("key", CheckedProduct({tile.keys, 2, dim})));
  head_phases_ = phases_.data() + (tile.head + slot) * 2 * dim;
  const float* sines;
  for (int64_t n = 0; n < tile.queries; ++n) {
    const float* cosines = CosinesOf(tile.first_query + n, false, dim, &sines);
    MakePanel(cosines, sines, dim, tile.query + (slot * tile.queries + n) * dim, query_panel_.data() + n * 2 * dim);
  }
  for (int64_t n = 0; n < tile.keys; ++n) {
    const float* cosines = CosinesOf(tile.first_key + n, true, dim, &sines);
    MakePanel(cosines, sines, dim, tile.key + (slot * tile.keys + n) * dim, key_panel_.data() + n * 2 * dim);
  }
  return Status::Ok();
}

void PopeTile::MakePanel(const float* cosines, const float* sines, int64_t dim, const float* row, float* panel) const {
  for (int64_t d = 0; d < dim; d += 4) {
    const int64_t lanes = dim - d;
    const v128_t length = Softplus(LoadLanes(row + d, lanes));
    StoreLanes(panel + d, lanes, wasm_f32x4_mul(length, LoadLanes(cosines + d, lanes)));
    StoreLanes(panel + dim + d, lanes, wasm_f32x4_mul(length, LoadLanes(sines + d, lanes)));
  }
}

void PopeTile::ThroughPanel(const float* cosines, const float* sines, int64_t dim, float scale, const float* row,
                            const float* by_panel, float* by_row) const {
  const v128_t zero = wasm_f32x4_splat(0.0f), scales = wasm_f32x4_splat(scale);
  for (int64_t d = 0; d < dim; d += 4) {
    const int64_t lanes = dim - d;
    const v128_t by_cos = LoadLanes(by_panel + d, lanes), by_sin = LoadLanes(by_panel + dim + d, lanes);
    const v128_t by_length = wasm_f32x4_add(wasm_f32x4_mul(by_cos, LoadLanes(cosines + d, lanes)),
                                            wasm_f32x4_mul(by_sin, LoadLanes(sines + d, lanes)));
    const v128_t slope = wasm_f32x4_mul(scales, Sigmoid(LoadLanes(row + d, lanes)));
    // Rows that nobody sees may hold anything.
    const v128_t seen = wasm_v128_or(wasm_f32x4_ne(by_cos, zero), wasm_f32x4_ne(by_sin, zero));
    const v128_t term = wasm_v128_and(wasm_f32x4_mul(by_length, slope), seen);
    StoreLanes(by_row + d, lanes, wasm_f32x4_add(LoadLanes(by_row + d, lanes), term));
  }
}

void PopeTile::AddToPhases(const TileArguments& tile, int64_t slot) {
  // A panel's row turned by a quarter is its derivative by the angle.
  const int64_t dim = tile.head_dim;
  const float* phases = tensors.value(0) + (tile.head + slot) * dim;
  double* gradient = tensors.gradient(0) + (tile.head + slot) * dim;
  for (int64_t d = 0; d < dim; d += 4) {
    const int64_t lanes = dim - d;
    v128_t sum = wasm_f32x4_splat(0.0f);
    for (int64_t n = 0; n < tile.keys; ++n) {
      const float *panel = key_panel_.data() + n * 2 * dim + d, *by_panel = by_key_.data() + n * 2 * dim + d;
      sum = MulAdd(LoadLanes(by_panel + dim, lanes), LoadLanes(panel, lanes), sum);
      sum = wasm_f32x4_sub(sum, wasm_f32x4_mul(LoadLanes(by_panel, lanes), LoadLanes(panel + dim, lanes)));
    }
    float sums[4];
    wasm_v128_store(sums, sum);
    for (int64_t n = 0; n < std::min<int64_t>(4, lanes); ++n) {
      const bool clamped = phases[d + n] > 0 || phases[d + n] < -kTurn;
      if (!clamped) gradient[d + n] += static_cast<double>(tile.scale) * sums[n];
    }
  }
}

double PopeTile::LogitReference(const float* query, const float* key, const double* angles, int64_t dim, double scale) {
  const auto length = [](double x) { return std::max(x, 0.0) + Log(1 + Exp(-std::fabs(x))); };
  double sum = 0;
  for (int64_t d = 0; d < dim; ++d) sum += length(query[d]) * length(key[d]) * Cos(angles[d]);
  return scale * sum;
}

}  // namespace poslab
