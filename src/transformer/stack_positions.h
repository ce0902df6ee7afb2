// SPDX-License-Identifier: MIT
// The positions of a stack: its schemes as trained or another one in their place, bound to the positions of a pass.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "position/scheme.h"
#include "transformer/plan.h"

namespace poslab {

// Another scheme in every layer, with values for those learnable tensors that it does not take from the model.
struct OtherScheme {
  std::shared_ptr<const Scheme> scheme;
  std::vector<TensorView<const float>> values;  // live as long as the scheme
};

class StackPositions {
 public:
  // Scheme tensors are given memory at once: hooks point into them. `weights` must stay where it is.
  Status Start(const Architecture& architecture, const StackDescription& stack, LayerSchemes schemes,
               const StackTensors& tensors, Weights* weights);
  // Checks the scheme's tensors; an OtherScheme without a scheme: as trained.
  Status Change(OtherScheme other);

  // rows[n] += p(positions[n]) of the first scheme that has an embedding hook. `table` stands in for the scheme's
  // tensor, or null.
  Status AddEmbedding(Positions positions, const TensorView<const float>* table, float* rows) const;
  // The tensor of that scheme (a learned table), or null.
  const TensorView<const float>* EmbeddingTable() const;

  // Binds every layer. With `cache`, layers that do no more than rotate get their rotation for the queries' positions
  // only: they keep turned keys.
  Status Bind(Positions queries, Positions keys, bool cache);
  // Whether texts of both lengths are turned by the same angles. Where they are not, everything in a cache is stale: the
  // keys, and what deeper layers made of earlier tokens.
  bool SameAngles(int64_t length, int64_t other) const;
  // What the engine is to use in this layer, or null.
  const Hooks* hooks(int64_t layer) const;
  // Per-token inputs of this layer's scheme, made from the rows that its attention gets: gates [heads, count].
  bool gated(int64_t layer) const;
  Status MakeGates(int64_t layer, const float* rows, int64_t count, float* gates) const;
  // What queries and new keys are to be turned by before they go into the cache, or null.
  const Rotation* turn(int64_t layer) const;

 private:
  // Layers that one scheme treats alike, with the same tensors, are bound once.
  struct Binding {
    const Scheme* scheme = nullptr;
    Dimensions dimensions;
    std::vector<TensorView<const float>> values;
    bool turns_cache = false;
    Hooks hooks;
  };
  Status MakeBindings();
  Result<std::vector<TensorView<const float>>> ValuesOf(const Scheme& scheme, size_t layer) const;
  bool OnlyRotates(const Binding& binding) const;

  Dimensions dimensions_;
  LayerSchemes schemes_;
  std::vector<std::vector<TensorView<const float>>> own_;  // by layer
  OtherScheme other_;
  std::vector<Binding> bindings_;
  std::vector<size_t> binding_of_;  // by layer
  bool cache_ = false;
};

}  // namespace poslab
