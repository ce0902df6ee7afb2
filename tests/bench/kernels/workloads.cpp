// SPDX-License-Identifier: MIT
// Making and running the workloads.
#include "workloads.h"

#include <algorithm>
#include <utility>

#include "base/matmul.h"
#include "base/random.h"
#include "position/inspect.h"
#include "position/registry.h"
#include "position/rotation.h"

namespace poslab_bench {
namespace {

using poslab::AttentionGradientArguments;
using poslab::AttentionGradients;
using poslab::Description;
using poslab::HeadsView;
using poslab::Mask;

constexpr uint64_t kQuerySeed = 1, kKeySeed = 2, kValueSeed = 3, kGradientSeed = 4, kGateSeed = 5, kTableSeed = 6;

Status FillNew(uint64_t seed, std::initializer_list<int64_t> shape, Buffer<float>* buffer) {
  POSLAB_RETURN_IF_ERROR(buffer->Resize("input", poslab::CheckedProduct(shape)));
  FillUniform(seed, buffer->span());
  return Status::Ok();
}

// As the model starts them; what a scheme starts at zero gets numbers too, so that no kernel sees zeros only.
void FillParameter(const poslab::ParameterSpec& spec, uint64_t seed, Buffer<float>* numbers) {
  FillUniform(seed, numbers->span());
  const poslab::Start& start = spec.start;
  for (float& number : *numbers) {
    switch (start.kind) {
      case poslab::Start::Kind::kUniform:
        number = static_cast<float>(start.a + (start.b - start.a) * (0.5 + 0.5 * static_cast<double>(number)));
        break;
      case poslab::Start::Kind::kNormal:
        number *= static_cast<float>(start.a);
        break;
      case poslab::Start::Kind::kConstant:
        number = static_cast<float>(start.a) + 0.02f * number;
        break;
    }
    number = std::max(number, spec.minimum);
  }
}

poslab::Dimensions DimensionsOf(const AttentionShape& shape) {
  poslab::Dimensions dimensions;
  dimensions.heads = shape.heads;
  dimensions.head_dim = dimensions.value_dim = shape.dim;
  dimensions.model_dim = shape.heads * shape.dim;
  dimensions.trained_length = std::max(shape.queries, shape.keys);
  return dimensions;
}

HeadsView<float> View(Buffer<float>& buffer, int64_t heads, int64_t length, int64_t dim) {
  return HeadsView<float>::Packed(buffer.data(), heads, length, dim);
}
HeadsView<const float> ConstView(const Buffer<float>& buffer, int64_t heads, int64_t length, int64_t dim) {
  return HeadsView<const float>::Packed(buffer.data(), heads, length, dim);
}

Status MakeNamed(std::string_view type, std::unique_ptr<Scheme>* scheme, std::vector<poslab::Field> fields = {}) {
  Description description;
  description.type = type;
  description.fields = std::move(fields);
  Result<std::unique_ptr<Scheme>> made = poslab::MakeScheme(description);
  if (!made.ok()) return made.status();
  *scheme = std::move(*made);
  return Status::Ok();
}

double Bytes(std::initializer_list<const Buffer<float>*> buffers) {
  double count = 0;
  for (const Buffer<float>* buffer : buffers) count += static_cast<double>(buffer->size());
  return count * sizeof(float);
}

}  // namespace

void FillUniform(uint64_t seed, std::span<float> numbers) {
  poslab::Random random(seed);
  for (float& number : numbers) number = static_cast<float>(2 * random.Uniform() - 1);
}

std::vector<std::string> SchemeTypes() {
  const AttentionShape small{.heads = 2, .key_value_heads = 2, .queries = 8, .keys = 8, .dim = 8, .causal = true};
  std::vector<std::string> types;
  for (const poslab::SchemeEntry& entry : poslab::Schemes()) {
    AttentionWorkload workload;
    if (workload.Make(entry.type, small).ok() && workload.Forward().ok()) types.emplace_back(entry.type);
  }
  return types;
}

// ---------------------------------------------------------------------------------------------------- schemes

Status BoundScheme::Make(std::string_view type, const AttentionShape& shape, Positions queries, Positions keys) {
  POSLAB_RETURN_IF_ERROR(MakeNamed(type, &scheme_));
  const poslab::Dimensions dimensions = DimensionsOf(shape);
  Result<std::vector<poslab::ParameterSpec>> specs = scheme_->Parameters(dimensions);
  if (!specs.ok()) return specs.status();
  specs_ = std::move(*specs);
  for (const poslab::ParameterSpec& spec : specs_) {
    int64_t count = 1;
    for (const int64_t extent : spec.shape) count *= extent;
    Buffer<float> numbers;
    POSLAB_RETURN_IF_ERROR(numbers.Resize(spec.name, count));
    FillParameter(spec, kTableSeed + numbers_.size(), &numbers);
    values_.push_back({spec.name, numbers.data(), spec.shape});
    numbers_.push_back(std::move(numbers));
  }
  arguments_ = {dimensions, queries, keys, 0, values_};
  return Bind();
}

Status BoundScheme::Bind() {
  if (!scheme_->acts_on_attention()) return Status::Ok();
  return scheme_->Bind(arguments_, &hooks_);
}

Status BoundScheme::MakeGradients() {
  for (const poslab::TensorView<const float>& value : values_) {
    Buffer<float> gradients;
    POSLAB_RETURN_IF_ERROR(gradients.Resize(value.name, value.size()));
    gradients_.push_back({value.name, gradients.data(), value.shape});
    number_gradients_.push_back(std::move(gradients));
  }
  return Status::Ok();
}

Status BoundScheme::Pull(const poslab::HookGradients& hook_gradients) {
  if (!scheme_->acts_on_attention() || gradients_.empty()) return Status::Ok();
  return scheme_->Pull(arguments_, hooks_, hook_gradients, gradients_);
}

// -------------------------------------------------------------------------------------------------- attention

Status AttentionWorkload::Make(std::string_view type, const AttentionShape& shape) {
  shape_ = shape;
  POSLAB_RETURN_IF_ERROR(FillNew(kQuerySeed, {shape.heads, shape.queries, shape.dim}, &query_));
  POSLAB_RETURN_IF_ERROR(FillNew(kKeySeed, {shape.key_value_heads, shape.keys, shape.dim}, &key_));
  POSLAB_RETURN_IF_ERROR(FillNew(kValueSeed, {shape.key_value_heads, shape.keys, shape.dim}, &value_));
  POSLAB_RETURN_IF_ERROR(output_.Resize("output", query_.size()));
  arguments_.query = ConstView(query_, shape.heads, shape.queries, shape.dim);
  arguments_.key = ConstView(key_, shape.key_value_heads, shape.keys, shape.dim);
  arguments_.value = ConstView(value_, shape.key_value_heads, shape.keys, shape.dim);
  arguments_.mask.causal = shape.causal;
  if (shape.window > 0) arguments_.mask.window = shape.window;
  arguments_.query_positions = poslab::DefaultQueryPositions(shape.queries, shape.keys, Mask::Alignment::kBottomRight);
  arguments_.key_positions = {0, shape.keys, nullptr};
  POSLAB_RETURN_IF_ERROR(scheme_.Make(type, shape, arguments_.query_positions, arguments_.key_positions));
  if (scheme_.scheme().acts_on_attention()) arguments_.hooks = &scheme_.hooks();
  if (scheme_.scheme().embeds())
    POSLAB_RETURN_IF_ERROR(FillNew(kQuerySeed, {shape.queries, shape.heads * shape.dim}, &tokens_));
  if (scheme_.hooks().tile) {
    POSLAB_RETURN_IF_ERROR(FillNew(kGateSeed, {shape.heads, shape.keys}, &gates_));
    arguments_.gates = gates_.data();
  }
  results_.output = View(output_, shape.heads, shape.queries, shape.dim);
  return Status::Ok();
}

Status AttentionWorkload::Forward() {
  if (!tokens_.empty()) {
    POSLAB_RETURN_IF_ERROR(scheme_.scheme().AddEmbedding(arguments_.query_positions, shape_.heads * shape_.dim,
                                                         scheme_.values(), tokens_.data()));
  }
  return poslab::Attention(arguments_, &results_, &workspace_);
}

Status AttentionWorkload::PrepareBackward() {
  POSLAB_RETURN_IF_ERROR(FillNew(kGradientSeed, {output_.size()}, &output_gradient_));
  POSLAB_RETURN_IF_ERROR(log_sum_exp_.Resize("logSumExp", shape_.heads * shape_.queries));
  POSLAB_RETURN_IF_ERROR(query_gradient_.Resize("query", query_.size()));
  POSLAB_RETURN_IF_ERROR(key_gradient_.Resize("key", key_.size()));
  POSLAB_RETURN_IF_ERROR(value_gradient_.Resize("value", value_.size()));
  POSLAB_RETURN_IF_ERROR(gate_gradient_.Resize("gates", gates_.size()));
  POSLAB_RETURN_IF_ERROR(scheme_.MakeGradients());
  if (!tokens_.empty()) POSLAB_RETURN_IF_ERROR(FillNew(kGradientSeed, {tokens_.size()}, &token_gradient_));
  results_.log_sum_exp = log_sum_exp_.data();
  return poslab::Attention(arguments_, &results_, &workspace_);
}

Status AttentionWorkload::Backward() {
  AttentionGradientArguments forward;
  forward.output = ConstView(output_, shape_.heads, shape_.queries, shape_.dim);
  forward.log_sum_exp = log_sum_exp_.data();
  forward.output_gradient = ConstView(output_gradient_, shape_.heads, shape_.queries, shape_.dim);
  AttentionGradients gradients;
  gradients.query = View(query_gradient_, shape_.heads, shape_.queries, shape_.dim);
  gradients.key = View(key_gradient_, shape_.key_value_heads, shape_.keys, shape_.dim);
  gradients.value = View(value_gradient_, shape_.key_value_heads, shape_.keys, shape_.dim);
  hook_gradients_.parameters = scheme_.gradients();
  gradients.hooks = &hook_gradients_;
  if (!gates_.empty()) gradients.gates = gate_gradient_.data();
  if (!tokens_.empty()) {
    POSLAB_RETURN_IF_ERROR(scheme_.scheme().EmbeddingBackward(arguments_.query_positions, shape_.heads * shape_.dim,
                                                              token_gradient_.data(), scheme_.gradients()));
  }
  return poslab::AttentionBackward(arguments_, forward, &gradients, &workspace_);
}

std::vector<float> AttentionWorkload::BiasByDistance() const {
  const poslab::Hooks& hooks = scheme_.hooks();
  const bool alone = !hooks.rotation && !hooks.score_band && !hooks.value_band && !hooks.tile && !hooks.query_bias;
  if (!hooks.slice || !alone) return {};
  const int64_t first = 1 - shape_.queries, count = shape_.queries + shape_.keys - 1;
  std::vector<float> biases(static_cast<size_t>(shape_.heads * count));
  for (int64_t head = 0; head < shape_.heads; ++head)
    hooks.slice->Evaluate(head, first, count, biases.data() + head * count);
  return biases;
}

const poslab::Rotation* AttentionWorkload::PlainRotation() const {
  const poslab::Hooks& hooks = scheme_.hooks();
  const bool alone = !hooks.slice && !hooks.score_band && !hooks.value_band && !hooks.tile && !hooks.query_bias;
  const bool half = hooks.rotation && hooks.rotation->layout == poslab::Rotation::Layout::kHalf;
  return half && alone && 2 * hooks.rotation->pairs == shape_.dim ? hooks.rotation.get() : nullptr;
}

std::span<const float> AttentionWorkload::cosines() const {
  const poslab::Rotation* rotation = PlainRotation();
  return rotation ? rotation->key_cos.span() : std::span<const float>();
}

std::span<const float> AttentionWorkload::sines() const {
  const poslab::Rotation* rotation = PlainRotation();
  return rotation ? rotation->key_sin.span() : std::span<const float>();
}

double AttentionWorkload::forward_flops() const {
  double pairs = static_cast<double>(shape_.queries) * static_cast<double>(shape_.keys);
  if (shape_.causal && shape_.window > 0) {
    pairs = 0;
    for (int64_t i = 0; i < shape_.queries; ++i)
      pairs += static_cast<double>(std::min(i + 1 + shape_.keys - shape_.queries, shape_.window));
  } else if (shape_.causal && shape_.queries == shape_.keys) {
    pairs /= 2;
  }
  return 4 * pairs * static_cast<double>(shape_.heads * shape_.dim);
}

double AttentionWorkload::forward_bytes() const {
  double bytes = Bytes({&query_, &key_, &value_, &output_, &gates_, &tokens_});
  for (const auto& tensor : scheme_.values()) bytes += static_cast<double>(tensor.size()) * sizeof(float);
  return bytes;
}

double AttentionWorkload::backward_bytes() const {
  double bytes = forward_bytes() + Bytes({&log_sum_exp_, &output_gradient_, &query_gradient_, &key_gradient_,
                                          &value_gradient_, &gate_gradient_, &token_gradient_});
  for (const auto& tensor : scheme_.gradients()) bytes += static_cast<double>(tensor.size()) * sizeof(float);
  return bytes;
}

// ------------------------------------------------------------------------------------------ position kernels

Status RotationWorkload::Make(int64_t heads, int64_t length, int64_t dim) {
  heads_ = heads, length_ = length, dim_ = dim;
  POSLAB_RETURN_IF_ERROR(FillNew(kQuerySeed, {heads, length, dim}, &query_));
  POSLAB_RETURN_IF_ERROR(FillNew(kKeySeed, {heads, length, dim}, &key_));
  std::unique_ptr<Scheme> rope;
  POSLAB_RETURN_IF_ERROR(MakeNamed("rope", &rope));
  poslab::BindArguments arguments;
  arguments.dimensions.heads = heads;
  arguments.dimensions.head_dim = dim;
  arguments.query_positions = arguments.key_positions = {0, length, nullptr};
  return rope->Bind(arguments, &hooks_);
}

void RotationWorkload::Run() {
  poslab::TurnRows(*hooks_.rotation, heads_, length_, dim_, query_.data(), query_.data());
  poslab::TurnRows(*hooks_.rotation, heads_, length_, dim_, key_.data(), key_.data());
}

Status TableWorkload::Make(int64_t length, int64_t dim) {
  length_ = length, dim_ = dim;
  return MakeNamed("sinusoidal", &scheme_);
}

Status TableWorkload::Run() { return poslab::inspect::Table(*scheme_, 0, length_, dim_, {}, &result_); }

Status BiasWorkload::Make(int64_t heads, int64_t length) {
  heads_ = heads, length_ = length;
  poslab::Field bidirectional;
  bidirectional.name = "bidirectional";
  bidirectional.kind = poslab::Field::Kind::kBoolean;
  bidirectional.boolean = true;
  POSLAB_RETURN_IF_ERROR(MakeNamed("t5", &scheme_, {bidirectional}));
  poslab::Dimensions dimensions;
  dimensions.heads = heads;
  const Result<std::vector<poslab::ParameterSpec>> specs = scheme_->Parameters(dimensions);
  if (!specs.ok()) return specs.status();
  const std::vector<int64_t>& shape = (*specs)[0].shape;
  POSLAB_RETURN_IF_ERROR(FillNew(kTableSeed, {shape[0], shape[1]}, &table_));
  values_ = {{"table", table_.data(), shape}};
  return Status::Ok();
}

Status BiasWorkload::Run() {
  poslab::inspect::BiasArguments arguments;
  arguments.heads = heads_;
  arguments.query_length = arguments.key_length = length_;
  arguments.parameters = values_;
  return poslab::inspect::Bias(*scheme_, arguments, &result_);
}

Status MatMulWorkload::Make(int64_t m, int64_t n, int64_t k) {
  m_ = m, n_ = n, k_ = k;
  POSLAB_RETURN_IF_ERROR(FillNew(kQuerySeed, {m, k}, &a_));
  POSLAB_RETURN_IF_ERROR(FillNew(kKeySeed, {k, n}, &b_));
  return c_.Resize("c", m * n);
}

void MatMulWorkload::Run() {
  poslab::MatMulArguments arguments;
  arguments.m = m_, arguments.n = n_, arguments.k = k_;
  arguments.a = a_.data(), arguments.a_row_stride = k_;
  arguments.b = b_.data(), arguments.b_row_stride = n_;
  arguments.c = c_.data(), arguments.c_row_stride = n_;
  poslab::MatMul(arguments);
}

}  // namespace poslab_bench
