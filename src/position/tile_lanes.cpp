// SPDX-License-Identifier: MIT
#include "position/tile_lanes.h"

#include "base/matmul.h"
#include "base/transpose.h"

namespace poslab {

v128_t LoadPart(const float* from, int64_t count) {
  return wasm_f32x4_make(from[0], from[count > 1 ? 1 : 0], from[count - 1], from[count - 1]);
}

void StorePart(float* to, int64_t count, v128_t lanes) {
  float all[4];
  wasm_v128_store(all, lanes);
  std::copy_n(all, count, to);
}

float SumOfLanes(v128_t lanes) {
  float all[4];
  wasm_v128_store(all, lanes);
  return (all[0] + all[1]) + (all[2] + all[3]);
}

void ClearUnseenKeys(const TileArguments& tile, const float* logit_gradients, int64_t width, float* key_panel) {
  for (int64_t key = 0; key < tile.keys; ++key) {
    const float* row = logit_gradients + key * tile.stride;
    const bool unseen = std::all_of(row, row + tile.queries, [](float gradient) { return gradient == 0; });
    if (unseen) std::fill_n(key_panel + key * width, width, 0.0f);
  }
}

void ClearLogitGradients(const TileArguments& tile, float* logit_gradients) {
  for (int64_t key = 0; key < tile.keys; ++key) std::fill_n(logit_gradients + key * tile.stride, tile.queries, 0.0f);
}

void ProductLogits(const TileArguments& tile, int64_t width, const float* query_panel, const float* key_panel,
                   float* transposed, float* logits) {
  Transpose(query_panel, width, tile.queries, width, transposed, tile.queries, tile.scale);
  MatMulArguments product;
  product.m = tile.keys, product.n = tile.queries, product.k = width;
  product.a = key_panel, product.a_row_stride = width;
  product.b = transposed, product.b_row_stride = tile.queries;
  product.c = logits, product.c_row_stride = tile.stride;
  MatMul(product);
}

CountedKeys::CountedKeys(const TileArguments& tile) : tile_(tile) {
  const int64_t end = tile.first_key + tile.keys;
  all_ = tile.query_positions.contiguous() && tile.key_positions.contiguous() && !tile.key_mask &&
         tile.key_positions[end - 1] <= tile.query_positions[tile.first_query] && tile.reach[0] >= end;
}

v128_t CountedKeys::Lanes(int64_t query, int64_t count, int64_t key) const {
  int32_t lanes[4] = {};
  key += tile_.first_key;
  if (tile_.key_mask && !tile_.key_mask[key]) count = 0;
  const int64_t position = tile_.key_positions[key];
  for (int64_t n = 0; n < count; ++n) {
    const bool counts =
        key < tile_.reach[query + n] && position <= tile_.query_positions[tile_.first_query + query + n];
    lanes[n] = -static_cast<int32_t>(counts);
  }
  return wasm_v128_load(lanes);
}

}  // namespace poslab
