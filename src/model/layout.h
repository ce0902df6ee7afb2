// SPDX-License-Identifier: MIT
// Where every parameter lives in the model's flat array of weights, and under which name. The order is
//   embedding.weight; position.<name> (shared by layers);
//   per block: norm1, norm2, attention {query, key, value}.weight, {query, key, value}.bias, output, position.<name>,
//              feedForward {gate,} in, out;
//   norm; head.weight
// so that query, key and value are one matrix [(heads + 2 keyValueHeads) headDim, dim] in memory and one product.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/model.h"
#include "position/scheme.h"

namespace poslab {

constexpr int64_t kAbsent = -1;

// Offsets into the flat arrays.
struct LinearPlace {
  int64_t inputs = 0, outputs = 0;
  int64_t weight = kAbsent, bias = kAbsent;
  bool present() const { return weight != kAbsent; }
};
struct NormPlace {
  int64_t gain = kAbsent, bias = kAbsent;
  bool present() const { return gain != kAbsent; }
};
struct BlockPlace {
  NormPlace norm1, norm2;
  LinearPlace query_key_value, attention_output, gate, in, out;
  int64_t sinks = kAbsent;  // [heads], where they are learned
  // Indices into Layout::parameters of what the layer's scheme sees: its own and the shared ones.
  std::vector<int64_t> position;
};

struct Layout {
  std::vector<ParameterInfo> parameters;
  int64_t count = 0;  // floats in all
  int64_t embedding = 0;
  std::vector<BlockPlace> blocks;
  NormPlace norm;  // absent with post-norm, whose last block ends with a norm already
  LinearPlace head;
  int64_t embedding_layer = kAbsent;  // the first layer whose scheme has the embedding hook
};

Dimensions SchemeDimensions(const ModelDescription& description);

// `description` checked and filled in (FilledIn); schemes: one a layer. What a scheme's own check finds is returned;
// kContradiction when two layers have different embedding hooks.
Result<Layout> MakeLayout(const ModelDescription& description, std::span<const std::shared_ptr<const Scheme>> schemes);

// The description with key_value_heads and head_dim as numbers.
ModelDescription FilledIn(ModelDescription description);

}  // namespace poslab
