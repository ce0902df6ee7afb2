// SPDX-License-Identifier: MIT
// One pass over the ids where they are given; constant time where they are contiguous.
#include "position/positions.h"

#include <algorithm>

namespace poslab {
namespace {

int64_t Smallest(Positions positions) {
  if (positions.contiguous()) return positions.start;
  return *std::min_element(positions.ids, positions.ids + positions.count * positions.axes);
}

Status OutsideRange(std::string_view argument, int64_t id) {
  return Status::Number(Code::kRange, argument, static_cast<double>(id), "a whole number from {0} to {1}",
                        -static_cast<double>(kLargestPosition), static_cast<double>(kLargestPosition));
}

}  // namespace

Status CheckPositions(Positions positions, std::string_view argument, int64_t axes) {
  if (positions.axes != 1 && positions.axes != axes) {
    return Status::Number(Code::kShape, argument, static_cast<double>(positions.axes),
                          axes == 1 ? "one id a token: the positions of this scheme have one axis, and"
                                    : "one id a token, or {0} (one an axis),",
                          static_cast<double>(axes));
  }
  if (positions.count == 0) return Status::Ok();
  if (positions.contiguous()) {
    if (positions.start < -kLargestPosition) return OutsideRange(argument, positions.start);
    if (positions.start > kLargestPosition - (positions.count - 1)) {
      return Status::Number(Code::kRange, argument,
                            static_cast<double>(positions.start) + static_cast<double>(positions.count - 1),
                            "a whole number from {0} to {1}", -static_cast<double>(kLargestPosition),
                            static_cast<double>(kLargestPosition));
    }
    return Status::Ok();
  }
  for (int64_t n = 0; n < positions.count * positions.axes; ++n) {
    const int64_t id = positions.ids[n];
    if (id < -kLargestPosition || id > kLargestPosition) return OutsideRange(argument, id);
  }
  return Status::Ok();
}

Status CheckBothPositions(const BindArguments& arguments, int64_t axes) {
  POSLAB_RETURN_IF_ERROR(CheckPositions(arguments.query_positions, "queryPositions", axes));
  return CheckPositions(arguments.key_positions, "keyPositions", axes);
}

DistanceRange RangeOfDistances(Positions queries, Positions keys) {
  if (queries.count == 0 || keys.count == 0) return {};
  return {Smallest(keys) - queries.Largest(), keys.Largest() - Smallest(queries)};
}

int64_t RunningLength(const BindArguments& arguments) {
  if (arguments.running_length > 0) return arguments.running_length;
  int64_t length = 0;
  if (arguments.query_positions.count) length = std::max(length, arguments.query_positions.Largest() + 1);
  if (arguments.key_positions.count) length = std::max(length, arguments.key_positions.Largest() + 1);
  return length;
}

}  // namespace poslab
