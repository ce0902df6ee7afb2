// SPDX-License-Identifier: MIT
// The keys and values of one layer for the tokens so far, head by head: [keyValueHeads, capacity, headDim] each, so that
// a head's rows lie together; and their gates where the layer's scheme has them. Grows by doubling.
#pragma once

#include "attention/attention.h"
#include "base/buffer.h"
#include "base/status.h"

namespace poslab {

class KeyValueCache {
 public:
  // Room for `length` rows; the first `kept` of them stay. `gate_heads`: 0 without gates.
  Status Reserve(int64_t heads, int64_t head_dim, int64_t gate_heads, int64_t length, int64_t kept);
  // Rows [from, from + count) from rows [key | value] that lie `stride` apart.
  void Append(int64_t from, int64_t count, const float* rows, int64_t stride);
  // Gates [gateHeads, count] of the same tokens; `all` gets those of all tokens, [gateHeads, from + count].
  void AppendGates(int64_t from, int64_t count, const float* gates, float* all);
  HeadsView<const float> keys(int64_t length) const { return View(keys_, length); }
  HeadsView<const float> values(int64_t length) const { return View(values_, length); }

 private:
  HeadsView<const float> View(const Buffer<float>& rows, int64_t length) const {
    return {rows.data(), heads_, length, head_dim_, capacity_ * head_dim_, head_dim_};
  }
  Buffer<float> keys_, values_, gates_;
  int64_t heads_ = 0, head_dim_ = 0, gate_heads_ = 0, capacity_ = 0;
};

}  // namespace poslab
