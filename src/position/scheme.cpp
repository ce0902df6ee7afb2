// SPDX-License-Identifier: MIT
// What a scheme does unless it says otherwise: it learns nothing, adds nothing and acts on nothing.
#include "position/scheme.h"

#include <algorithm>
#include <limits>

namespace poslab {
namespace {

template <typename View>
const View* FindByName(std::span<const View> views, std::string_view name) {
  for (const View& view : views) {
    if (view.name == name) return &view;
  }
  return nullptr;
}

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t n = 0; n < shape.size(); ++n) text += (n ? ", " : "") + std::to_string(shape[n]);
  return text + "]";
}

// A shape that is not the one asked for. `allowed` is static text, so it is chosen by the number of axes.
Status WrongShape(std::string_view name, std::span<const int64_t> given, std::span<const int64_t> wanted) {
  static constexpr const char* kAllowed[] = {"a single number", "shape [{0}]", "shape [{0}, {1}]",
                                             "shape [{0}, {1}, {2}]"};
  double limits[3] = {0, 0, 0};
  for (size_t n = 0; n < std::min<size_t>(3, wanted.size()); ++n) limits[n] = static_cast<double>(wanted[n]);
  Status status = Status::Text(Code::kShape, "position." + std::string(name), ShapeText(given),
                               kAllowed[std::min<size_t>(3, wanted.size())]);
  std::copy(limits, limits + 3, status->limits);
  return status;
}

}  // namespace

int64_t Positions::Largest() const {
  if (count == 0) return -1;
  // What overflows is refused where positions are checked; until then one more than this must not overflow.
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max() - 1;
  if (!ids) return start > kLargest - (count - 1) ? kLargest : start + (count - 1);
  return std::min(kLargest, *std::max_element(ids, ids + count * axes));
}

Result<std::vector<ParameterSpec>> Scheme::Parameters(const Dimensions&) const { return std::vector<ParameterSpec>(); }

Status Scheme::CheckParameters(const Dimensions& dimensions, ParameterValues parameters) const {
  const Result<std::vector<ParameterSpec>> specs = Parameters(dimensions);
  if (!specs.ok()) return specs.status();
  for (const ParameterSpec& spec : *specs) {
    const TensorView<const float>* tensor = Find(parameters, spec.name);
    if (!tensor || !tensor->data) {
      return Status::Text(Code::kMissing, "position." + spec.name, "", "a tensor");
    }
    if (tensor->shape != spec.shape) return WrongShape(spec.name, tensor->shape, spec.shape);
  }
  std::vector<std::string_view> known;
  for (const ParameterSpec& spec : *specs) known.push_back(spec.name);
  for (const TensorView<const float>& tensor : parameters) {
    if (std::find(known.begin(), known.end(), tensor.name) != known.end()) continue;
    return Status::Text(Code::kUnknownName, "position." + std::string(tensor.name), tensor.name,
                        "a tensor of this scheme", NearestName(tensor.name, known));
  }
  return Status::Ok();
}

Status Scheme::AddEmbedding(Positions, int64_t, ParameterValues, float*) const { return Status::Ok(); }

Status Scheme::EmbeddingBackward(Positions, int64_t, const float*, ParameterGradients) const { return Status::Ok(); }

Status Scheme::Bind(const BindArguments&, Hooks*) const { return Status::Ok(); }

Status Scheme::Pull(const BindArguments&, const Hooks&, const HookGradients&, ParameterGradients) const {
  return Status::Ok();
}

Status Scheme::MakeGates(const Dimensions&, ParameterValues, const float*, int64_t, float*) const {
  return Status::Ok();
}

Status Scheme::GatesBackward(const Dimensions&, ParameterValues, const float*, int64_t, const float*, float*,
                             ParameterGradients) const {
  return Status::Ok();
}

Result<FrequencyTable> Scheme::Frequencies(const Dimensions&, int64_t, ParameterValues) const {
  return Status::Text(Code::kContradiction, "position", type(), "a scheme that rotates queries and keys, such as rope");
}

Status Scheme::Buckets(const int64_t*, int64_t, int64_t*) const {
  return Status::Text(Code::kContradiction, "position", type(),
                      "a scheme that sorts distances into buckets, such as t5");
}

const TensorView<const float>* Scheme::Find(ParameterValues parameters, std::string_view name) {
  return FindByName(parameters, name);
}

const TensorView<float>* Scheme::Find(ParameterGradients gradients, std::string_view name) {
  return FindByName(gradients, name);
}

Result<const float*> Scheme::Numbers(ParameterValues parameters, std::string_view name,
                                     std::initializer_list<int64_t> shape) {
  const TensorView<const float>* tensor = Find(parameters, name);
  if (!tensor || !tensor->data) {
    return Status::Text(Code::kMissing, "position." + std::string(name), "", "a tensor");
  }
  if (!std::equal(shape.begin(), shape.end(), tensor->shape.begin(), tensor->shape.end())) {
    return WrongShape(name, tensor->shape, {shape.begin(), shape.size()});
  }
  return tensor->data;
}

}  // namespace poslab
