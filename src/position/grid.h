// SPDX-License-Identifier: MIT
// Tokens on a grid: the patches of an image, or anything else that has a row and a column. Schemes of grids take two ids a
// token, (row, column) counted from 0; one id p a token is laid on the grid row by row:
//   p < prefixTokens          a class or register token, which is on no place of the grid
//   otherwise                 row (p - prefixTokens) / gridWidth, column (p - prefixTokens) mod gridWidth; all in row 0
//                             where no width is said
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "base/status.h"
#include "position/scheme.h"

namespace poslab {

// As both ids of a token: it is on no place of the grid.
constexpr int64_t kOffGrid = INT64_MIN;

struct Grid {
  int64_t height = 0, width = 0;  // 0: not said
  int64_t prefix_tokens = 0;

  // The fields gridHeight (1), gridWidth (as many as the trained length needs) and prefixTokens (0) of a description.
  static Grid Of(const Description& description);
  // With what is not said filled in; kMissing where the width cannot be known.
  Result<Grid> Known(const Dimensions& dimensions) const;
};

// Field rules of a grid, to be put among a scheme's own.
constexpr FieldRule kGridHeightRule{
    .name = "gridHeight", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 1e6, .integer = true};
constexpr FieldRule kGridWidthRule{
    .name = "gridWidth", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 1e6, .integer = true};
constexpr FieldRule kPrefixTokensRule{
    .name = "prefixTokens", .kind = Field::Kind::kNumber, .minimum = 0, .maximum = 1e6, .integer = true};

// Checks positions and gives them two axes; `ids` keeps what is made for that.
Status PlaceOnGrid(const Grid& grid, Positions positions, std::string_view argument, Buffer<int64_t>* ids,
                   Positions* placed);

}  // namespace poslab
