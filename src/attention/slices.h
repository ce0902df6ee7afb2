// SPDX-License-Identifier: MIT
// The slice hook on tiles: a bias by distance added to scores, and the gradient of the scores summed along diagonals.
// Contiguous positions read a table of the distances that the call can meet; slopes need none. Given position ids read a
// table by distance where the distances are few, and ask the slice entry by entry where wide gaps would make it long.
#pragma once

#include "attention/call.h"

namespace poslab {

class SliceBiases {
 public:
  explicit SliceBiases(const Call& call, bool gradients);
  void LayOut(Arena* arena);
  // Evaluates the tables of heads [first, first + call.group) and zeroes their gradients.
  void Start(int64_t first_head);
  // scores[key][lane] += bias, at least where the tile is seen. `slot` counts the heads of the group.
  void Add(const Tile& tile, int64_t slot, float* scores) const;
  // The backward twin: collects score gradients (zero where hidden).
  void Collect(const Tile& tile, int64_t slot, const float* gradients);
  // Hands what was collected for the group's heads to the slice.
  void Finish();

 private:
  enum class Way { kNone, kSlopes, kDiagonals, kByDistance, kByEntry };
  void ChooseWay();
  void AddSlopes(const Tile& tile, float slope, float* scores) const;
  void AddByEntry(const Tile& tile, int64_t head, float* scores) const;
  int64_t Distance(const Tile& tile, int key, int lane) const;
  // Where a distance is in the tables of kByDistance.
  int64_t Place(int64_t distance) const;

  const Call& call_;
  const bool learns_;
  Way way_ = Way::kNone;
  Way gradient_way_ = Way::kNone;
  int64_t first_head_ = 0;
  // The distances in the tables. kDiagonals stores them from the highest down, so that a row of keys reads forwards;
  // kByDistance from the lowest up.
  int64_t lowest_ = 0, highest_ = -1, size_ = 0;
  float* biases_ = nullptr;      // [group, size_]
  double* gradients_ = nullptr;  // [group, size_]
};

}  // namespace poslab
