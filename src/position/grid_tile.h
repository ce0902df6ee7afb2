// SPDX-License-Identifier: MIT
// A bias by difference of places on tiles: the entry of a table that lies so many steps before that of a query as the key
// says. Queries as lanes; four that follow one another along a row read four entries at once.
#pragma once

#include "position/scheme.h"

namespace poslab {

// The places of a call's queries and keys: query i and key j share entry queries[i] - keys[j] of a table.
struct GridPlaces {
  const int64_t* queries = nullptr;
  const int64_t* keys = nullptr;
};

// logits of the tile's head += the entries of `table`.
void AddByPlace(const TileArguments& tile, const GridPlaces& places, const float* table);
// sums of the entries += gradients [keys, stride] of the tile's logits.
void SumByPlace(const TileArguments& tile, const GridPlaces& places, const float* gradients, double* sums);

}  // namespace poslab
