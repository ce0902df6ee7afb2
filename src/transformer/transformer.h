// SPDX-License-Identifier: MIT
// A model of any described architecture, with weights from elsewhere: tensors are set by name, then sequences run
// through it, whole or token by token, with positions as trained or otherwise. Forward only; what is trained here is
// model/model.h.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "base/status.h"
#include "transformer/architecture.h"
#include "transformer/stack_positions.h"
#include "transformer/weights.h"

namespace poslab {

// One sequence. Spans that are empty are not given.
struct ModelInput {
  std::span<const int32_t> ids;   // [L]
  std::span<const float> pixels;  // [channels, height, width], instead of ids
  int64_t height = 0, width = 0;
  std::span<const uint8_t> mask;         // [L], 0: padding
  std::span<const int64_t> positions;    // [L]
  std::span<const int32_t> token_types;  // [L]
  std::span<const float> memory;         // [layers, memory_rows, dim]
  int64_t memory_rows = 0;
  std::span<const int32_t> decoder_ids;  // [Ld]
};

// Positions otherwise than trained.
struct PositionChange {
  OtherScheme encoder, decoder;   // without a scheme: as trained
  std::optional<int64_t> window;  // of causal stacks; 0: none
  int64_t shift = 0;              // added to every id
};

enum class AttentionKind { kSelf, kEncoder, kDecoder, kCross };
struct AttentionPicture {
  Buffer<float> weights;  // [heads, queries, keys]
  int64_t heads = 0, queries = 0, keys = 0;
};

struct MemoryEstimate {
  double weights = 0, pass = 0, cache_per_token = 0;  // bytes
};

class Transformer {
 public:
  static Result<std::unique_ptr<Transformer>> Make(Architecture architecture);
  // What it would take, for passes over `length` tokens; nothing is allocated that grows with it.
  static Result<MemoryEstimate> Estimate(const Architecture& architecture, int64_t length);
  ~Transformer();

  const Architecture& architecture() const;
  Weights& weights();
  // From now on; empties the cache.
  Status Change(PositionChange change);

  // [L or Ld, outputs], or [1, outputs] with pooling.
  Result<Buffer<float>> Logits(const ModelInput& input);
  // [L or Ld]; see Losses in model-description.ts. Targets of -1 give NaN.
  Result<Buffer<float>> Losses(const ModelInput& input, std::span<const int32_t> targets);
  Result<AttentionPicture> Attention(const ModelInput& input, int64_t layer, AttentionKind kind);
  // [layers, rows, dim]: what the last Logits or Losses leaves behind as memory.
  std::span<const float> hidden_states() const;
  int64_t hidden_rows() const;

  // For the Appends that follow.
  Status Encode(const ModelInput& input);
  // Logits [outputs] of the last of these tokens, which go into the cache; valid until the next call. They are those of
  // one pass over all tokens: under a scaling by the running length (dynamic, longrope) the cached tokens are run again
  // whenever its angles change, which is at every token past the original length (dynamic) or once (longrope).
  Result<std::span<const float>> Append(std::span<const int32_t> ids);
  int64_t cached() const;
  Status Truncate(int64_t length);

 private:
  Transformer();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace poslab
