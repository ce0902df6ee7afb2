// SPDX-License-Identifier: MIT
// Which tensors an architecture has, and which of them each part of it reads. Names: see
// bindings/js/models/model-description.ts.
#pragma once

#include <memory>
#include <vector>

#include "position/scheme.h"
#include "transformer/architecture.h"
#include "transformer/weights.h"

namespace poslab {

// Indices into Weights.
struct NormTensors {
  int gain = Weights::kNone, bias = Weights::kNone;
  bool present() const { return gain != Weights::kNone; }
};
struct LinearTensors {
  int weight = Weights::kNone, bias = Weights::kNone;
  bool present() const { return weight != Weights::kNone; }
};
struct AttentionTensors {
  LinearTensors query, key, value, output;
  int query_norm = Weights::kNone, key_norm = Weights::kNone;  // gains
  int sinks = Weights::kNone;
};
struct BlockTensors {
  NormTensors norm1, cross_norm, norm2;
  AttentionTensors self, cross;
  LinearTensors gate, in, out;
  std::vector<int> position;  // those that the layer's scheme sees
};
struct StackTensors {
  int embedding = Weights::kNone;
  NormTensors embedding_norm, norm;
  std::vector<BlockTensors> blocks;
};
struct ModelTensors {
  StackTensors encoder, decoder;
  int token_types = Weights::kNone, class_token = Weights::kNone;
  LinearTensors patch, transform, head;
  NormTensors head_norm;
};

using LayerSchemes = std::vector<std::shared_ptr<const Scheme>>;  // one a layer

Dimensions StackDimensions(const Architecture& architecture, const StackDescription& stack);
// The schemes of a stack; layers whose description is shared have the same object.
Result<LayerSchemes> MakeLayerSchemes(const StackDescription& stack);
// Adds every tensor to `weights`. What a scheme finds wrong with the dimensions is returned.
Result<ModelTensors> PlanTensors(const Architecture& architecture, const LayerSchemes& encoder,
                                 const LayerSchemes& decoder, Weights* weights);

}  // namespace poslab
