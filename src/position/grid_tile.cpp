// SPDX-License-Identifier: MIT
#include "position/grid_tile.h"

#include <algorithm>

#include "base/simd.h"

namespace poslab {
namespace {

// Calls four(query, key, entry) where four queries read neighbouring entries, and one(query, key, entry) for the rest.
template <typename Four, typename One>
void ForEachEntry(const TileArguments& tile, const GridPlaces& places, Four four, One one) {
  const int64_t *queries = places.queries + tile.first_query, *keys = places.keys + tile.first_key;
  for (int64_t i = 0; i < tile.queries; i += 4) {
    const int64_t lanes = std::min<int64_t>(4, tile.queries - i);
    bool neighbours = lanes == 4;
    for (int64_t n = 1; n < lanes; ++n) neighbours = neighbours && queries[i + n] == queries[i] + n;
    for (int64_t j = 0; j < tile.keys; ++j) {
      if (neighbours) {
        four(i, j, queries[i] - keys[j]);
        continue;
      }
      for (int64_t n = i; n < i + lanes; ++n) one(n, j, queries[n] - keys[j]);
    }
  }
}

}  // namespace

void AddByPlace(const TileArguments& tile, const GridPlaces& places, const float* table) {
  float* logits = tile.logits;
  const int64_t stride = tile.stride;
  ForEachEntry(
      tile, places,
      [=](int64_t i, int64_t j, int64_t entry) {
        float* at = logits + j * stride + i;
        wasm_v128_store(at, wasm_f32x4_add(wasm_v128_load(at), wasm_v128_load(table + entry)));
      },
      [=](int64_t i, int64_t j, int64_t entry) { logits[j * stride + i] += table[entry]; });
}

void SumByPlace(const TileArguments& tile, const GridPlaces& places, const float* gradients, double* sums) {
  const int64_t stride = tile.stride;
  ForEachEntry(
      tile, places,
      [=](int64_t i, int64_t j, int64_t entry) {
        const v128_t x = wasm_v128_load(gradients + j * stride + i);
        double* at = sums + entry;
        const v128_t high = wasm_i32x4_shuffle(x, x, 2, 3, 2, 3);
        wasm_v128_store(at, wasm_f64x2_add(wasm_v128_load(at), wasm_f64x2_promote_low_f32x4(x)));
        wasm_v128_store(at + 2, wasm_f64x2_add(wasm_v128_load(at + 2), wasm_f64x2_promote_low_f32x4(high)));
      },
      [=](int64_t i, int64_t j, int64_t entry) { sums[entry] += gradients[j * stride + i]; });
}

}  // namespace poslab
