// SPDX-License-Identifier: MIT
// The rotation hook applied to rows: (a, b) -> (a cos - b sin, b cos + a sin) for every pair of lanes (Su et al. 2021,
// eq. 34), and its transpose for gradients.
#pragma once

#include "position/scheme.h"

namespace poslab {

// Turns one row of `dim` floats, in place; lanes from 2 * pairs on stay. cos, sin: [pairs].
void TurnRow(Rotation::Layout layout, int64_t pairs, const float* cos, const float* sin, float* row);
// The same with the angle negated: the transpose, which is what gradients go through.
void TurnRowBack(Rotation::Layout layout, int64_t pairs, const float* cos, const float* sin, float* row);

// The row of cosines (or sines) for query or key `index`, wherever the hook keeps it.
struct Turn {
  const float* cos;
  const float* sin;
};
Turn QueryTurn(const Rotation& rotation, int64_t index);
Turn KeyTurn(const Rotation& rotation, int64_t index);

}  // namespace poslab
