// SPDX-License-Identifier: MIT
// The inside of Model: its arrays, and a pass through its layers. A pass is Begin (checks, memory, hooks, transposed
// matrices), Embed, the blocks, the head; backward goes the same way back.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/block.h"
#include "model/bound_positions.h"
#include "model/layout.h"
#include "model/model.h"
#include "model/pass_memory.h"

namespace poslab {

struct Model::Parts {
  ModelDescription description;                        // filled in
  std::vector<std::shared_ptr<const Scheme>> schemes;  // one a layer
  Layout layout;
  Buffer<float> weights, gradients;
  Buffer<float> transposed;               // every matrix of a linear layer at its weight's offset, as of the last Begin
  std::vector<BoundPositions> positions;  // one a layer

  // --- the pass under way
  PassShape shape;
  Mask mask;
  std::optional<Distances> distances;
  bool backward = false;
  std::vector<BlockActivations> kept;  // one a layer with backward, else one for all
  std::vector<Buffer<float>> streams;  // [rows, dim] before each block and after the last; two in turn without backward
  Buffer<float> positional, positional_gradient;  // [length, dim] of the embedding hook
  const float* added_rows = nullptr;              // what Embed adds: `positional`, the caller's table, or null
  const Scheme* embedding_scheme = nullptr;       // whose rows `positional` holds, or null
  size_t embedding_layer = 0;                     // and which layer's tensors it sees
  Positions positional_of;
  bool positional_reusable = false;
  Buffer<float> final_norm, final_statistics, logits, stream_gradient;
  GradientScratch scratch;
  Buffer<float> zero_sinks;  // [heads], where sinks are that
  AttentionWorkspace workspace;

  float* stream(int64_t layer) { return streams[static_cast<size_t>(backward ? layer : layer % 2)].data(); }

  Status CheckIds(std::span<const int32_t> ids, std::span<const int32_t>* targets, int64_t batch, int64_t length) const;
  Status Begin(int64_t batch, int64_t length, bool with_backward, const RunOptions& options);
  BlockContext Context(int64_t layer);
  void Embed(const int32_t* ids);
  Status RunBlocks(int64_t count);
  void RunHead();
  // Everything up to the logits.
  Status RunForward(const int32_t* ids, int64_t batch, int64_t length, bool with_backward, const RunOptions& options);
  // The blocks of one sequence up to and with a layer, whose attention weights go to `weights` if that is not null.
  Status RunToLayer(std::span<const int32_t> ids, int64_t layer, const RunOptions& options, float* weights);
  // From the gradient of the logits, which lies where they were, to every parameter's.
  Status RunBackward(const int32_t* ids);

 private:
  Status PrepareMemory();
  Status BindPositions(const RunOptions& options);
  Status PrepareEmbedding(const RunOptions& options, Positions ids);
  void TransposeMatrices();
};

}  // namespace poslab
