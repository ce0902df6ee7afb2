// SPDX-License-Identifier: MIT
#include "transformer/plan.h"

#include "position/registry.h"

namespace poslab {
namespace {

class Planner {
 public:
  Planner(const Architecture& architecture, Weights* weights) : a_(architecture), weights_(*weights) {}

  Result<ModelTensors> Plan(const LayerSchemes& encoder, const LayerSchemes& decoder) {
    ModelTensors model;
    AddInputs(&model);
    if (a_.encoder) POSLAB_RETURN_IF_ERROR(AddStack(*a_.encoder, encoder, false, &model.encoder));
    if (a_.decoder) POSLAB_RETURN_IF_ERROR(AddStack(*a_.decoder, decoder, a_.two_stacks(), &model.decoder));
    AddHead(&model);
    return model;
  }

 private:
  int Vector(const std::string& name, int64_t width) { return weights_.Add(name, {width}, false); }

  LinearTensors Linear(const std::string& name, int64_t outputs, int64_t inputs, bool bias) {
    LinearTensors linear;
    linear.weight = weights_.Add(name + ".weight", {outputs, inputs}, true);
    if (bias) linear.bias = Vector(name + ".bias", outputs);
    return linear;
  }

  NormTensors Norm(const StackDescription& stack, const std::string& name) {
    NormTensors norm;
    norm.gain = Vector(name + ".gain", a_.dim);
    if (stack.norm_bias) norm.bias = Vector(name + ".bias", a_.dim);
    return norm;
  }

  // The table that a tied head reads is in panels; looked up alone it stays as it is.
  int Embedding(const std::string& name, bool tied) {
    return weights_.Add(name, {a_.vocabulary, a_.dim}, tied && a_.head && a_.head->tied);
  }

  void AddInputs(ModelTensors* model) {
    if (a_.vocabulary > 0 && a_.separate_embeddings) {
      model->encoder.embedding = Embedding("encoder.embedding.weight", false);
      model->decoder.embedding = Embedding("decoder.embedding.weight", true);
    } else if (a_.vocabulary > 0) {
      model->encoder.embedding = model->decoder.embedding = Embedding("embedding.weight", true);
    }
    if (a_.token_types > 0) model->token_types = weights_.Add("embedding.type", {a_.token_types, a_.dim}, false);
    if (!a_.image) return;
    model->patch = Linear("patch", a_.dim, a_.image->patch_size(), a_.image->patch_bias);
    if (a_.image->class_token) model->class_token = Vector("classToken", a_.dim);
  }

  Status AddStack(const StackDescription& stack, const LayerSchemes& schemes, bool cross, StackTensors* tensors) {
    const std::string prefix(StackPrefix(a_, stack));
    if (stack.embedding_norm) tensors->embedding_norm = Norm(stack, prefix + "embedding.norm");
    tensors->blocks.resize(static_cast<size_t>(stack.layers));
    for (size_t layer = 0; layer < tensors->blocks.size(); ++layer) {
      const std::string name = prefix + "blocks." + std::to_string(layer);
      POSLAB_RETURN_IF_ERROR(AddPosition(stack, schemes, layer, prefix, name, tensors));
      AddBlock(stack, name, cross, &tensors->blocks[layer]);
    }
    if (stack.final_norm) tensors->norm = Norm(stack, prefix + "norm");
    return Status::Ok();
  }

  Status AddPosition(const StackDescription& stack, const LayerSchemes& schemes, size_t layer,
                     const std::string& prefix, const std::string& block, StackTensors* tensors) {
    const Scheme& scheme = *schemes[layer];
    Result<std::vector<ParameterSpec>> specs = scheme.Parameters(StackDimensions(a_, stack));
    if (!specs.ok()) return specs.status();
    for (ParameterSpec& spec : *specs) {
      // Layers share a tensor when they share its scheme.
      const int owner = spec.shared_by_layers ? SharedBy(schemes, layer, spec.name, *tensors) : Weights::kNone;
      const std::string shared = prefix + "position." + spec.name;
      const bool takes_name = spec.shared_by_layers && weights_.Find(shared) == Weights::kNone;
      const std::string name = takes_name ? shared : block + ".position." + spec.name;
      tensors->blocks[layer].position.push_back(owner != Weights::kNone ? owner
                                                                        : weights_.Add(name, spec.shape, false));
    }
    return Status::Ok();
  }

  int SharedBy(const LayerSchemes& schemes, size_t layer, const std::string& name, const StackTensors& tensors) const {
    for (size_t before = 0; before < layer; ++before) {
      if (schemes[before] != schemes[layer]) continue;
      for (int index : tensors.blocks[before].position)
        if (weights_[index].name.ends_with(".position." + name) || weights_[index].name == "position." + name)
          return index;
    }
    return Weights::kNone;
  }

  void AddBlock(const StackDescription& stack, const std::string& name, bool cross, BlockTensors* block) {
    block->norm1 = Norm(stack, name + ".norm1");
    block->self = Attention(stack, name + ".attention");
    if (stack.sinks == ModelDescription::Sinks::kLearned)
      block->self.sinks = Vector(name + ".attention.sinks", stack.heads);
    if (cross) {
      block->cross_norm = Norm(stack, name + ".crossNorm");
      block->cross = Attention(stack, name + ".crossAttention");
    }
    if (stack.parallel != StackDescription::Parallel::kOneNorm) block->norm2 = Norm(stack, name + ".norm2");
    const std::string feed_forward = name + ".feedForward.";
    if (stack.gated) block->gate = Linear(feed_forward + "gate", stack.feed_forward, a_.dim, stack.bias.gate);
    block->in = Linear(feed_forward + "in", stack.feed_forward, a_.dim, stack.bias.in);
    block->out = Linear(feed_forward + "out", a_.dim, stack.feed_forward, stack.bias.out);
  }

  AttentionTensors Attention(const StackDescription& stack, const std::string& name) {
    AttentionTensors attention;
    attention.query = Linear(name + ".query", stack.query_width(), a_.dim, stack.bias.query);
    attention.key = Linear(name + ".key", stack.key_width(), a_.dim, stack.bias.key);
    attention.value = Linear(name + ".value", stack.key_width(), a_.dim, stack.bias.value);
    attention.output = Linear(name + ".output", a_.dim, stack.query_width(), stack.bias.attention_output);
    if (stack.query_key_norm == StackDescription::QueryKeyNorm::kNone) return attention;
    const bool by_head = stack.query_key_norm == StackDescription::QueryKeyNorm::kHead;
    attention.query_norm = Vector(name + ".queryNorm.gain", by_head ? stack.head_dim : stack.query_width());
    attention.key_norm = Vector(name + ".keyNorm.gain", by_head ? stack.head_dim : stack.key_width());
    return attention;
  }

  void AddHead(ModelTensors* model) {
    if (!a_.head) return;
    if (a_.head->transform) {
      model->transform = Linear("head.transform", a_.dim, a_.dim, true);
      model->head_norm = Norm(a_.last(), "head.norm");
    }
    model->head.weight = a_.head->tied ? (a_.decoder ? model->decoder : model->encoder).embedding
                                       : weights_.Add("head.weight", {a_.head->outputs, a_.dim}, true);
    if (a_.head->bias) model->head.bias = Vector("head.bias", a_.head->outputs);
  }

  const Architecture& a_;
  Weights& weights_;
};

}  // namespace

Dimensions StackDimensions(const Architecture& architecture, const StackDescription& stack) {
  Dimensions dimensions;
  dimensions.heads = stack.heads;
  dimensions.head_dim = dimensions.value_dim = stack.head_dim;
  dimensions.model_dim = architecture.dim;
  dimensions.trained_length = architecture.trained_length;
  return dimensions;
}

Result<LayerSchemes> MakeLayerSchemes(const StackDescription& stack) {
  LayerSchemes schemes;
  for (const Description& description : stack.position) {
    Result<std::unique_ptr<Scheme>> scheme = MakeScheme(description);
    if (!scheme.ok()) return scheme.status();
    schemes.push_back(std::move(*scheme));
  }
  if (schemes.size() == 1) schemes.resize(static_cast<size_t>(stack.layers), schemes[0]);
  return schemes;
}

Result<ModelTensors> PlanTensors(const Architecture& architecture, const LayerSchemes& encoder,
                                 const LayerSchemes& decoder, Weights* weights) {
  return Planner(architecture, weights).Plan(encoder, decoder);
}

}  // namespace poslab
