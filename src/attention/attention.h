// SPDX-License-Identifier: MIT
// Attention with positional hooks: softmax(scale * q k^T + hooks) v, streaming over tiles of keys with the online softmax
// (Milakov & Gimelshein 2018; Dao et al. 2022), so that memory grows with the length and never with its square. Forward
// and backward. The engine knows the hooks of position/scheme.h and no scheme by name.
#pragma once

#include <cstdint>
#include <optional>

#include "base/buffer.h"
#include "base/status.h"
#include "position/scheme.h"

namespace poslab {

// A [heads, length, dim] tensor anywhere in memory; the last axis is contiguous. A packed tensor has
// row_stride = dim, head_stride = length * dim; one laid out [length, heads * dim] has row_stride = heads * dim,
// head_stride = dim.
template <typename T>
struct HeadsView {
  T* data = nullptr;
  int64_t heads = 0, length = 0, dim = 0;
  int64_t head_stride = 0, row_stride = 0;
  T* row(int64_t head, int64_t index) const { return data + head * head_stride + index * row_stride; }
  static HeadsView Packed(T* data, int64_t heads, int64_t length, int64_t dim) {
    return {data, heads, length, dim, length * dim, dim};
  }
};

// Which keys a query sees; everything here goes by index, never by position.
struct Mask {
  enum class Alignment { kBottomRight, kTopLeft };
  bool causal = false;
  Alignment alignment = Alignment::kBottomRight;  // bottom-right: the last query sees the last key
  std::optional<int64_t> window;                  // itself and window - 1 keys before it; needs causal; >= 1
  std::optional<int64_t> beyond = std::nullopt;   // not itself nor beyond - 1 keys before it; needs causal; >= 0
  const uint8_t* key_mask = nullptr;              // [keys], 0 = hidden; hidden keys and values may hold anything
  // [keys], never falling: documents packed into one row, by number. A query sees the keys of the document of the key at
  // its own place (counted by `alignment`), and no others; nothing where there is no such key.
  const int64_t* documents = nullptr;
};

struct AttentionArguments {
  HeadsView<const float> query;  // [H, Lq, D]
  HeadsView<const float> key;    // [Hkv, Lk, D], Hkv divides H
  HeadsView<const float> value;  // [Hkv, Lk, Dv]
  const Hooks* hooks = nullptr;  // null: none
  Positions query_positions;     // those given to Bind; count = Lq, Lk
  Positions key_positions;
  Mask mask;
  std::optional<float> scale;    // default 1 / sqrt(D), or what hooks->score_terms say
  const float* gates = nullptr;  // per-token inputs for tile hooks [H, Lk]
  const float* sinks =
      nullptr;  // [H]: one more logit a head that takes weight and gives no value; 0: softmax-off-by-one
};

// Only `output` is required. All packed but `output`.
struct AttentionResults {
  HeadsView<float> output;       // [H, Lq, Dv]; rows that see no key are zero
  float* log_sum_exp = nullptr;  // [H, Lq], sinks included; -infinity for rows that see nothing. Backward needs it.
  float* weights = nullptr;      // [H, Lq, Lk]; zero where hidden
  float* scores = nullptr;       // [H, Lq, Lk] before the softmax; -infinity where hidden
};

struct AttentionGradientArguments {
  HeadsView<const float> output;           // what the forward gave
  const float* log_sum_exp = nullptr;      // what the forward gave
  HeadsView<const float> output_gradient;  // [H, Lq, Dv]
};

// Accumulated into; grouped heads sum into their key/value head.
struct AttentionGradients {
  HeadsView<float> query, key, value;
  HookGradients* hooks = nullptr;  // sized by the engine when empty; accumulated into when already sized
  float* gates = nullptr;
  float* sinks = nullptr;  // [H]
};

// Scratch that calls reuse; grows on demand, O(L * D).
class AttentionWorkspace {
 public:
  AttentionWorkspace();
  ~AttentionWorkspace();
  AttentionWorkspace(AttentionWorkspace&&) noexcept;
  AttentionWorkspace& operator=(AttentionWorkspace&&) noexcept;
  struct Parts;
  Parts& parts() { return *parts_; }
  int64_t bytes() const;  // what it has grown to

 private:
  std::unique_ptr<Parts> parts_;
};

// Shapes, heads, mask and scale; no memory is touched. Both calls below do it first.
Status CheckAttention(const AttentionArguments& arguments);

// Default position ids (cases/README): query i at i + (Lk - Lq), or at i when the alignment is top-left; key j at j.
Positions DefaultQueryPositions(int64_t queries, int64_t keys, Mask::Alignment alignment);

// The number of entries of weights or scores [heads, queries, keys]; kMemory with the bytes asked for when they are more
// than the address space holds. Whoever allocates them asks first.
Result<int64_t> WeightsSize(std::string_view argument, int64_t heads, int64_t queries, int64_t keys);

Status Attention(const AttentionArguments& arguments, AttentionResults* results, AttentionWorkspace* workspace);
Status AttentionBackward(const AttentionArguments& arguments, const AttentionGradientArguments& forward,
                         AttentionGradients* gradients, AttentionWorkspace* workspace);

}  // namespace poslab
