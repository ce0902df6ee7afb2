// SPDX-License-Identifier: MIT
// The attention part of a block. Query, key and value come from one product into rows [query | key | value]; the engine
// reads the heads of each sequence in place, through strides.
#include <cstring>
#include <optional>

#include "model/block.h"

namespace poslab {
namespace {

// The query, key and value heads of one sequence inside rows [query | key | value].
template <typename T>
struct HeadViews {
  HeadsView<T> query, key, value;

  HeadViews(const ModelDescription& d, int64_t length, T* rows) {
    const int64_t stride = (d.heads + 2 * d.key_value_heads) * d.head_dim;
    query = {rows, d.heads, length, d.head_dim, d.head_dim, stride};
    key = {rows + d.heads * d.head_dim, d.key_value_heads, length, d.head_dim, d.head_dim, stride};
    value = {key.data + d.key_value_heads * d.head_dim, d.key_value_heads, length, d.head_dim, d.head_dim, stride};
  }
};

template <typename T>
HeadsView<T> OutputView(const ModelDescription& d, int64_t length, T* rows) {
  return {rows, d.heads, length, d.head_dim, d.head_dim, d.heads * d.head_dim};
}

AttentionArguments ArgumentsOf(const BlockContext& context, int64_t sequence) {
  const ModelDescription& d = *context.description;
  const int64_t length = context.shape.length;
  const float* rows = context.kept->query_key_value.data() + sequence * length * context.place->query_key_value.outputs;
  const HeadViews<const float> heads(d, length, rows);
  AttentionArguments arguments;
  arguments.query = heads.query, arguments.key = heads.key, arguments.value = heads.value;
  arguments.hooks = context.positions->hooks();
  arguments.query_positions = arguments.key_positions = context.positions->positions();
  arguments.mask = context.mask;
  if (context.place->sinks != kAbsent) arguments.sinks = context.weights + context.place->sinks;
  if (d.sinks == ModelDescription::Sinks::kZero) arguments.sinks = context.zero_sinks;
  return arguments;
}

}  // namespace

Status AttentionPartForward(const BlockContext& context, const float* x, float* y) {
  const ModelDescription& d = *context.description;
  const auto& [batch, length, rows] = context.shape;
  PlacedLinearForward(context, context.place->query_key_value, x, false, context.kept->query_key_value.data());
  std::optional<DistancedAttention> distanced;
  if (context.distances && batch > 0) {
    distanced.emplace();
    POSLAB_RETURN_IF_ERROR(context.positions->BindDistances(ArgumentsOf(context, 0), *context.distances, &*distanced));
  }
  for (int64_t b = 0; b < batch; ++b) {
    AttentionResults results;
    results.output = OutputView(d, length, context.kept->heads.data() + b * length * d.heads * d.head_dim);
    if (context.gradients) results.log_sum_exp = context.kept->log_sum_exp.data() + b * d.heads * length;
    results.weights = context.attention_weights;
    AttentionArguments arguments = ArgumentsOf(context, b);
    POSLAB_RETURN_IF_ERROR(context.positions->MakeGates(x + b * length * d.dim, length, &arguments.gates));
    if (distanced) {
      distanced->SetHeads(arguments);
      POSLAB_RETURN_IF_ERROR(distanced->Forward(&results, context.workspace));
      continue;
    }
    POSLAB_RETURN_IF_ERROR(Attention(arguments, &results, context.workspace));
  }
  PlacedLinearForward(context, context.place->attention_output, context.kept->heads.data(), true, y);
  return Status::Ok();
}

Status AttentionPartBackward(const BlockContext& context, const float* x, const float* y_gradient, bool accumulate_x,
                             float* x_gradient) {
  const ModelDescription& d = *context.description;
  const auto& [batch, length, rows] = context.shape;
  const int64_t heads_width = d.heads * d.head_dim, all_width = context.place->query_key_value.outputs;
  float* heads_gradient = context.scratch->heads.data();
  float* all_gradient = context.scratch->query_key_value.data();
  PlacedLinearBackward(context, context.place->attention_output, context.kept->heads.data(), y_gradient, false,
                       heads_gradient);
  std::memset(all_gradient, 0, static_cast<size_t>(rows * all_width) * sizeof(float));
  const bool gated = context.positions->gated();  // then gates are the first to add to x's gradient
  if (gated && !accumulate_x) std::memset(x_gradient, 0, static_cast<size_t>(rows * d.dim) * sizeof(float));
  context.positions->ClearGradients();
  for (int64_t b = 0; b < batch; ++b) {
    AttentionGradientArguments forward;
    forward.output = OutputView<const float>(d, length, context.kept->heads.data() + b * length * heads_width);
    forward.log_sum_exp = context.kept->log_sum_exp.data() + b * d.heads * length;
    forward.output_gradient = OutputView<const float>(d, length, heads_gradient + b * length * heads_width);
    const HeadViews<float> views(d, length, all_gradient + b * length * all_width);
    AttentionGradients gradients;
    gradients.query = views.query, gradients.key = views.key, gradients.value = views.value;
    gradients.hooks = context.positions->hook_gradients();
    if (context.place->sinks != kAbsent) gradients.sinks = context.gradients + context.place->sinks;
    AttentionArguments arguments = ArgumentsOf(context, b);
    const float* rows_of_sequence = x + b * length * d.dim;
    POSLAB_RETURN_IF_ERROR(context.positions->MakeGates(rows_of_sequence, length, &arguments.gates));
    if (arguments.gates) gradients.gates = context.positions->gate_gradients();
    POSLAB_RETURN_IF_ERROR(AttentionBackward(arguments, forward, &gradients, context.workspace));
    POSLAB_RETURN_IF_ERROR(context.positions->GatesBackward(rows_of_sequence, length, x_gradient + b * length * d.dim));
  }
  POSLAB_RETURN_IF_ERROR(context.positions->Pull());
  PlacedLinearBackward(context, context.place->query_key_value, x, all_gradient, accumulate_x || gated, x_gradient);
  return Status::Ok();
}

}  // namespace poslab
