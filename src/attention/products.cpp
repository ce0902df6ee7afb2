// SPDX-License-Identifier: MIT
#include "attention/products.h"

#include <algorithm>

#include "base/matmul.h"
#include "base/simd.h"

namespace poslab {
namespace {

// One query has no lanes to fill. Here the vectors lie along the rows, and memory is read in its order, row after row: that
// is what it can fetch ahead of, and more than twice as fast as a few rows side by side, although some sums and products
// go through the stack for it. Every sum is the chain of base/matmul.h, in the same order: products are turned from rows
// to lanes before they are added. Without fused multiply-adds the bits are those of a whole tile.
constexpr int kKeysAtOnce = 8;
constexpr ptrdiff_t kDimensionsAtOnce = 64;

Range SeenByFirst(const Tile& tile) { return tile.whole ? Range{0, tile.keys} : tile.lane[0]; }

// out[d][0] += sum over keys of weights[key][0] * keys[key][d] for 4 * kVectors dimensions from `first` on.
template <int kVectors>
void AddDimensions(Range seen, Rows keys, const float* weights, ptrdiff_t first, float* out) {
  alignas(16) float numbers[4 * kVectors];
  out += first * kTile;
  for (int n = 0; n < 4 * kVectors; ++n) numbers[n] = out[n * kTile];
  v128_t sum[kVectors];
  for (int n = 0; n < kVectors; ++n) sum[n] = wasm_v128_load(numbers + 4 * n);
  const float *row = keys.data + seen.begin * keys.stride + first, *weight = weights + seen.begin * kTile;
  for (int j = seen.begin; j < seen.end; ++j, row += keys.stride, weight += kTile) {
    const v128_t factor = wasm_v128_load32_splat(weight);
    for (int n = 0; n < kVectors; ++n) sum[n] = MulAdd(wasm_v128_load(row + 4 * n), factor, sum[n]);
  }
  for (int n = 0; n < kVectors; ++n) wasm_v128_store(numbers + 4 * n, sum[n]);
  for (int n = 0; n < 4 * kVectors; ++n) out[n * kTile] = numbers[n];
}

// out[d][0] += sum over keys of weights[key][0] * keys[key][d]
void AddOne(Range seen, Rows keys, const float* weights, int64_t dim, float* out) {
  const ptrdiff_t width = dim;
  ptrdiff_t first = 0;
  for (; first + kDimensionsAtOnce <= width; first += kDimensionsAtOnce)
    AddDimensions<kDimensionsAtOnce / 4>(seen, keys, weights, first, out);
  for (; first + 16 <= width; first += 16) AddDimensions<4>(seen, keys, weights, first, out);
  for (; first + 4 <= width; first += 4) AddDimensions<1>(seen, keys, weights, first, out);
  for (; first < width; ++first) {
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

void ScoreOne(const Tile& tile, Rows keys, const float* query, int64_t dim, float* scores) {
  const Range seen = SeenByFirst(tile);
  const ptrdiff_t stride = keys.stride, whole = dim & ~3;
  scores += seen.begin * kTile;
  const float* row = keys.data + seen.begin * stride;
  int left = seen.end - seen.begin;
  for (; left >= kKeysAtOnce; left -= kKeysAtOnce, row += kKeysAtOnce * stride) {
    v128_t sum[kKeysAtOnce / 4];
    for (v128_t& part : sum) part = wasm_f32x4_splat(0.0f);
    for (ptrdiff_t first = 0; first < whole; first += kDimensionsAtOnce) {
      const ptrdiff_t end = std::min(whole, first + kDimensionsAtOnce);
      alignas(16) float products[kKeysAtOnce * kDimensionsAtOnce];
      for (int n = 0; n < kKeysAtOnce; ++n) {
        const float* from = row + n * stride;
        float* to = products + n * kDimensionsAtOnce;
        for (ptrdiff_t d = first; d < end; d += 4, to += 4)
          wasm_v128_store(to, wasm_f32x4_mul(wasm_v128_load(query + d), wasm_v128_load(from + d)));
      }
      for (ptrdiff_t d = 0; d < end - first; d += 4) {
        for (int g = 0; g < kKeysAtOnce / 4; ++g) {
          v128_t turned[4];
          for (int n = 0; n < 4; ++n) turned[n] = wasm_v128_load(products + (4 * g + n) * kDimensionsAtOnce + d);
          Transpose4(turned);
          for (int n = 0; n < 4; ++n) sum[g] = wasm_f32x4_add(turned[n], sum[g]);
        }
      }
    }
    alignas(16) float by_key[kKeysAtOnce];
    for (int g = 0; g < kKeysAtOnce / 4; ++g) wasm_v128_store(by_key + 4 * g, sum[g]);
    for (int n = 0; n < kKeysAtOnce; ++n, scores += kTile) {
      for (ptrdiff_t d = whole; d < dim; ++d) by_key[n] = MulAdd(row[n * stride + d], query[d], by_key[n]);
      wasm_v128_store(scores, wasm_f32x4_splat(by_key[n]));
    }
  }
  for (; left > 0; --left, row += stride, scores += kTile) {
    float sum = 0;
    for (ptrdiff_t d = 0; d < dim; ++d) sum = MulAdd(row[d], query[d], sum);
    wasm_v128_store(scores, wasm_f32x4_splat(sum));
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
