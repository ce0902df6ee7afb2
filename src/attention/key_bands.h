// SPDX-License-Identifier: MIT
// Bands that meet the key (DeBERTa's position-to-content term, He et al. 2021, eq. 4): logit += scale * k(j) . r(j - i).
// A tile's relative vectors are laid out from the highest distance down, so that a row of keys reads them forwards.
#pragma once

#include "attention/bands.h"

namespace poslab {

struct KeyBandScratch {
  float* vectors = nullptr;   // [2 * kTile, width]: the tile's relative vectors, scaled, highest distance first
  float* panel = nullptr;     // [width, 2 * kTile]: the same transposed
  float* products = nullptr;  // [kTile, 2 * kTile]
  float* gradient = nullptr;  // [2 * kTile, width]
  void LayOut(Arena* arena, int64_t width, bool gradients);
};

// scores[key][lane] += scale * keys[key] . r(distance), where the tile is seen. keys: the rotated rows of the tile.
void AddKeyBandScores(const Call& call, const Band& band, int64_t head, const Tile& tile, Rows keys,
                      const KeyBandScratch& scratch, float* scores);

// The backward twin: adds to the gradients of the keys [tile.keys, width] and of the head's table. Score gradients
// must be zero where hidden.
void AddKeyBandGradients(const Call& call, const Band& band, int64_t head, const Tile& tile, Rows keys,
                         const float* score_gradients, const KeyBandScratch& scratch, float* key_gradients,
                         float* table_gradient);

}  // namespace poslab
