// SPDX-License-Identifier: MIT
// The forget gates' sums on tiles, with queries as lanes, from the last key to the first.
#pragma once

#include "position/tile_lanes.h"
#include "position/tile_scheme.h"

namespace poslab {

class ForgettingTile final : public LearnedTile {
 public:
  bool descending() const override { return true; }
  // The sums of the gates after the tile, of a head's queries, then by how much rounding has made them too large.
  int64_t state_size() const override { return 2; }
  Status Forward(const TileArguments& tile) const override;
  Status Backward(const TileArguments& tile, const TileGradients& gradients) override;
};

}  // namespace poslab
