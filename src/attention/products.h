// SPDX-License-Identifier: MIT
// The matrix products of one tile, cut to what its queries see: a causal tile on the diagonal costs little more than
// half of a whole one. Scores and weights are keys-major, [keys, kTile], with queries as lanes.
#pragma once

#include "attention/rows.h"
#include "attention/visibility.h"

namespace poslab {

// scores[key][lane] = keys[key] . panel[:, lane], where the tile is seen.
// keys: [tile.keys, dim]; panel: [dim, kTile].
void ScoreTile(const Tile& tile, Rows keys, const float* panel, int64_t dim, float* scores);

// The same for a tile of one query, from the query itself, [dim].
void ScoreOne(const Tile& tile, Rows keys, const float* query, int64_t dim, float* scores);

// out[d][lane] += sum over keys of weights[key][lane] * keys[key][d]: the output from the values, or the gradient of the
// queries from the keys. Weights must be zero where hidden; hidden keys may hold NaN or infinity. out: [dim, kTile].
void AddByLane(const Tile& tile, Rows keys, const float* weights, int64_t dim, float* out);

// out[key][d] += sum over queries of weights[key][query] * queries[query][d]: the gradients of values and keys.
// Weights must be zero where hidden (ClearAround included). out: [tile.keys, dim] packed.
void AddByKey(const Tile& tile, const float* weights, Rows queries, int64_t dim, float* out);

}  // namespace poslab
