// SPDX-License-Identifier: MIT
#include "position/forgetting_tile.h"

namespace poslab {

Status ForgettingTile::Forward(const TileArguments& tile) const {
  if (!tile.gates) return Status::Text(Code::kMissing, "gates", "", "the logarithms of the forget gates [H, Lk]");
  const CountedKeys counted(tile);
  for (int64_t slot = 0; slot < tile.heads; ++slot) {
    const float* gates = tile.gates + slot * tile.key_positions.count + tile.first_key;
    float* logits = tile.logits + slot * tile.keys * tile.stride;
    float *sums = tile.state + slot * tile.queries * state_size(), *excesses = sums + tile.queries;
    for (int64_t i = 0; i < tile.queries; i += 4) {
      const int64_t lanes = tile.queries - i;
      const v128_t later = LoadLanes(sums + i, lanes);  // of the tiles before this one
      v128_t sum = wasm_f32x4_splat(0.0f);
      for (int64_t j = tile.keys - 1; j >= 0; --j) {
        float* at = logits + j * tile.stride + i;
        StoreLanes(at, lanes, wasm_f32x4_add(LoadLanes(at, lanes), wasm_f32x4_add(later, sum)));
        sum = wasm_f32x4_add(sum, wasm_v128_and(wasm_f32x4_splat(gates[j]), counted(i, lanes, j)));
      }
      // Kahan's sum of the tiles: as near after thousands of keys as after one tile. Past a closed gate, -infinity, there
      // is no excess.
      const v128_t due = wasm_f32x4_sub(sum, LoadLanes(excesses + i, lanes)), next = wasm_f32x4_add(later, due);
      const v128_t excess = wasm_f32x4_sub(wasm_f32x4_sub(next, later), due);
      StoreLanes(sums + i, lanes, next);
      StoreLanes(excesses + i, lanes, wasm_v128_and(excess, wasm_f32x4_eq(excess, excess)));
    }
  }
  return Status::Ok();
}

Status ForgettingTile::Backward(const TileArguments& tile, const TileGradients& gradients) {
  const CountedKeys counted(tile);
  for (int64_t slot = 0; slot < tile.heads; ++slot) {
    const float* through = gradients.logits + slot * tile.keys * tile.stride;
    // The sums of the gradients of the keys before.
    float* later = gradients.state + slot * tile.queries * state_size();
    float* gates = gradients.gates ? gradients.gates + slot * tile.key_positions.count + tile.first_key : nullptr;
    for (int64_t j = 0; j < tile.keys; ++j, through += tile.stride) {
      v128_t sum = wasm_f32x4_splat(0.0f);
      for (int64_t i = 0; i < tile.queries; i += 4) {
        const int64_t lanes = tile.queries - i;
        const v128_t before = LoadLanes(later + i, lanes);
        sum = wasm_f32x4_add(sum, wasm_v128_and(before, counted(i, lanes, j)));
        StoreLanes(later + i, lanes, wasm_f32x4_add(before, LoadLanes(through + i, lanes)));
      }
      if (gates) gates[j] += SumOfLanes(sum);
    }
  }
  return Status::Ok();
}

}  // namespace poslab
