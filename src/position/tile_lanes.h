// SPDX-License-Identifier: MIT
// What the kernels of tile hooks share: four queries as lanes, fewer at the end of a tile, and which keys a query counts.
#pragma once

#include <algorithm>

#include "base/simd.h"
#include "position/scheme.h"

namespace poslab {

// The first `count` of four floats (all of them when there are more); lanes beyond repeat the last.
inline v128_t LoadLanes(const float* from, int64_t count) {
  if (count >= 4) return wasm_v128_load(from);
  return wasm_f32x4_make(from[0], from[count > 1 ? 1 : 0], from[count - 1], from[count - 1]);
}
inline void StoreLanes(float* to, int64_t count, v128_t lanes) {
  if (count >= 4) return wasm_v128_store(to, lanes);
  float all[4];
  wasm_v128_store(all, lanes);
  std::copy_n(all, count, to);
}
inline float SumOfLanes(v128_t lanes) {
  float all[4];
  wasm_v128_store(all, lanes);
  return (all[0] + all[1]) + (all[2] + all[3]);
}

// Which keys of a tile a query counts: those at its own position or before that the key mask does not hide.
class CountedKeys {
 public:
  explicit CountedKeys(const TileArguments& tile) : tile_(tile) {
    regular_ = tile.query_positions.contiguous() && tile.key_positions.contiguous();
    if (regular_) last_ = tile.query_positions[tile.first_query] - tile.key_positions[tile.first_key];
    all_ = regular_ && !tile.key_mask && last_ >= tile.keys - 1;
  }

  // All bits set in the lanes, of queries `query` to query + count - 1 of the tile, that count the key.
  v128_t operator()(int64_t query, int64_t count, int64_t key) const {
    const v128_t lanes = wasm_i32x4_make(0, 1, 2, 3);
    const v128_t there = wasm_i32x4_lt(lanes, wasm_i32x4_splat(static_cast<int32_t>(std::min<int64_t>(count, 4))));
    return all_ ? there : wasm_v128_and(there, Within(query, std::min<int64_t>(count, 4), key));
  }

 private:
  v128_t Within(int64_t query, int64_t count, int64_t key) const {
    if (tile_.key_mask && !tile_.key_mask[tile_.first_key + key]) return wasm_i32x4_splat(0);
    if (regular_) {
      // Lane n counts the key when key <= last_ + query + n.
      const auto before = static_cast<int32_t>(std::clamp<int64_t>(key - last_ - query, 0, 4));
      return wasm_i32x4_ge(wasm_i32x4_make(0, 1, 2, 3), wasm_i32x4_splat(before));
    }
    int32_t lanes[4] = {};
    for (int64_t n = 0; n < count; ++n)
      lanes[n] = -(tile_.key_positions[tile_.first_key + key] <= tile_.query_positions[tile_.first_query + query + n]);
    return wasm_v128_load(lanes);
  }

  const TileArguments& tile_;
  bool regular_, all_;
  int64_t last_ = 0;  // the tile's key, by number, that stands at the first query's position
};

}  // namespace poslab
