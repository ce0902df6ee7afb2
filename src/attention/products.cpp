// SPDX-License-Identifier: MIT
#include "attention/products.h"

#include <algorithm>

#include "base/matmul.h"

namespace poslab {
namespace {

// 0 * NaN is NaN: where a hidden key holds no finite numbers, what each lane sees is added entry by entry.
void AddSeenByLane(const Tile& tile, Rows keys, const float* weights, int64_t dim, float* out) {
  for (int n = 0; n < tile.lanes; ++n) {
    for (int j = tile.lane[n].begin; j < tile.lane[n].end; ++j) {
      const float* key = keys.data + j * keys.stride;
      for (int64_t d = 0; d < dim; ++d) out[d * kTile + n] += weights[j * kTile + n] * key[d];
    }
  }
}

}  // namespace

void ScoreTile(const Tile& tile, Rows keys, const float* panel, int64_t dim, float* scores) {
  if (tile.whole) {
    MatMul({tile.keys, tile.lanes, dim, keys.data, keys.stride, 1, panel, kTile, scores, kTile, false});
    return;
  }
  for (int g = 0; g < tile.groups(); ++g) {
    const Range seen = tile.group[g];
    MatMul({seen.end - seen.begin, tile.GroupWidth(g), dim, keys.data + seen.begin * keys.stride, keys.stride, 1,
            panel + g * kGroup, kTile, scores + seen.begin * kTile + g * kGroup, kTile, false});
  }
}

void AddByLane(const Tile& tile, Rows keys, const float* weights, int64_t dim, float* out) {
  if (tile.whole) {
    MatMul({dim, tile.lanes, tile.keys, keys.data, 1, keys.stride, weights, kTile, out, kTile, true});
    return;
  }
  if (!AllFinite(keys, tile.keys, dim)) return AddSeenByLane(tile, keys, weights, dim, out);
  for (int g = 0; g < tile.groups(); ++g) {
    const Range seen = tile.group[g];
    MatMul({dim, tile.GroupWidth(g), seen.end - seen.begin, keys.data + seen.begin * keys.stride, 1, keys.stride,
            weights + seen.begin * kTile + g * kGroup, kTile, out + g * kGroup, kTile, true});
  }
}

void AddByKey(const Tile& tile, const float* weights, Rows queries, int64_t dim, float* out) {
  if (tile.whole) {
    MatMul({tile.keys, dim, tile.queries, weights, kTile, 1, queries.data, queries.stride, out, dim, true});
    return;
  }
  for (int g = 0; g * kGroup < tile.keys; ++g) {
    const Range seen = tile.row[g];
    const int first = g * kGroup;
    MatMul({std::min(kGroup, tile.keys - first), dim, seen.end - seen.begin, weights + first * kTile + seen.begin,
            kTile, 1, queries.data + seen.begin * queries.stride, queries.stride, out + first * dim, dim, true});
  }
}

}  // namespace poslab
