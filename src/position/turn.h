// SPDX-License-Identifier: MIT
// The rotation hook applied to rows: (a, b) -> (a cos - b sin, b cos + a sin) for every pair of lanes (Su et al. 2021,
// eq. 34), and its transpose for gradients.
#pragma once

#include "position/scheme.h"

namespace poslab {

// Turns `count` rows of `dim` floats, in place; lanes from 2 * pairs on stay. cos, sin: [count, pairs].
void TurnRowsOn(Rotation::Layout layout, int64_t pairs, const float* cos, const float* sin, int64_t count, int64_t dim,
                float* rows);
// The same with the angle negated: the transpose, which is what gradients go through.
void TurnRowsBack(Rotation::Layout layout, int64_t pairs, const float* cos, const float* sin, int64_t count,
                  int64_t dim, float* rows);

// One row.
inline void TurnRow(Rotation::Layout layout, int64_t pairs, const float* cos, const float* sin, float* row) {
  TurnRowsOn(layout, pairs, cos, sin, 1, 0, row);
}
inline void TurnRowBack(Rotation::Layout layout, int64_t pairs, const float* cos, const float* sin, float* row) {
  TurnRowsBack(layout, pairs, cos, sin, 1, 0, row);
}

// The row of cosines (or sines) for query or key `index`, wherever the hook keeps it.
struct Turn {
  const float* cos;
  const float* sin;
};
Turn QueryTurn(const Rotation& rotation, int64_t index);
Turn KeyTurn(const Rotation& rotation, int64_t index);

}  // namespace poslab
