// SPDX-License-Identifier: MIT
// The rows of keys and values that tiles read: where the caller has them when that is good enough, else a packed copy
// (keys rotated, hidden rows zeroed), made once a head, or once a tile when all heads are worked on together.
#pragma once

#include "attention/call.h"
#include "attention/rows.h"

namespace poslab {

class KeyRows {
 public:
  explicit KeyRows(const Call& call);
  void LayOut(Arena* arena);
  // Makes the copies for query head `head`, unless those of its key/value head are there already.
  void StartHead(int64_t head);
  // Makes the copies for one tile of every head, when call.group is more than 1.
  void StartTile(const Tile& tile);
  // The tile's rows for query head `head`.
  Rows Keys(int64_t head, const Tile& tile) const;
  Rows Values(int64_t head, const Tile& tile) const;

 private:
  void Pack(int64_t key_head, int64_t first, int64_t count, float* keys, float* values) const;

  const Call& call_;
  bool pack_keys_ = false, pack_values_ = false;
  int64_t packed_head_ = -1;
  int64_t first_ = 0, count_ = 0;  // the keys that are in the copies
  float* keys_ = nullptr;          // [count_, dim], or [key_value_heads, kTile, dim]
  float* values_ = nullptr;        // likewise
};

}  // namespace poslab
