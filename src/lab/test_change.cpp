// SPDX-License-Identifier: MIT
// Changes at test time: their checks, the factor of a scaling that names none, and the stretched table.
#include "lab/test_change.h"

#include <algorithm>
#include <string_view>

#include "position/registry.h"
#include "position/table_resize.h"

namespace poslab {
namespace {

constexpr std::string_view kScaledRopeTypes[] = {"linear", "ntk", "dynamic", "yarn", "longrope", "llama3"};

// The argument as the experiment calls it: "position.theta" of a change is "atTest.position.theta".
Status AsAtTest(Status status) {
  status->argument.insert(0, "atTest.");
  return status;
}

Description WithFactor(const Description& position, int64_t length, int64_t trained_length) {
  Description filled = position;
  const std::string_view type = TextOr(position, "scaling.ropeType", "");
  const bool scaled =
      std::find(std::begin(kScaledRopeTypes), std::end(kScaledRopeTypes), type) != std::end(kScaledRopeTypes);
  if (!scaled || FindField(position, "scaling.factor")) return filled;
  Field factor;
  factor.name = "scaling.factor";
  factor.number = std::max(1.0, static_cast<double>(length) / static_cast<double>(trained_length));
  filled.fields.push_back(factor);
  return filled;
}

const ParameterInfo* FindParameter(const Model& model, const std::string& name) {
  for (const ParameterInfo& info : model.parameters())
    if (info.name == name) return &info;
  return nullptr;
}

Dimensions DimensionsOf(const Model& model) {
  const ModelDescription& description = model.description();
  Dimensions dimensions;
  dimensions.heads = description.heads;
  dimensions.head_dim = dimensions.value_dim = description.head_dim;
  dimensions.model_dim = description.dim, dimensions.trained_length = description.trained_length;
  return dimensions;
}

// The model's tensors that have the names of those that the scheme learns (of the first layer, where each has its own).
Result<std::vector<TensorView<const float>>> TensorsOf(const Scheme& scheme, Model* model) {
  const Result<std::vector<ParameterSpec>> specs = scheme.Parameters(DimensionsOf(*model));
  if (!specs.ok()) return specs.status();
  std::vector<TensorView<const float>> tensors;
  for (const ParameterSpec& spec : *specs) {
    const std::string prefix = spec.shared_by_layers ? "position." : "blocks.0.position.";
    const ParameterInfo* info = FindParameter(*model, prefix + spec.name);
    // The view's name must outlive the specs: it is the end of the model's own name.
    if (info)
      tensors.push_back(
          {std::string_view(info->name).substr(prefix.size()), model->weights().data() + info->offset, info->shape});
  }
  return tensors;
}

}  // namespace

Status CheckAtTest(const AtTest& change, const Description& trained) {
  if (change.window && *change.window < 1)
    return Status::Number(Code::kRange, "atTest.window", static_cast<double>(*change.window), "1 or more");
  if (change.shift && *change.shift < 0)
    return Status::Number(Code::kRange, "atTest.shift", static_cast<double>(*change.shift), "0 or more");
  if (!change.interpolate) return Status::Ok();
  if (trained.type != "learned")
    return Status::Text(Code::kContradiction, "atTest.interpolate", trained.type, "an encoding of type learned");
  if (change.position || change.shift)
    return Status::Text(Code::kContradiction, "atTest.interpolate", change.position ? "position" : "shift",
                        "a stretched table, which goes with neither another position nor a shift,");
  return Status::Ok();
}

Status CheckTensors(const Scheme& scheme, Model* model) {
  const Result<std::vector<TensorView<const float>>> tensors = TensorsOf(scheme, model);
  if (!tensors.ok()) return AsAtTest(tensors.status());
  if (scheme.CheckParameters(DimensionsOf(*model), *tensors).ok()) return Status::Ok();
  return Status::Text(Code::kNotDefined, "atTest.position", scheme.type(),
                      "a scheme that learns nothing, or only tensors that the trained model has in the same shape");
}

int64_t DefinedPlaces(const Scheme& scheme, int64_t shift, Model* model) {
  const Result<std::vector<TensorView<const float>>> tensors = TensorsOf(scheme, model);
  if (!tensors.ok()) return 0;
  const int64_t defined = scheme.DefinedLength(*tensors);
  return defined == INT64_MAX ? INT64_MAX : std::max<int64_t>(0, defined - shift);
}

Result<TestChange> TestChange::Make(const AtTest& change, const Description& trained, Model* model, int64_t length) {
  TestChange made;
  made.options.window = change.window;
  made.options.position_offset = change.shift.value_or(0);
  if (change.position) {
    Result<std::unique_ptr<Scheme>> scheme =
        MakeScheme(WithFactor(*change.position, length, model->description().trained_length));
    if (!scheme.ok()) return AsAtTest(scheme.status());
    made.scheme = std::move(*scheme);
    made.options.scheme = made.scheme.get();
    POSLAB_RETURN_IF_ERROR(CheckTensors(*made.scheme, model));
  }
  if (!change.interpolate) return made;
  const ParameterInfo* table = FindParameter(*model, "position.table");
  if (!table || table->shape.size() != 2)
    return Status::Text(Code::kMissing, "atTest.interpolate", "", "a learned table among the weights");
  const int64_t dim = table->shape[1], offset = static_cast<int64_t>(NumberOr(trained, "offset", 0));
  const int64_t rows = table->shape[0] - offset;
  if (length <= rows || rows < 1) return made;
  const int64_t numbers = CheckedProduct({length, dim});
  POSLAB_RETURN_IF_ERROR(made.table.Resize("test.lengths", numbers));
  StretchTable(model->weights().data() + table->offset + offset * dim, rows, dim, length, made.table.data());
  made.options.table_override = made.table.data();
  return made;
}

}  // namespace poslab
