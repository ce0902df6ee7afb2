// SPDX-License-Identifier: MIT
#include "attention/products.h"

#include <algorithm>

#include "base/matmul.h"
#include "base/simd.h"

namespace poslab {
namespace {

// One query has no lanes to fill. Here the vectors lie along the keys (scores) and along the dimensions (output), so
// that decoding reads the cache about as fast as memory gives it. Every sum is the chain of base/matmul.h, in the same
// order: the bits are those of a whole tile.
constexpr int kKeysAtOnce = 16, kDimensionsAtOnce = 32;

Range SeenByFirst(const Tile& tile) { return tile.whole ? Range{0, tile.keys} : tile.lane[0]; }

// Reads a number of every 64 bytes, in the order of memory. Rows that are then taken sixteen at a time would come from
// memory in an order that no processor foresees: a third of the time went into waiting.
void ReadAhead(Range seen, Rows rows, int64_t dim) {
  constexpr int64_t kLine = 64 / sizeof(float);
  for (int j = seen.begin; j < seen.end; ++j) {
    const volatile float* row = rows.data + j * rows.stride;
    for (int64_t d = 0; d < dim; d += kLine) static_cast<void>(row[d]);
  }
}

// scores[key][0] = keys[key] . query, the query's numbers kTile apart.
void ScoreOne(Range seen, Rows keys, const float* query, int64_t dim, float* scores) {
  ReadAhead(seen, keys, dim);
  int j = seen.begin;
  for (; j + kKeysAtOnce <= seen.end; j += kKeysAtOnce) {
    const float* rows = keys.data + j * keys.stride;
    v128_t sum[kKeysAtOnce / 4];
    for (v128_t& part : sum) part = wasm_f32x4_splat(0.0f);
    int64_t d = 0;
    for (; d + 4 <= dim; d += 4) {
      for (int g = 0; g < kKeysAtOnce / 4; ++g) {
        v128_t columns[4];
        for (int n = 0; n < 4; ++n) columns[n] = wasm_v128_load(rows + (4 * g + n) * keys.stride + d);
        Transpose4(columns);
        for (int n = 0; n < 4; ++n)
          sum[g] = MulAdd(columns[n], wasm_v128_load32_splat(query + (d + n) * kTile), sum[g]);
      }
    }
    alignas(16) float by_key[kKeysAtOnce];
    for (int g = 0; g < kKeysAtOnce / 4; ++g) wasm_v128_store(by_key + 4 * g, sum[g]);
    for (; d < dim; ++d)
      for (int n = 0; n < kKeysAtOnce; ++n) by_key[n] = MulAdd(rows[n * keys.stride + d], query[d * kTile], by_key[n]);
    for (int n = 0; n < kKeysAtOnce; ++n) wasm_v128_store(scores + (j + n) * kTile, wasm_f32x4_splat(by_key[n]));
  }
  for (; j < seen.end; ++j) {
    float sum = 0;
    for (int64_t d = 0; d < dim; ++d) sum = MulAdd(keys.data[j * keys.stride + d], query[d * kTile], sum);
    wasm_v128_store(scores + j * kTile, wasm_f32x4_splat(sum));
  }
}

// out[d][0] += sum over keys of weights[key][0] * keys[key][d]
void AddOne(Range seen, Rows keys, const float* weights, int64_t dim, float* out) {
  ReadAhead(seen, keys, dim);
  int64_t first = 0;
  for (; first + kDimensionsAtOnce <= dim; first += kDimensionsAtOnce) {
    alignas(16) float numbers[kDimensionsAtOnce];
    for (int n = 0; n < kDimensionsAtOnce; ++n) numbers[n] = out[(first + n) * kTile];
    v128_t sum[kDimensionsAtOnce / 4];
    for (int n = 0; n < kDimensionsAtOnce / 4; ++n) sum[n] = wasm_v128_load(numbers + 4 * n);
    for (int j = seen.begin; j < seen.end; ++j) {
      const float* row = keys.data + j * keys.stride + first;
      const v128_t weight = wasm_v128_load32_splat(weights + j * kTile);
      for (int n = 0; n < kDimensionsAtOnce / 4; ++n) sum[n] = MulAdd(wasm_v128_load(row + 4 * n), weight, sum[n]);
    }
    for (int n = 0; n < kDimensionsAtOnce / 4; ++n) wasm_v128_store(numbers + 4 * n, sum[n]);
    for (int n = 0; n < kDimensionsAtOnce; ++n) out[(first + n) * kTile] = numbers[n];
  }
  for (; first < dim; ++first) {
    float& sum = out[first * kTile];
    for (int j = seen.begin; j < seen.end; ++j)
      sum = MulAdd(keys.data[j * keys.stride + first], weights[j * kTile], sum);
  }
}

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
  if (tile.queries == 1) return ScoreOne(SeenByFirst(tile), keys, panel, dim, scores);
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
  if (!tile.whole && !AllFinite(keys, tile.keys, dim)) return AddSeenByLane(tile, keys, weights, dim, out);
  if (tile.queries == 1) return AddOne(SeenByFirst(tile), keys, weights, dim, out);
  if (tile.whole) {
    MatMul({dim, tile.lanes, tile.keys, keys.data, 1, keys.stride, weights, kTile, out, kTile, true});
    return;
  }
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
