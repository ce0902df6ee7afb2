// SPDX-License-Identifier: MIT
// A whole architecture as data: encoders (BERT, ViT), decoders (GPT, LLaMA) and both together (T5, Marian). What runs it
// is transformer.h. Every field is explained in bindings/js/models/model-description.ts, whose Architecture this is with
// nothing left out.
#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "model/model.h"
#include "model/norm.h"
#include "position/description.h"

namespace poslab {

struct StackDescription {
  enum class Parallel { kNo, kOneNorm, kTwoNorms };
  enum class QueryKeyNorm { kNone, kHead, kRow };
  struct Biases {
    bool query = false, key = false, value = false, attention_output = false, gate = false, in = false, out = false;
  };
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t key_value_heads = 0;
  int64_t head_dim = 0;
  int64_t feed_forward = 0;
  bool causal = false;
  std::vector<Description> position;  // one for all layers, or one a layer
  std::optional<double> scale;        // default that of attention
  std::vector<int64_t> windows;       // one a layer, 0: none
  NormKind norm = NormKind::kLayer;
  ModelDescription::NormPlacement norm_placement = ModelDescription::NormPlacement::kPre;
  double epsilon = kNormEpsilon;
  bool norm_bias = true;
  bool final_norm = true;
  bool embedding_norm = false;
  double embedding_scale = 1;
  Parallel parallel = Parallel::kNo;
  ModelDescription::Activation activation = ModelDescription::Activation::kGelu;
  bool gated = false;
  Biases bias;
  QueryKeyNorm query_key_norm = QueryKeyNorm::kNone;
  ModelDescription::Sinks sinks = ModelDescription::Sinks::kNone;  // of self-attention

  bool pre_norm() const { return norm_placement == ModelDescription::NormPlacement::kPre; }
  int64_t query_width() const { return heads * head_dim; }
  int64_t key_width() const { return key_value_heads * head_dim; }
};

struct ImageDescription {
  int64_t channels = 0, patch = 0, height = 0, width = 0;
  bool class_token = true, patch_bias = true;
  int64_t patch_size() const { return channels * patch * patch; }
};

struct HeadDescription {
  int64_t outputs = 0;
  bool tied = false;
  double scale = 1;
  bool bias = false;
  std::optional<ModelDescription::Activation> transform = std::nullopt;
  bool first_row = false;  // pooling
};

struct Architecture {
  int64_t dim = 0;
  int64_t vocabulary = 0;
  int64_t trained_length = 0;
  std::optional<StackDescription> encoder, decoder;
  bool separate_embeddings = false;
  int64_t token_types = 0;
  std::optional<ImageDescription> image;
  int64_t memory_length = 0;
  std::optional<HeadDescription> head;

  bool two_stacks() const { return encoder && decoder; }
  // The stack whose rows become logits.
  const StackDescription& last() const { return decoder ? *decoder : *encoder; }
  int64_t outputs() const { return head ? head->outputs : dim; }
};

// Every size and combination, before any memory is touched. Argument names are "architecture.<field>".
Status CheckArchitecture(const Architecture& architecture);

// "encoder." or "decoder.", or "" where there is one stack only: what the stack's tensor names begin with.
std::string_view StackPrefix(const Architecture& architecture, const StackDescription& stack);

}  // namespace poslab
