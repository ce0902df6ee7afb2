// SPDX-License-Identifier: MIT
// Checks and ranges of position ids, for schemes that turn by them or look at their distances.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "position/scheme.h"

namespace poslab {

// Ids up to which positions and their distances are exact in double and cannot overflow: +-2^53.
constexpr int64_t kLargestPosition = int64_t{1} << 53;

// kRange, naming `argument`, when an id is outside +-kLargestPosition; kShape when there are several ids a token and
// their number is not `axes`.
Status CheckPositions(Positions positions, std::string_view argument, int64_t axes = 1);

// CheckPositions of both sides of a call ("queryPositions", "keyPositions").
Status CheckBothPositions(const BindArguments& arguments, int64_t axes = 1);

// Every distance j - i that can occur between a query and a key: [first, last]; [0, 0] when one side is empty.
struct DistanceRange {
  int64_t first = 0, last = 0;
};
DistanceRange RangeOfDistances(Positions queries, Positions keys);

// `running_length` of the call when it is given, else the largest position + 1 (at least 0).
int64_t RunningLength(const BindArguments& arguments);

}  // namespace poslab
