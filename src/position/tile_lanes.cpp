// SPDX-License-Identifier: MIT
#include "position/tile_lanes.h"

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

CountedKeys::CountedKeys(const TileArguments& tile) : tile_(tile) {
  regular_ = tile.query_positions.contiguous() && tile.key_positions.contiguous();
  if (regular_) last_ = tile.query_positions[tile.first_query] - tile.key_positions[tile.first_key];
  all_ = regular_ && !tile.key_mask && last_ >= tile.keys - 1;
}

v128_t CountedKeys::Lanes(int64_t query, int64_t count, int64_t key) const {
  int32_t lanes[4] = {};
  if (tile_.key_mask && !tile_.key_mask[tile_.first_key + key]) count = 0;
  // Where positions step by one, query n of the tile counts the keys up to number last_ + n.
  for (int64_t n = 0; n < count; ++n) {
    const bool counts =
        regular_ ? key <= last_ + query + n
                 : tile_.key_positions[tile_.first_key + key] <= tile_.query_positions[tile_.first_query + query + n];
    lanes[n] = -static_cast<int32_t>(counts);
  }
  return wasm_v128_load(lanes);
}

}  // namespace poslab
