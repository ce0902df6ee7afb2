// SPDX-License-Identifier: MIT
// The inside of Transformer: its tensors, its stacks, and the way of a sequence from ids or pixels to rows and to logits.
#pragma once

#include "transformer/stack.h"
#include "transformer/transformer.h"

namespace poslab {

struct Transformer::Parts {
  // A stack with its positions and the residual stream of its last pass.
  struct Half {
    const StackDescription* description = nullptr;
    const StackTensors* tensors = nullptr;
    Stack stack;
    StackPositions positions;
    Buffer<float> rows;
    Buffer<int64_t> ids;  // given position ids, shifted
  };
  // What a pass is to give besides rows.
  struct Wanted {
    int64_t layers = 0;  // 0: all
    float* weights = nullptr;
    float* cross_weights = nullptr;
    bool hidden_states = false;
  };

  Architecture architecture;
  Weights weights;
  ModelTensors tensors;
  Half encoder, decoder;
  PositionChange change;
  Buffer<float> patches, resized, transformed, logits;
  Buffer<float> states, memory;  // of the pass; what it leaves behind
  int64_t memory_rows = 0;
  Buffer<int32_t> cached_ids;  // those in the decoder's cache, and room
  int64_t angles_length = 0;   // running length by whose angles the cache was made

  Status Start();

  // --- input.cpp
  Status CheckInput(const ModelInput& input) const;
  int64_t InputRows(const ModelInput& input) const;
  Status EmbedTokens(Half* half, std::span<const int32_t> ids, std::span<const int32_t> token_types,
                     Positions positions);
  Status EmbedImage(const ModelInput& input);

  // --- passes, in transformer.cpp. Both leave their rows in `rows` of the half.
  Half& last() { return architecture.decoder ? decoder : encoder; }
  int64_t last_layers() const { return architecture.last().layers; }
  Result<Positions> PositionsOf(const ModelInput& input, int64_t count, Half* half);
  Status RunInput(const ModelInput& input, const Wanted& wanted);
  Status RunDecoder(std::span<const int32_t> ids, bool cache, const Wanted& wanted);
  // The decoder with its cache; how many rows of it are new. Where a text of the new length is turned by other angles,
  // the cached tokens go through once more.
  Result<int64_t> RunCached(std::span<const int32_t> ids);
  // The encoder's rows as keys and values of the decoder.
  Status RunEncoder(const ModelInput& input, const Wanted& wanted);
  // Everything up to the last rows; how many there are.
  Result<int64_t> RunAll(const ModelInput& input);
  Status KeepMemory(const ModelInput& input, int64_t rows);

  // --- head.cpp: rows [count, dim] of the last stack (which may be changed) to logits [count, outputs]
  Status RunHead(float* rows, int64_t count, float* to);
};

}  // namespace poslab
