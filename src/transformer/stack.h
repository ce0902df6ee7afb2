// SPDX-License-Identifier: MIT
// A stack of blocks at work, forward only, in place on the residual stream:
//   pre-norm    x += attention(norm1 x); x += cross(crossNorm x); x += feedForward(norm2 x)
//   parallel    x += attention(norm1 x) + feedForward(norm1 x or norm2 x)
//   post-norm   x = norm1(x + attention(x)); x = crossNorm(x + cross(x)); x = norm2(x + feedForward(x))
// The feed-forward part goes through a few rows at a time, so that its wide rows stay in the cache of the machine.
#pragma once

#include <optional>
#include <vector>

#include "attention/attention.h"
#include "transformer/key_value_cache.h"
#include "transformer/plan.h"
#include "transformer/stack_positions.h"

namespace poslab {

// One pass over `rows` new tokens.
struct StackPass {
  int64_t rows = 0;
  bool cache = false;                 // after the tokens in the cache, and into it
  Positions positions;                // of the new tokens
  Positions key_positions;            // of those before (cache or memory) and of the new ones
  const uint8_t* key_mask = nullptr;  // of the new tokens, or null
  const float* memory = nullptr;      // [layers, memory_rows, dim], or null
  int64_t memory_rows = 0;
  float* hidden_states = nullptr;  // [layers, rows, dim]: what goes into each block, or null
  int64_t layers = 0;              // run so many of them
  std::optional<int64_t> window;   // instead of the layers' own; 0: none
  // Attention weights of the last of these layers [heads, rows, keys], or null.
  float* weights = nullptr;
  float* cross_weights = nullptr;
};

class Stack {
 public:
  // All must stay where they are.
  void Start(const Architecture* architecture, const StackDescription* description, const StackTensors* tensors,
             const Weights* weights);
  // x [rows, dim] goes through embedding norm, blocks and, after all of them, the last norm.
  Status Run(const StackPass& pass, StackPositions* positions, float* x);

  // Cross-attention: keys and values of every layer from the encoder's rows.
  Status SetEncoded(const float* rows, int64_t count, const uint8_t* mask);
  int64_t encoded() const { return encoded_; }

  int64_t cached() const { return cached_; }
  void Truncate(int64_t length) { cached_ = length; }

  // What Run applies, for a head's norm.
  void Norm(const NormTensors& norm, int64_t rows, const float* x, float* y) const;

 private:
  Status PrepareMemory(const StackPass& pass);
  Status RunBlock(const StackPass& pass, int64_t layer, float* x);
  Status SelfAttention(const StackPass& pass, int64_t layer, const float* source, float* x);
  // Gates [heads, keys] of what came before (memory, whose rows are given, or cache) and of the new rows.
  Status Gates(const StackPass& pass, int64_t layer, const float* memory, const float* source, const float** gates);
  Status CrossAttention(const StackPass& pass, int64_t layer, const float* source, float* x);
  // x += feedForward(source), or with `norm` feedForward(norm2 source).
  void FeedForward(const BlockTensors& block, int64_t rows, bool norm, const float* source, float* x);
  void Linear(const LinearTensors& linear, int64_t rows, const float* x, float* y, int64_t y_stride,
              bool accumulate) const;
  // Rows [key | value] of `source`, into `rows`.
  void KeysAndValues(const AttentionTensors& attention, int64_t count, const float* source, float* rows) const;
  void NormHeads(int gain, int64_t count, int64_t width, float* rows, int64_t stride) const;
  AttentionArguments QueryArguments(int64_t rows) const;
  Status Attend(const AttentionTensors& attention, const AttentionArguments& arguments, float* weights, float* x);

  const Architecture* architecture_ = nullptr;
  const StackDescription* d_ = nullptr;
  const StackTensors* tensors_ = nullptr;
  const Weights* weights_ = nullptr;
  StackPositions* positions_ = nullptr;  // of the pass under way
  std::vector<KeyValueCache> caches_;
  int64_t cached_ = 0;
  std::vector<Buffer<float>> encoded_keys_;  // one a layer: [encoded_, key | value]
  Buffer<uint8_t> encoded_mask_;
  int64_t encoded_ = 0;
  Buffer<float> normed_, query_, key_value_, heads_, memory_normed_;
  Buffer<float> gates_, few_gates_;
  Buffer<float> zero_sinks_;                  // [heads], where sinks are that
  Buffer<float> few_normed_, hidden_, gate_;  // of some rows of the feed-forward part
  Buffer<uint8_t> mask_;
  AttentionWorkspace workspace_;
};

}  // namespace poslab
