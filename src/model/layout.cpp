// SPDX-License-Identifier: MIT
#include "model/layout.h"

#include <cmath>

namespace poslab {
namespace {

Start Normal(double deviation) { return {Start::Kind::kNormal, deviation, 0}; }
Start Constant(double value) { return {Start::Kind::kConstant, value, 0}; }

// Which layers have biases: ModelDescription::bias absent means the default shape.
bool AttentionBias(const ModelDescription& d) { return d.bias.value_or(false); }
bool FeedForwardBias(const ModelDescription& d) { return d.bias.value_or(true); }
bool NormBias(const ModelDescription& d) { return d.norm == ModelDescription::Norm::kLayer && d.bias.value_or(true); }

class LayoutMaker {
 public:
  LayoutMaker(const ModelDescription& description, std::span<const std::shared_ptr<const Scheme>> schemes)
      : d_(description), schemes_(schemes), dimensions_(SchemeDimensions(description)) {}

  Result<Layout> Make() {
    AddEmbedding();
    POSLAB_RETURN_IF_ERROR(AddSharedPositions());
    for (int64_t layer = 0; layer < d_.layers; ++layer) POSLAB_RETURN_IF_ERROR(AddBlock(layer));
    if (d_.norm_placement == ModelDescription::NormPlacement::kPre) layout_.norm = AddNorm("norm");
    AddHead();
    return std::move(layout_);
  }

 private:
  int64_t Add(std::string name, std::vector<int64_t> shape, Start start, bool decay = false,
              float minimum = -INFINITY) {
    ParameterInfo info;
    info.name = std::move(name);
    info.shape = std::move(shape);
    info.offset = layout_.count;
    info.size = 1;
    for (int64_t extent : info.shape) info.size *= extent;
    info.start = start;
    info.decay = decay;
    info.minimum = minimum;
    layout_.count += info.size;
    layout_.parameters.push_back(std::move(info));
    return layout_.parameters.back().offset;
  }

  NormPlace AddNorm(const std::string& name) {
    NormPlace place;
    place.gain = Add(name + ".gain", {d_.dim}, Constant(1));
    if (NormBias(d_)) place.bias = Add(name + ".bias", {d_.dim}, Constant(0));
    return place;
  }

  LinearPlace AddLinear(const std::string& name, int64_t inputs, int64_t outputs, double deviation, bool bias) {
    LinearPlace place{inputs, outputs};
    place.weight = Add(name + ".weight", {outputs, inputs}, Normal(deviation), /*decay=*/true);
    if (bias) place.bias = Add(name + ".bias", {outputs}, Constant(0));
    return place;
  }

  void AddEmbedding() {
    // A tied matrix starts as a head would: with unit entries the first logits would be sqrt(dim) too wide.
    layout_.embedding = Add("embedding.weight", {d_.vocabulary, d_.dim}, Normal(d_.tied ? InputDeviation(d_.dim) : 1));
  }

  void AddHead() {
    if (d_.tied) {
      layout_.head = {d_.dim, d_.vocabulary, layout_.embedding};
    } else {
      layout_.head = AddLinear("head", d_.dim, d_.vocabulary, InputDeviation(d_.dim), false);
    }
  }

  static double InputDeviation(int64_t inputs) { return 1 / std::sqrt(static_cast<double>(inputs)); }
  // Matrices that write into the residual stream start smaller, by the number of writers (GPT-2).
  double ResidualDeviation(int64_t inputs) const {
    return InputDeviation(inputs) / std::sqrt(2 * static_cast<double>(d_.layers));
  }

  // Asks every layer's scheme for its tensors; places those that layers share.
  Status AddSharedPositions() {
    layout_.blocks.resize(static_cast<size_t>(d_.layers));
    specs_.resize(static_cast<size_t>(d_.layers));
    for (size_t layer = 0; layer < specs_.size(); ++layer) {
      const Scheme& scheme = *schemes_[layer];
      Result<std::vector<ParameterSpec>> specs = scheme.Parameters(dimensions_);
      if (!specs.ok()) return specs.status();
      specs_[layer] = std::move(*specs);
      if (scheme.embeds()) POSLAB_RETURN_IF_ERROR(TakeEmbedding(static_cast<int64_t>(layer)));
      for (ParameterSpec& spec : specs_[layer])
        if (spec.shared_by_layers) POSLAB_RETURN_IF_ERROR(AddShared(layer, &spec));
    }
    return Status::Ok();
  }

  Status TakeEmbedding(int64_t layer) {
    if (layout_.embedding_layer == kAbsent) layout_.embedding_layer = layer;
    const Scheme& first = *schemes_[static_cast<size_t>(layout_.embedding_layer)];
    const Scheme& this_one = *schemes_[static_cast<size_t>(layer)];
    if (first.type() == this_one.type()) return Status::Ok();
    return Status::Text(Code::kContradiction, "position", this_one.type(),
                        "one scheme with an embedding hook: it acts once, before the first layer");
  }

  // A scheme's tensor may be as long as a text (learned rows): its size is checked before it is added to anything.
  Status CheckSize(const std::string& name, const ParameterSpec& spec) const {
    int64_t size = 1;
    double bytes = sizeof(float);
    for (int64_t extent : spec.shape) size = CheckedProduct({size, extent}), bytes *= static_cast<double>(extent);
    if (size < 0 || static_cast<uint64_t>(size) > kMaxBytes / sizeof(float) - static_cast<uint64_t>(layout_.count))
      return Status::Number(Code::kMemory, name, bytes, "at most {0} bytes for the model's weights",
                            static_cast<double>(kMaxBytes));
    return Status::Ok();
  }

  // The first layer's scheme has the shared name. A layer whose scheme means another tensor by it (T5's table after a
  // learned one) gets its own.
  Status AddShared(size_t layer, ParameterSpec* spec) {
    const std::string name = "position." + spec->name;
    for (size_t n = 0; n < layout_.parameters.size(); ++n) {
      const ParameterInfo& info = layout_.parameters[n];
      if (info.name != name) continue;
      const bool same = info.shape == spec->shape && schemes_[shared_owner_[n]]->type() == schemes_[layer]->type();
      if (same) layout_.blocks[layer].position.push_back(static_cast<int64_t>(n));
      spec->shared_by_layers = same;
      return Status::Ok();
    }
    POSLAB_RETURN_IF_ERROR(CheckSize(name, *spec));
    layout_.blocks[layer].position.push_back(static_cast<int64_t>(layout_.parameters.size()));
    Add(name, spec->shape, spec->start, spec->decay, spec->minimum);
    shared_owner_.resize(layout_.parameters.size(), layer);
    return Status::Ok();
  }

  Status AddBlock(int64_t layer) {
    BlockPlace& block = layout_.blocks[static_cast<size_t>(layer)];
    const std::string name = "blocks." + std::to_string(layer);
    block.norm1 = AddNorm(name + ".norm1");
    if (!d_.parallel) block.norm2 = AddNorm(name + ".norm2");
    AddAttention(name + ".attention", &block);
    for (const ParameterSpec& spec : specs_[static_cast<size_t>(layer)]) {
      if (spec.shared_by_layers) continue;
      POSLAB_RETURN_IF_ERROR(CheckSize(name + ".position." + spec.name, spec));
      block.position.push_back(static_cast<int64_t>(layout_.parameters.size()));
      Add(name + ".position." + spec.name, spec.shape, spec.start, spec.decay, spec.minimum);
    }
    const bool bias = FeedForwardBias(d_);
    const double deviation = InputDeviation(d_.dim);
    if (d_.gated) block.gate = AddLinear(name + ".feedForward.gate", d_.dim, d_.feed_forward, deviation, bias);
    block.in = AddLinear(name + ".feedForward.in", d_.dim, d_.feed_forward, deviation, bias);
    block.out = AddLinear(name + ".feedForward.out", d_.feed_forward, d_.dim, ResidualDeviation(d_.feed_forward), bias);
    return Status::Ok();
  }

  void AddAttention(const std::string& name, BlockPlace* block) {
    const int64_t query_width = d_.heads * d_.head_dim, key_width = d_.key_value_heads * d_.head_dim;
    const double deviation = InputDeviation(d_.dim);
    LinearPlace& all = block->query_key_value;
    all.inputs = d_.dim, all.outputs = query_width + 2 * key_width;
    all.weight = Add(name + ".query.weight", {query_width, d_.dim}, Normal(deviation), true);
    Add(name + ".key.weight", {key_width, d_.dim}, Normal(deviation), true);
    Add(name + ".value.weight", {key_width, d_.dim}, Normal(deviation), true);
    if (AttentionBias(d_)) {
      all.bias = Add(name + ".query.bias", {query_width}, Constant(0));
      Add(name + ".key.bias", {key_width}, Constant(0));
      Add(name + ".value.bias", {key_width}, Constant(0));
    }
    if (d_.sinks == ModelDescription::Sinks::kLearned) block->sinks = Add(name + ".sinks", {d_.heads}, Constant(0));
    block->attention_output =
        AddLinear(name + ".output", query_width, d_.dim, ResidualDeviation(query_width), AttentionBias(d_));
  }

  const ModelDescription& d_;
  std::span<const std::shared_ptr<const Scheme>> schemes_;
  Dimensions dimensions_;
  Layout layout_;
  std::vector<std::vector<ParameterSpec>> specs_;
  std::vector<size_t> shared_owner_;  // by parameter index: the layer that brought a shared tensor
};

}  // namespace

Dimensions SchemeDimensions(const ModelDescription& description) {
  Dimensions dimensions;
  dimensions.heads = description.heads;
  dimensions.head_dim = description.head_dim;
  dimensions.value_dim = description.head_dim;
  dimensions.model_dim = description.dim;
  dimensions.trained_length = description.trained_length;
  return dimensions;
}

ModelDescription FilledIn(ModelDescription description) {
  if (description.key_value_heads == 0) description.key_value_heads = description.heads;
  if (description.head_dim == 0) description.head_dim = description.dim / description.heads;
  return description;
}

Result<Layout> MakeLayout(const ModelDescription& description, std::span<const std::shared_ptr<const Scheme>> schemes) {
  return LayoutMaker(description, schemes).Make();
}

}  // namespace poslab
