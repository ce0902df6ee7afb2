// SPDX-License-Identifier: MIT
#include "position/learned_tensors.h"

namespace poslab {

void AddSpec(std::string_view name, std::initializer_list<int64_t> shape, Start start,
             std::vector<ParameterSpec>* specs, bool decay) {
  ParameterSpec& spec = specs->emplace_back();
  spec.name = name;
  spec.shape = shape;
  spec.start = start;
  spec.decay = decay;
}

Result<int64_t> ReadMaxDistance(const Description& description, int64_t otherwise) {
  static constexpr FieldRule kRules[] = {
      {.name = "maxDistance", .kind = Field::Kind::kNumber, .minimum = 0, .maximum = 1 << 24, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return static_cast<int64_t>(NumberOr(description, "maxDistance", static_cast<double>(otherwise)));
}

Status LearnedTensors::Bind(const Scheme& scheme, const BindArguments& arguments) {
  POSLAB_RETURN_IF_ERROR(scheme.CheckParameters(arguments.dimensions, arguments.parameters));
  const Result<std::vector<ParameterSpec>> specs = scheme.Parameters(arguments.dimensions);
  if (!specs.ok()) return specs.status();
  int64_t size = 0;
  for (const ParameterSpec& spec : *specs) {
    for (const TensorView<const float>& tensor : arguments.parameters) {
      if (tensor.name != spec.name) continue;
      entries_.push_back({tensor.name, tensor.data, size, tensor.size()});
      size += tensor.size();
    }
  }
  return gradients_.Resize("position", size);
}

void LearnedTensors::Pull(ParameterGradients gradients) const {
  for (const Entry& entry : entries_) {
    for (const TensorView<float>& to : gradients) {
      if (to.name != entry.name || !to.data) continue;
      for (int64_t n = 0; n < entry.size; ++n) to.data[n] += static_cast<float>(gradients_[entry.offset + n]);
    }
  }
}

}  // namespace poslab
