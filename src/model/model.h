// SPDX-License-Identifier: MIT
// A small decoder-only transformer described by data, with any positional scheme: forward, backward and its parameters.
// Default shape (the experiment's model): pre-norm, LayerNorm with bias, GELU in its tanh form, attention matrices
// without biases, feed-forward with biases, head not tied. Matrices are [out, in], row-major; names are those of the
// weight files ("blocks.0.attention.query.weight").
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attention/distances.h"
#include "base/buffer.h"
#include "base/random.h"
#include "base/status.h"
#include "position/scheme.h"

namespace poslab {

// The shape of a model. Widths and counts are at least 1; heads divides dim unless head_dim is given; key_value_heads
// divides heads.
struct ModelDescription {
  enum class Norm { kLayer, kRms };  // RMSNorm has a gain only, whatever `bias` says
  // Pre: x += part(norm x), and a last norm before the head. Post: x = norm(x + part(x)), without a last norm.
  enum class NormPlacement { kPre, kPost };
  // GELU in its tanh form and as it is defined, by erf; x sigmoid(1.702 x); relu(x)^2 (So et al. 2021).
  enum class Activation { kGelu, kRelu, kSilu, kGeluErf, kGeluQuick, kReluSquared };
  int64_t vocabulary = 0;
  int64_t dim = 64;
  int64_t heads = 4;
  int64_t key_value_heads = 0;  // 0: as heads
  int64_t head_dim = 0;         // 0: dim / heads
  int64_t layers = 2;
  int64_t feed_forward = 256;
  int64_t trained_length = 0;  // L, for schemes that need it
  Norm norm = Norm::kLayer;
  NormPlacement norm_placement = NormPlacement::kPre;
  Activation activation = Activation::kGelu;
  bool gated = false;  // feed-forward: act(gate x) * (in x), "feedForward.gate.weight"
  // Absent: in feed-forward and norms only (the default shape). True: in attention too. False: nowhere. The head never
  // has one.
  std::optional<bool> bias;
  // One more logit a head that takes weight and gives no value: 0 (softmax-off-by-one), or learned (GPT-OSS), a tensor
  // "attention.sinks" [heads] that starts at 0.
  enum class Sinks { kNone, kZero, kLearned };
  Sinks sinks = Sinks::kNone;
  bool tied = false;      // the head is embedding.weight, which then starts with the head's spread, dim^-1/2
  bool parallel = false;  // x += attention(norm1 x) + feedForward(norm1 x); there is no norm2
};

// Every size and combination, before any memory is touched. Argument names are "model.<field>".
Status CheckModel(const ModelDescription& description);

struct ParameterInfo {
  std::string name;
  std::vector<int64_t> shape;
  int64_t offset = 0, size = 0;  // in Model::weights()
  Start start;
  bool decay = false;
  float minimum = -INFINITY;
};

// How a forward pass reads positions and masks; the same weights can be run in many ways ("at test time").
struct RunOptions {
  int64_t position_offset = 0;            // all ids shifted (embedding rows too)
  const int64_t* position_ids = nullptr;  // [length], instead of offset, offset + 1, ...; null: those
  std::optional<int64_t> window;          // attention window
  std::optional<Distances> distances;     // far keys at other distances; in passes without backward
  const Scheme* scheme = nullptr;  // another scheme in every layer instead of the trained one (its parameters are
                                   // those of the model by name, where it has any)
  const float* table_override =
      nullptr;  // a table [length, dim] to add instead of the embedding hook (interpolation), or null
};

class Model {
 public:
  // One scheme for all layers, or one a layer (schemes.size() == layers).
  static Result<std::unique_ptr<Model>> Make(const ModelDescription& description,
                                             std::vector<std::shared_ptr<const Scheme>> schemes);
  ~Model();

  const ModelDescription& description() const;
  std::span<const ParameterInfo> parameters() const;
  std::span<float> weights();    // all parameters, one after the other
  std::span<float> gradients();  // same layout
  int64_t parameter_count() const;

  // Fills the weights from their Starts, in the order of parameters().
  void Initialize(Random* random);

  // logits [batch * length, vocabulary] (owned by the model until the next call); ids [batch, length].
  Result<std::span<const float>> Forward(std::span<const int32_t> ids, int64_t batch, int64_t length,
                                         const RunOptions& options = {});

  // Mean cross-entropy in nats over the scored places (targets[n] >= 0; -1 = not scored) and, when `backward`, its
  // gradients (set, not accumulated). 0 scored places: loss 0.
  struct LossResult {
    double loss = 0;
    int64_t scored = 0;
  };
  Result<LossResult> Loss(std::span<const int32_t> ids, std::span<const int32_t> targets, int64_t batch, int64_t length,
                          bool backward, const RunOptions& options = {});

  // Per-place results of a forward pass for measurement: negative log-likelihood in nats (NaN where not scored) and
  // whether the largest logit is the target. Either may be null. [batch * length]
  Status Score(std::span<const int32_t> ids, std::span<const int32_t> targets, int64_t batch, int64_t length,
               const RunOptions& options, float* losses, uint8_t* correct);

  // Attention weights of a layer for one sequence: [heads, length, length]; for the pages.
  Status AttentionWeights(std::span<const int32_t> ids, int64_t layer, const RunOptions& options, float* weights);

  // What a layer's attention reads for one sequence, before any rotation: [length, all heads of query | key | value].
  // Owned by the model until the next call.
  Result<std::span<const float>> QueryKeyValue(std::span<const int32_t> ids, int64_t layer, const RunOptions& options);

  // What the scheme makes of the tokens there beside them, [heads, length]: empty for a scheme without gates. Of the last
  // call of QueryKeyValue or AttentionWeights, which must have been for this layer; owned by the model until the next.
  std::span<const float> Gates(int64_t layer) const;

 private:
  Model();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace poslab
