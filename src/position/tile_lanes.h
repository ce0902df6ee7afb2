// SPDX-License-Identifier: MIT
// What the kernels of tile hooks share: four queries as lanes, fewer at the end of a tile, and which keys a query counts.
#pragma once

#include <algorithm>

#include "base/simd.h"
#include "position/scheme.h"

namespace poslab {

// Fewer than four floats; lanes beyond repeat the last.
v128_t LoadPart(const float* from, int64_t count);
void StorePart(float* to, int64_t count, v128_t lanes);

// The first `count` of four floats, all of them when there are more.
inline v128_t LoadLanes(const float* from, int64_t count) {
  return count >= 4 ? wasm_v128_load(from) : LoadPart(from, count);
}
inline void StoreLanes(float* to, int64_t count, v128_t lanes) {
  if (count < 4) return StorePart(to, count, lanes);
  wasm_v128_store(to, lanes);
}
float SumOfLanes(v128_t lanes);

// For hooks that put logits of their own in the place of a head's content logits, given the gradients of those.
// A key that no query of the tile sees may hold NaN, and 0 * NaN must not reach a query's gradient: its row of
// `key_panel` [keys, width] becomes zeros.
void ClearUnseenKeys(const TileArguments& tile, const float* logit_gradients, int64_t width, float* key_panel);
// Nothing flows on to the content logits.
void ClearLogitGradients(const TileArguments& tile, float* logit_gradients);

// logits [keys, tile.stride] = scale * key_panel [keys, width] . query_panel [queries, width]^T; `transposed` is scratch for
// queries * width floats.
void ProductLogits(const TileArguments& tile, int64_t width, const float* query_panel, const float* key_panel,
                   float* transposed, float* logits);

// Which keys of a tile a query counts: those within its reach, at its own position or before, that the key mask does not
// hide.
class CountedKeys {
 public:
  explicit CountedKeys(const TileArguments& tile);

  // All bits set in the lanes, of queries `query` to query + count - 1 of the tile, that count the key.
  v128_t operator()(int64_t query, int64_t count, int64_t key) const {
    return all_ && count >= 4 ? wasm_i32x4_splat(-1) : Lanes(query, std::min<int64_t>(count, 4), key);
  }

 private:
  v128_t Lanes(int64_t query, int64_t count, int64_t key) const;

  const TileArguments& tile_;
  bool all_;
};

}  // namespace poslab
