// SPDX-License-Identifier: MIT
#include "model/bound_positions.h"

#include <algorithm>

namespace poslab {

void BoundPositions::SetParameters(const Layout& layout, const BlockPlace& block, float* weights, float* gradients) {
  for (int64_t index : block.position) {
    const ParameterInfo& info = layout.parameters[static_cast<size_t>(index)];
    // The scheme's own name is what follows "position.".
    const std::string_view name = std::string_view(info.name).substr(info.name.rfind('.') + 1);
    values_.push_back({name, weights + info.offset, info.shape});
    gradients_.push_back({name, gradients + info.offset, info.shape});
  }
}

Status BoundPositions::Select(const Scheme& scheme, const Dimensions& dimensions) {
  const Result<std::vector<ParameterSpec>> specs = scheme.Parameters(dimensions);
  if (!specs.ok()) return specs.status();
  bound_values_.clear();
  bound_gradients_.clear();
  for (size_t n = 0; n < values_.size(); ++n) {
    const bool wanted = std::any_of(specs->begin(), specs->end(),
                                    [&](const ParameterSpec& spec) { return spec.name == values_[n].name; });
    if (!wanted) continue;
    bound_values_.push_back(values_[n]);
    bound_gradients_.push_back(gradients_[n]);
  }
  return scheme.CheckParameters(dimensions, bound_values_);
}

Status BoundPositions::Bind(const Scheme& scheme, bool own, const Dimensions& dimensions, Positions positions,
                            int64_t running_length) {
  const bool same = scheme_ == &scheme && arguments_.running_length == running_length &&
                    arguments_.query_positions.start == positions.start &&
                    arguments_.query_positions.count == positions.count && positions.contiguous() &&
                    arguments_.query_positions.contiguous();
  if (own && reusable_ && same) return Status::Ok();
  // Its tables may have another size; a scheme given for one call may lie where another one lay.
  if (!same || !own) hook_gradients_ = HookGradients();
  reusable_ = false;
  hooks_ = Hooks();
  acts_ = scheme.acts_on_attention();
  if (own && !selected_own_) bound_values_ = values_, bound_gradients_ = gradients_;
  selected_own_ = own;
  if (!own) POSLAB_RETURN_IF_ERROR(Select(scheme, dimensions));
  scheme_ = &scheme;
  arguments_.dimensions = dimensions;
  arguments_.query_positions = arguments_.key_positions = positions;
  arguments_.running_length = running_length;
  arguments_.parameters = bound_values_;
  hook_gradients_.parameters = bound_gradients_;
  if (acts_) POSLAB_RETURN_IF_ERROR(scheme.Bind(arguments_, &hooks_));
  reusable_ = own && bound_values_.empty();
  return Status::Ok();
}

void BoundPositions::ClearGradients() {
  HookGradients& all = hook_gradients_;
  for (Buffer<float>* buffer :
       {&all.score_band_table, &all.score_band_bias, &all.key_band_table, &all.value_band_table, &all.query_bias})
    std::fill(buffer->begin(), buffer->end(), 0.0f);
  for (Buffer<double>* buffer : {&all.rotation, &all.temperature}) std::fill(buffer->begin(), buffer->end(), 0.0);
}

Status BoundPositions::MakeGates(const float* x, int64_t count, const float** gates) {
  *gates = nullptr;
  if (!gated()) return Status::Ok();
  const int64_t size = CheckedProduct({arguments_.dimensions.heads, count});
  POSLAB_RETURN_IF_ERROR(gates_.ResizeForOverwrite("length", size));
  POSLAB_RETURN_IF_ERROR(gate_gradients_.Resize("length", size));
  *gates = gates_.data();
  return scheme_->MakeGates(arguments_.dimensions, bound_values_, x, count, gates_.data());
}

Status BoundPositions::GatesBackward(const float* x, int64_t count, float* x_gradient) {
  if (!gated()) return Status::Ok();
  return scheme_->GatesBackward(arguments_.dimensions, bound_values_, x, count, gate_gradients_.data(), x_gradient,
                                bound_gradients_);
}

Status BoundPositions::Pull() {
  if (!acts_ || bound_gradients_.empty()) return Status::Ok();
  return scheme_->Pull(arguments_, hooks_, hook_gradients_, bound_gradients_);
}

}  // namespace poslab
