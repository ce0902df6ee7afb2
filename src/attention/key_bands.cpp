// SPDX-License-Identifier: MIT
#include "attention/key_bands.h"

#include <algorithm>

#include "base/matmul.h"
#include "base/simd.h"
#include "base/transpose.h"

namespace poslab {
namespace {

constexpr int kStride = 2 * kTile;

Range SeenKeys(const Tile& tile, int lane) { return tile.whole ? Range{0, tile.keys} : tile.lane[lane]; }

// Fills scratch.vectors: entry (key, lane) meets vector keys - 1 - key + lane.
void LayOutVectors(const Band& band, int64_t head, const BandTile& numbers, float scale, float* vectors) {
  const float* table = BandTable(band, head);
  for (int n = 0; n < numbers.count; ++n) {
    const int64_t row = numbers.Row(band, numbers.count - 1 - n);
    ScaleRows(table + row * band.width, 1, band.width, scale, nullptr, vectors + n * band.width);
  }
}

// The vectors that keys first to first + height - 1 meet.
Range Vectors(const Tile& tile, int first, int height) {
  return {tile.keys - first - height, tile.keys - 1 - first + tile.lanes};
}

}  // namespace

void KeyBandScratch::LayOut(Arena* arena, int64_t width, bool gradients) {
  vectors = arena->Take<float>(kStride * width);
  panel = arena->Take<float>(kStride * width);
  products = arena->Take<float>(kTile * kStride);
  if (gradients) gradient = arena->Take<float>(kStride * width);
}

void AddKeyBandScores(const Call& call, const Band& band, int64_t head, const Tile& tile, Rows keys,
                      const KeyBandScratch& scratch, float* scores) {
  const BandTile numbers = MakeBandTile(call, band, tile);
  if (!numbers.regular) {
    for (int n = 0; n < tile.queries; ++n) {
      for (int j = SeenKeys(tile, n).begin; j < SeenKeys(tile, n).end; ++j) {
        const float* row = BandTable(band, head) + BandRow(call, band, tile, j, n) * band.width;
        float sum = 0;
        for (int64_t d = 0; d < band.width; ++d) sum += keys.data[j * keys.stride + d] * row[d];
        scores[j * kTile + n] += call.scale * sum;
      }
    }
    return;
  }
  LayOutVectors(band, head, numbers, call.scale, scratch.vectors);
  Transpose(scratch.vectors, band.width, numbers.count, band.width, scratch.panel, kStride);
  for (int j = 0; j < tile.keys; j += kGroup) {
    const int height = std::min(kGroup, tile.keys - j);
    const Range meet = Vectors(tile, j, height);
    MatMul({height, meet.end - meet.begin, band.width, keys.data + j * keys.stride, keys.stride, 1,
            scratch.panel + meet.begin, kStride, scratch.products + j * kStride + meet.begin, kStride, false});
  }
  for (int j = 0; j < tile.keys; ++j) {
    const float* products = scratch.products + j * kStride + tile.keys - 1 - j;
    for (int n = 0; n < tile.lanes; n += 4) {
      float* at = scores + j * kTile + n;
      wasm_v128_store(at, wasm_f32x4_add(wasm_v128_load(at), wasm_v128_load(products + n)));
    }
  }
}

void AddKeyBandGradients(const Call& call, const Band& band, int64_t head, const Tile& tile, Rows keys,
                         const float* score_gradients, const KeyBandScratch& scratch, float* key_gradients,
                         float* table_gradient) {
  const BandTile numbers = MakeBandTile(call, band, tile);
  if (!numbers.regular || (!tile.whole && !AllFinite(keys, tile.keys, band.width))) {
    for (int n = 0; n < tile.queries; ++n) {
      for (int j = SeenKeys(tile, n).begin; j < SeenKeys(tile, n).end; ++j) {
        const int64_t row = BandRow(call, band, tile, j, n) * band.width;
        const float weight = call.scale * score_gradients[j * kTile + n];
        const float* vector = BandTable(band, head) + row;
        for (int64_t d = 0; d < band.width; ++d) {
          key_gradients[j * band.width + d] += weight * vector[d];
          table_gradient[row + d] += weight * keys.data[j * keys.stride + d];
        }
      }
    }
    return;
  }
  LayOutVectors(band, head, numbers, call.scale, scratch.vectors);
  std::fill_n(scratch.products, tile.keys * kStride, 0.0f);
  for (int n = 0; n < tile.queries; ++n)
    for (int j = SeenKeys(tile, n).begin; j < SeenKeys(tile, n).end; ++j)
      scratch.products[j * kStride + tile.keys - 1 - j + n] = score_gradients[j * kTile + n];
  for (int j = 0; j < tile.keys; j += kGroup) {
    const int height = std::min(kGroup, tile.keys - j);
    const Range meet = Vectors(tile, j, height);
    MatMul({height, band.width, meet.end - meet.begin, scratch.products + j * kStride + meet.begin, kStride, 1,
            scratch.vectors + meet.begin * band.width, band.width, key_gradients + j * band.width, band.width, true});
  }
  MatMul({numbers.count, band.width, tile.keys, scratch.products, 1, kStride, keys.data, keys.stride, scratch.gradient,
          band.width, false});
  for (int n = 0; n < numbers.count; ++n) {
    const int64_t row = numbers.Row(band, numbers.count - 1 - n);
    for (int64_t d = 0; d < band.width; ++d)
      table_gradient[row * band.width + d] += call.scale * scratch.gradient[n * band.width + d];
  }
}

}  // namespace poslab
