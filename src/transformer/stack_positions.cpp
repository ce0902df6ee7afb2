// SPDX-License-Identifier: MIT
#include "transformer/stack_positions.h"

#include <algorithm>

namespace poslab {
namespace {

using Values = std::vector<TensorView<const float>>;

bool SameTensors(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.data == y.data; });
}

bool Named(const std::vector<ParameterSpec>& specs, std::string_view name) {
  return std::any_of(specs.begin(), specs.end(), [&](const ParameterSpec& spec) { return spec.name == name; });
}

}  // namespace

Status StackPositions::Start(const Architecture& architecture, const StackDescription& stack, LayerSchemes schemes,
                             const StackTensors& tensors, Weights* weights) {
  dimensions_ = StackDimensions(architecture, stack);
  schemes_ = std::move(schemes);
  own_.resize(tensors.blocks.size());
  for (size_t layer = 0; layer < own_.size(); ++layer) {
    for (int index : tensors.blocks[layer].position) {
      POSLAB_RETURN_IF_ERROR(weights->Reserve(index));
      const Weight& weight = (*weights)[index];
      const std::string_view name = std::string_view(weight.name).substr(weight.name.rfind('.') + 1);
      own_[layer].push_back({name, weight.numbers.data(), weight.shape});
    }
  }
  return MakeBindings();
}

Status StackPositions::Change(OtherScheme other) {
  std::swap(other_, other);
  Status status = MakeBindings();
  if (status.ok()) return status;
  std::swap(other_, other);
  POSLAB_RETURN_IF_ERROR(MakeBindings());
  return status;
}

Result<Values> StackPositions::ValuesOf(const Scheme& scheme, size_t layer) const {
  Values values = other_.values;
  const Result<std::vector<ParameterSpec>> specs = scheme.Parameters(dimensions_);
  for (const TensorView<const float>& own : own_[layer]) {
    const bool given = std::any_of(values.begin(), values.end(), [&](const auto& v) { return v.name == own.name; });
    // A scheme that cannot say its shapes before it sees a tensor is asked below.
    if (!given && (!specs.ok() || Named(*specs, own.name))) values.push_back(own);
  }
  POSLAB_RETURN_IF_ERROR(scheme.CheckParameters(dimensions_, values));
  return values;
}

Status StackPositions::MakeBindings() {
  bindings_.clear();
  binding_of_.clear();
  for (size_t layer = 0; layer < own_.size(); ++layer) {
    const Scheme& scheme = other_.scheme ? *other_.scheme : *schemes_[layer];
    Result<Values> values = ValuesOf(scheme, layer);
    if (!values.ok()) return values.status();
    Dimensions dimensions = dimensions_;
    dimensions.layer = static_cast<int64_t>(layer);
    const auto alike = [&](const Binding& binding) {
      return binding.scheme == &scheme && SameTensors(binding.values, *values) &&
             scheme.LayerKind(binding.dimensions.layer) == scheme.LayerKind(dimensions.layer);
    };
    const auto at = static_cast<size_t>(std::find_if(bindings_.begin(), bindings_.end(), alike) - bindings_.begin());
    if (at == bindings_.size()) {
      bindings_.emplace_back();
      bindings_[at].scheme = &scheme;
      bindings_[at].dimensions = dimensions;
      bindings_[at].values = std::move(*values);
      bindings_[at].turns_cache = OnlyRotates(bindings_[at]);
    }
    binding_of_.push_back(at);
  }
  return Status::Ok();
}

// Tried on one position.
bool StackPositions::OnlyRotates(const Binding& binding) const {
  if (!binding.scheme->acts_on_attention() || !binding.values.empty()) return false;
  Hooks hooks;
  const Positions one{0, 1, nullptr};
  if (!binding.scheme->Bind({binding.dimensions, one, one, 0, {}}, &hooks).ok() || !hooks.rotation) return false;
  return !(hooks.slice || hooks.score_band || hooks.key_band || hooks.value_band || hooks.tile || hooks.query_bias ||
           hooks.temperature);
}

bool StackPositions::SameAngles(int64_t length, int64_t other) const {
  return std::all_of(bindings_.begin(), bindings_.end(), [&](const Binding& binding) {
    const Result<FrequencyTable> a = binding.scheme->Frequencies(binding.dimensions, length);
    const Result<FrequencyTable> b = binding.scheme->Frequencies(binding.dimensions, other);
    if (!a.ok() || !b.ok()) return true;  // a scheme without frequencies
    return a->attention_factor == b->attention_factor &&
           std::equal(a->inverse.begin(), a->inverse.end(), b->inverse.begin(), b->inverse.end());
  });
}

const TensorView<const float>* StackPositions::EmbeddingTable() const {
  for (const Binding& binding : bindings_)
    if (binding.scheme->embeds() && !binding.values.empty()) return &binding.values[0];
  return nullptr;
}

Status StackPositions::AddEmbedding(Positions positions, const TensorView<const float>* table, float* rows) const {
  for (const Binding& binding : bindings_) {
    if (!binding.scheme->embeds()) continue;
    const ParameterValues values = table ? ParameterValues(table, 1) : ParameterValues(binding.values);
    return binding.scheme->AddEmbedding(positions, dimensions_.model_dim, values, rows);
  }
  return Status::Ok();
}

Status StackPositions::Bind(Positions queries, Positions keys, bool cache) {
  cache_ = cache;
  const int64_t running_length = std::max(queries.Largest(), keys.Largest()) + 1;
  for (Binding& binding : bindings_) {
    binding.hooks = Hooks();
    if (!binding.scheme->acts_on_attention()) continue;
    const bool turns = cache && binding.turns_cache;
    POSLAB_RETURN_IF_ERROR(binding.scheme->Bind(
        {binding.dimensions, queries, turns ? queries : keys, std::max<int64_t>(0, running_length), binding.values},
        &binding.hooks));
  }
  return Status::Ok();
}

const Hooks* StackPositions::hooks(int64_t layer) const {
  const Binding& binding = bindings_[binding_of_[static_cast<size_t>(layer)]];
  return (cache_ && binding.turns_cache) || !binding.scheme->acts_on_attention() ? nullptr : &binding.hooks;
}

bool StackPositions::gated(int64_t layer) const {
  return bindings_[binding_of_[static_cast<size_t>(layer)]].scheme->gates();
}

Status StackPositions::MakeGates(int64_t layer, const float* rows, int64_t count, float* gates) const {
  const Binding& binding = bindings_[binding_of_[static_cast<size_t>(layer)]];
  return binding.scheme->MakeGates(binding.dimensions, binding.values, rows, count, gates);
}

const Rotation* StackPositions::turn(int64_t layer) const {
  const Binding& binding = bindings_[binding_of_[static_cast<size_t>(layer)]];
  return cache_ && binding.turns_cache ? binding.hooks.rotation.get() : nullptr;
}

}  // namespace poslab
