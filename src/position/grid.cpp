// SPDX-License-Identifier: MIT
#include "position/grid.h"

#include <algorithm>

#include "position/positions.h"

namespace poslab {

Grid Grid::Of(const Description& description) {
  return {static_cast<int64_t>(NumberOr(description, "gridHeight", 0)),
          static_cast<int64_t>(NumberOr(description, "gridWidth", 0)),
          static_cast<int64_t>(NumberOr(description, "prefixTokens", 0))};
}

Result<Grid> Grid::Known(const Dimensions& dimensions) const {
  Grid known = *this;
  if (known.height == 0) known.height = 1;
  if (known.width > 0) return known;
  if (dimensions.trained_length <= 0)
    return Status::Text(Code::kMissing, "position.gridWidth", "", "how many columns the grid has");
  const int64_t tokens = std::clamp<int64_t>(dimensions.trained_length - prefix_tokens, 1, kLargestPosition);
  known.width = (tokens + known.height - 1) / known.height;
  return known;
}

Status PlaceOnGrid(const Grid& grid, Positions positions, std::string_view argument, Buffer<int64_t>* ids,
                   Positions* placed) {
  POSLAB_RETURN_IF_ERROR(CheckPositions(positions, argument, 2));
  *placed = positions;
  if (positions.axes == 2) return Status::Ok();
  POSLAB_RETURN_IF_ERROR(ids->ResizeForOverwrite(argument, CheckedProduct({positions.count, 2})));
  for (int64_t n = 0; n < positions.count; ++n) {
    const int64_t place = positions[n] - grid.prefix_tokens;
    int64_t row = 0, column = place;
    if (grid.width > 0) row = place / grid.width, column = place % grid.width;
    if (column < 0 && grid.width > 0) --row, column += grid.width;
    if (grid.prefix_tokens > 0 && place < 0) row = column = kOffGrid;
    (*ids)[2 * n] = row, (*ids)[2 * n + 1] = column;
  }
  *placed = {0, positions.count, ids->data(), 2};
  return Status::Ok();
}

}  // namespace poslab
