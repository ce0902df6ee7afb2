// SPDX-License-Identifier: MIT
// An architecture field by field; the TypeScript layer has filled in defaults and checked names and kinds.
#include "border.h"
#include "models.h"

namespace poslab::border {
namespace {

ModelDescription::Activation ActivationOf(const std::string& name) {
  using Activation = ModelDescription::Activation;
  static constexpr struct {
    std::string_view name;
    Activation activation;
  } kNames[] = {{"gelu-tanh", Activation::kGelu},           {"gelu-erf", Activation::kGeluErf},
                {"gelu-quick", Activation::kGeluQuick},     {"relu", Activation::kRelu},
                {"relu-squared", Activation::kReluSquared}, {"silu", Activation::kSilu}};
  for (const auto& entry : kNames)
    if (entry.name == name) return entry.activation;
  return Activation::kGelu;
}

StackDescription::Biases BiasesOf(Value object) {
  StackDescription::Biases bias;
  bias.query = TruthOf(object, "query");
  bias.key = TruthOf(object, "key");
  bias.value = TruthOf(object, "value");
  bias.attention_output = TruthOf(object, "attentionOutput");
  bias.gate = TruthOf(object, "gate");
  bias.in = TruthOf(object, "in");
  bias.out = TruthOf(object, "out");
  return bias;
}

ModelDescription::Sinks SinksOf(const std::string& name) {
  if (name == "zero") return ModelDescription::Sinks::kZero;
  return name == "learned" ? ModelDescription::Sinks::kLearned : ModelDescription::Sinks::kNone;
}

StackDescription StackOf(Value object) {
  StackDescription stack;
  stack.layers = CountOf(object, "layers");
  stack.heads = CountOf(object, "heads");
  stack.key_value_heads = CountOf(object, "keyValueHeads");
  stack.head_dim = CountOf(object, "headDim");
  stack.feed_forward = CountOf(object, "feedForward");
  stack.causal = TruthOf(object, "causal");
  for (Value position : object["position"]) stack.position.push_back(DescriptionOf(position));
  stack.windows = CountsOf(object["window"]);
  const Value norm = object["norm"];
  if (IsGiven(object["scale"])) stack.scale = NumberOf(object, "scale");
  stack.norm = TextOf(norm, "kind") == "rms" ? NormKind::kRms : NormKind::kLayer;
  if (TextOf(norm, "place") == "post") stack.norm_placement = ModelDescription::NormPlacement::kPost;
  stack.epsilon = NumberOf(norm, "epsilon");
  stack.norm_bias = TruthOf(norm, "bias");
  stack.final_norm = TruthOf(object, "finalNorm");
  stack.embedding_norm = TruthOf(object, "embeddingNorm");
  stack.embedding_scale = NumberOf(object, "embeddingScale");
  const std::string parallel = TextOf(object, "parallel"), query_key_norm = TextOf(object, "queryKeyNorm");
  if (parallel == "one-norm") stack.parallel = StackDescription::Parallel::kOneNorm;
  if (parallel == "two-norms") stack.parallel = StackDescription::Parallel::kTwoNorms;
  if (query_key_norm == "head") stack.query_key_norm = StackDescription::QueryKeyNorm::kHead;
  if (query_key_norm == "row") stack.query_key_norm = StackDescription::QueryKeyNorm::kRow;
  stack.sinks = SinksOf(TextOf(object, "sinks"));
  stack.activation = ActivationOf(TextOf(object, "activation"));
  stack.gated = TruthOf(object, "gated");
  stack.bias = BiasesOf(object["bias"]);
  return stack;
}

ImageDescription ImageOf(Value object) {
  ImageDescription image;
  image.channels = CountOf(object, "channels");
  image.patch = CountOf(object, "patch");
  image.height = CountOf(object, "height");
  image.width = CountOf(object, "width");
  image.class_token = TruthOf(object, "classToken");
  image.patch_bias = TruthOf(object, "patchBias");
  return image;
}

HeadDescription HeadOf(Value object) {
  HeadDescription head;
  head.outputs = CountOf(object, "outputs");
  head.tied = TruthOf(object, "tied");
  head.scale = NumberOf(object, "scale");
  head.bias = TruthOf(object, "bias");
  if (IsGiven(object["transform"])) head.transform = ActivationOf(TextOf(object, "transform"));
  head.first_row = TextOf(object, "pooling") == "first";
  return head;
}

}  // namespace

Architecture ArchitectureOf(Value object) {
  Architecture architecture;
  architecture.dim = CountOf(object, "dim");
  architecture.vocabulary = CountOf(object, "vocabulary");
  architecture.trained_length = CountOf(object, "trainedLength");
  if (IsGiven(object["encoder"])) architecture.encoder = StackOf(object["encoder"]);
  if (IsGiven(object["decoder"])) architecture.decoder = StackOf(object["decoder"]);
  architecture.separate_embeddings = TruthOf(object, "separateEmbeddings");
  architecture.token_types = CountOf(object, "tokenTypes");
  if (IsGiven(object["image"])) architecture.image = ImageOf(object["image"]);
  architecture.memory_length = CountOf(object, "memoryLength");
  if (IsGiven(object["head"])) architecture.head = HeadOf(object["head"]);
  return architecture;
}

}  // namespace poslab::border
