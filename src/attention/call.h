// SPDX-License-Identifier: MIT
// One call of the engine, resolved: sizes, scale, hooks, and the scratch memory that it lays out once per call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/attention.h"
#include "attention/visibility.h"

namespace poslab {

struct Call {
  explicit Call(const AttentionArguments& arguments);

  const AttentionArguments& arguments;
  int64_t heads, key_value_heads, queries, keys, dim, value_dim;
  int64_t group;  // heads that are worked on together: 1, or all for one query or a tile hook that needs every head
  float scale;
  Visibility visibility;
  // Contiguous also when ids were given that happen to be.
  Positions query_positions, key_positions;
  // The hooks, each null when there is none.
  const Rotation* rotation = nullptr;
  const Temperature* temperature = nullptr;
  Slice* slice = nullptr;
  const Band* query_band = nullptr;  // score bands by the side that they meet
  const Band* key_band = nullptr;
  const Band* value_band = nullptr;
  TileHook* tile_hook = nullptr;
  const float* query_bias = nullptr;  // [heads, dim]

  // The tiles of keys (each kTile keys, the last one fewer) that a block of queries is taken through.
  struct KeyTiles {
    int64_t begin, end;
  };
  KeyTiles TilesFor(int64_t first_query, int64_t queries) const;
  // Whether tiles that no query sees are visited too, for the state that they carry on. Future tiles are not.
  bool carries_state() const { return tile_hook && tile_hook->state_size() > 0; }
  int64_t KeyHead(int64_t head) const { return head / (heads / key_value_heads); }
  bool contiguous() const { return query_positions.contiguous() && key_positions.contiguous(); }
};

// Hands out parts of one block of memory, each on its own cache line. Without a block it only counts, so that the same
// code first measures and then lays out.
class Arena {
 public:
  explicit Arena(std::byte* block) : block_(block) {}

  template <typename T>
  T* Take(int64_t count) {
    // Parts of whole pages would put equal offsets 4 KiB apart, where a load waits for a store that it does not need.
    constexpr int64_t kLine = 64, kApart = 2 * kLine;
    const int64_t at = used_;
    used_ += (count * static_cast<int64_t>(sizeof(T)) + kLine - 1) / kLine * kLine + kApart;
    return block_ ? reinterpret_cast<T*>(block_ + at) : nullptr;
  }
  int64_t used() const { return used_; }

 private:
  std::byte* block_;
  int64_t used_ = 0;
};

struct AttentionWorkspace::Parts {
  Buffer<std::byte> scratch;

  // Calls layout(&arena) once to measure, makes room, and once more to hand the memory out.
  template <typename Layout>
  Status LayOut(Layout layout) {
    Arena measure(nullptr);
    layout(&measure);
    if (scratch.size() < measure.used())
      POSLAB_RETURN_IF_ERROR(scratch.ResizeForOverwrite("workspace", measure.used()));
    Arena arena(scratch.data());
    layout(&arena);
    return Status::Ok();
  }
};

}  // namespace poslab
