// SPDX-License-Identifier: MIT
// A layer's scheme in one pass: bound to positions before the layer runs, pulled back into parameter gradients after all
// sequences of the batch went backward. Positions are the same for every sequence, so both happen once a pass.
#pragma once

#include <span>
#include <vector>

#include "attention/distances.h"
#include "model/layout.h"
#include "position/scheme.h"

namespace poslab {

class BoundPositions {
 public:
  // Views of the tensors that the layer's scheme sees; the arrays must stay where they are.
  void SetParameters(const Layout& layout, const BlockPlace& block, float* weights, float* gradients);

  // `own`: this is the layer's trained scheme, which lives as long as the model; hooks that depend on nothing learnable
  // are then kept for the next pass over the same positions.
  // Another scheme sees only the tensors that it would have itself.
  Status Bind(const Scheme& scheme, bool own, const Dimensions& dimensions, Positions positions,
              int64_t running_length);

  // The same scheme, positions and tensors with far keys at other distances (Bind comes first).
  Status BindDistances(const AttentionArguments& arguments, const Distances& distances,
                       DistancedAttention* attention) const {
    return attention->Bind(*scheme_, arguments_, arguments, distances);
  }

  Positions positions() const { return arguments_.query_positions; }
  const Hooks* hooks() const { return acts_ ? &hooks_ : nullptr; }
  HookGradients* hook_gradients() { return acts_ ? &hook_gradients_ : nullptr; }
  // Zeroes the hook gradients of the pass before, keeping their memory.
  void ClearGradients();
  // The gates of one sequence's rows x [count, dim], null where the scheme has none, and room for their gradients
  // (zeros); then, with those filled in, their share of the gradients of x and of the parameters.
  bool gated() const { return acts_ && scheme_->gates(); }
  Status MakeGates(const float* x, int64_t count, const float** gates);
  std::span<const float> gates() const { return gated() ? gates_.span() : std::span<const float>(); }
  float* gate_gradients() { return gate_gradients_.data(); }
  Status GatesBackward(const float* x, int64_t count, float* x_gradient);
  Status Pull();

  // What the bound scheme sees.
  ParameterValues values() const { return bound_values_; }
  ParameterGradients gradients() const { return bound_gradients_; }

 private:
  Status Select(const Scheme& scheme, const Dimensions& dimensions);

  std::vector<TensorView<const float>> values_, bound_values_;
  std::vector<TensorView<float>> gradients_, bound_gradients_;
  const Scheme* scheme_ = nullptr;
  BindArguments arguments_;
  Hooks hooks_;
  HookGradients hook_gradients_;
  Buffer<float> gates_, gate_gradients_;  // [heads, length] of the sequence under way
  bool acts_ = false, reusable_ = false, selected_own_ = false;
};

}  // namespace poslab
