// SPDX-License-Identifier: MIT
// Changes at test time: their checks, the factor of a scaling and the group of distances that name none, and the stretched
// table.
#include "lab/test_change.h"

#include <algorithm>
#include <string_view>

#include "model/layout.h"
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

// The model's tensors that have the names of those that the scheme learns (of the first layer, where each has its own).
Result<std::vector<TensorView<const float>>> TensorsOf(const Scheme& scheme, Model* model) {
  const Result<std::vector<ParameterSpec>> specs = scheme.Parameters(SchemeDimensions(model->description()));
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

// The smallest group that keeps the distances of far keys below L, for windows of `length` places from `shift` on: query i
// sees key j at floor(i / group) - floor(j / group) + window - floor(window / group), which is largest for the last query
// and the first key. 1 where no key is far.
int64_t SmallestGroup(int64_t window, int64_t shift, int64_t length, int64_t trained_length) {
  if (window >= length) return 1;
  const int64_t largest = std::max(trained_length - 1, window);
  for (int64_t group = 1;; ++group) {
    const int64_t groups = (shift + length - 1) / group - shift / group;
    if (groups + window - window / group <= largest || group > length + window) return group;
  }
}

// The distances of a change, for one tested length, and whether `scheme` can have them.
Result<Distances> FilledDistances(const AtTest& change, const Scheme& scheme, Model* model, int64_t length) {
  Distances distances = *change.distances;
  if (distances.kind == Distances::Kind::kGrouped && distances.group == 0 && distances.window > 0) {
    const int64_t trained_length = model->description().trained_length;
    distances.group = SmallestGroup(distances.window, change.shift.value_or(0), length, trained_length);
  }
  if (!scheme.acts_on_attention())
    return Status::Text(Code::kContradiction, "atTest.distances", scheme.type(),
                        "left out for a scheme that does nothing in attention");
  const Result<std::vector<TensorView<const float>>> tensors = TensorsOf(scheme, model);
  if (!tensors.ok()) return AsAtTest(tensors.status());
  BindArguments bind;
  bind.dimensions = SchemeDimensions(model->description());
  bind.query_positions = bind.key_positions = {0, 1, nullptr};
  bind.running_length = length;
  bind.parameters = *tensors;
  AttentionArguments arguments;
  arguments.mask.causal = true;
  DistancedAttention attention;
  if (Status status = attention.Bind(scheme, bind, arguments, distances); !status.ok()) return AsAtTest(status);
  return distances;
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
  if (scheme.CheckParameters(SchemeDimensions(model->description()), *tensors).ok()) return Status::Ok();
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
  if (change.distances) {
    std::unique_ptr<Scheme> own;
    if (!made.scheme) {
      Result<std::unique_ptr<Scheme>> scheme = MakeScheme(trained);
      if (!scheme.ok()) return scheme.status();
      own = std::move(*scheme);
    }
    const Result<Distances> distances = FilledDistances(change, made.scheme ? *made.scheme : *own, model, length);
    if (!distances.ok()) return distances.status();
    const bool as_they_are = distances->kind == Distances::Kind::kGrouped && distances->group == 1;
    if (!as_they_are) made.options.distances = *distances;
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
