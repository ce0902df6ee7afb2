// SPDX-License-Identifier: MIT
// The rows of the score band that are at hand. Where the band has a table, that is the table. Where its rows are made as
// they are needed (BandRows), it is a window on them: all rows that the call can meet, of as many heads as fit, or, where
// those of one head alone are too many, the rows that some blocks of queries in a row meet. Blocks ascend and so
// distances descend: the window moves on with them, keeps what both places share, and every row is made once a head.
#pragma once

#include <algorithm>
#include <cstddef>

#include "attention/call.h"

namespace poslab {

class BandWindow {
 public:
  // `gradients`: of the backward pass, or null.
  BandWindow(const Call& call, HookGradients* gradients);
  void LayOut(Arena* arena);
  // Makes room for the rows that a block of queries meets, for the heads from `head` on. Before every block.
  Status Reach(int64_t head, int64_t first_query, int queries);
  // Hands over the gradients of the rows at hand. After the last block.
  Status Finish() { return Pull(first_, end_); }

  // The band as it is at hand (its first and last row need not be those of the whole), or null.
  const Band* band() const { return band_; }
  // The gradient of the head's rows at hand, [rows, width].
  float* Gradient(int64_t head) const;

 private:
  struct Rows {
    int64_t first = 0, end = 0;  // of the whole band
  };
  // Tile hooks get whole tiles, whatever of them is seen.
  bool whole_tiles() const { return call_.tile_hook != nullptr; }
  // Rows of the distances from `lowest` to `highest` between places, key minus query; at least one row.
  Rows RowsOf(int64_t lowest, int64_t highest) const;
  // The rows that a block meets.
  Rows Met(int64_t first_query, int64_t queries) const;
  int64_t Place(int64_t row) const { return (row - first_) * whole_->width; }
  Status Move(Rows to);
  Status Fill(int64_t first, int64_t end) const;
  Status Pull(int64_t first, int64_t end) const;

  const Call& call_;
  HookGradients* gradients_;
  const Band* band_;
  const Band* whole_ = nullptr;  // made as needed, or null
  Band view_;
  Rows all_;                      // that the call meets
  int64_t room_ = 0;              // rows of a head
  int64_t most_heads_ = 1;        // at hand at a time
  int64_t head_ = 0, heads_ = 0;  // at hand
  int64_t first_ = 0, end_ = 0;   // rows at hand
  float* rows_ = nullptr;         // [most_heads_, room_, width]
  float* row_gradients_ = nullptr;
};

}  // namespace poslab
