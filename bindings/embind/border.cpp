// SPDX-License-Identifier: MIT
// Conversions one by one; see border.h.
#include "border.h"

#include <emscripten/bind.h>

#include <algorithm>

#include "position/registry.h"

namespace poslab::border {
namespace {

using emscripten::typed_memory_view;

// The enumerators of Code without their k, first letter lower-case.
const char* CodeText(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kUnknownName:
      return "unknownName";
    case Code::kType:
      return "type";
    case Code::kShape:
      return "shape";
    case Code::kRange:
      return "range";
    case Code::kContradiction:
      return "contradiction";
    case Code::kMissing:
      return "missing";
    case Code::kMemory:
      return "memory";
    case Code::kNotDefined:
      return "notDefined";
    case Code::kFormat:
      return "format";
    case Code::kDiverged:
      return "diverged";
    case Code::kState:
      return "state";
  }
  return "";
}

int64_t LengthOf(const val& array) { return static_cast<int64_t>(array["length"].as<double>()); }

// A Buffer of the array's length, filled by TypedArray.set, which converts element by element.
template <typename T>
Result<Buffer<T>> Copy(const val& array, std::string_view argument) {
  Result<Buffer<T>> buffer = Buffer<T>::Make(argument, LengthOf(array));
  if (buffer.ok() && !buffer->empty()) {
    val(typed_memory_view(static_cast<size_t>(buffer->size()), buffer->data())).template call<void>("set", array);
  }
  return buffer;
}

template <typename T>
val CopyOut(std::span<const T> numbers) {
  return val(typed_memory_view(numbers.size(), numbers.data())).template call<val>("slice");
}

std::vector<double> NumbersOf(const val& array) {
  std::vector<double> numbers(static_cast<size_t>(LengthOf(array)));
  if (!numbers.empty()) val(typed_memory_view(numbers.size(), numbers.data())).call<void>("set", array);
  return numbers;
}

Field NumbersField(const std::string& name, const val& list) {
  Field field;
  field.name = name;
  field.kind = Field::Kind::kNumbers;
  field.numbers = NumbersOf(list);
  return field;
}

Field FieldOf(const val& flat) {
  const std::string kind = TextOf(flat, "kind");
  const val value = flat["value"];
  Field field;
  field.name = TextOf(flat, "name");
  if (kind == "number") {
    field.number = value.as<double>();
  } else if (kind == "boolean") {
    field.kind = Field::Kind::kBoolean;
    field.boolean = value.as<bool>();
  } else if (kind == "text") {
    field.kind = Field::Kind::kText;
    field.text = value.as<std::string>();
  } else {
    return NumbersField(field.name, value);
  }
  return field;
}

// Which learnable tensors the scheme has, asked without those lists that may be either a field or a tensor.
std::vector<std::string> TensorNames(const Description& description, const Dimensions& dimensions) {
  std::vector<std::string> names;
  const Result<std::unique_ptr<Scheme>> scheme = MakeScheme(description);
  if (!scheme.ok()) return names;
  const Result<std::vector<ParameterSpec>> specs = (*scheme)->Parameters(dimensions);
  if (specs.ok()) {
    for (const ParameterSpec& spec : *specs) names.push_back(spec.name);
  }
  return names;
}

}  // namespace

val FailureValue(const Status& status) {
  val failure = val::object();
  failure.set("code", std::string(CodeText(status.code)));
  failure.set("argument", status.argument);
  failure.set("given", status.given);
  failure.set("givenNumber", status.given_number ? val(*status.given_number) : val::null());
  failure.set("allowed", status.allowed);
  failure.set("limits", val::array(status.limits, status.limits + 3));
  failure.set("suggestion", status.suggestion);
  return failure;
}

val Failed(const Status& status) {
  val outcome = val::object();
  outcome.set("failure", FailureValue(status));
  return outcome;
}

double NumberOf(const val& object, const char* name) { return object[name].as<double>(); }
int64_t CountOf(const val& object, const char* name) { return static_cast<int64_t>(NumberOf(object, name)); }
bool TruthOf(const val& object, const char* name) { return object[name].as<bool>(); }
std::string TextOf(const val& object, const char* name) { return object[name].as<std::string>(); }
bool IsGiven(const val& value) { return !value.isNull() && !value.isUndefined(); }

std::optional<int64_t> MaybeCount(const val& object, const char* name) {
  if (!IsGiven(object[name])) return std::nullopt;
  return CountOf(object, name);
}

std::vector<int64_t> ShapeOf(const val& object) {
  const std::vector<double> extents = NumbersOf(object["shape"]);
  return std::vector<int64_t>(extents.begin(), extents.end());
}

Result<Buffer<float>> CopyFloats(const val& numbers, std::string_view argument) {
  return Copy<float>(numbers, argument);
}
Result<Buffer<uint8_t>> CopyBytes(const val& bytes, std::string_view argument) {
  return Copy<uint8_t>(bytes, argument);
}
Result<Buffer<int32_t>> CopyTokens(const val& numbers, std::string_view argument) {
  return Copy<int32_t>(numbers, argument);
}

Result<Buffer<int64_t>> CopyIds(const val& bytes, std::string_view argument) {
  Result<Buffer<int64_t>> ids = Buffer<int64_t>::Make(argument, LengthOf(bytes) / 8);
  if (ids.ok() && !ids->empty()) {
    val(typed_memory_view(static_cast<size_t>(ids->size()) * 8, reinterpret_cast<uint8_t*>(ids->data())))
        .call<void>("set", bytes);
  }
  return ids;
}

val FloatsValue(std::span<const float> numbers) { return CopyOut(numbers); }
val DoublesValue(std::span<const double> numbers) { return CopyOut(numbers); }
val BytesValue(std::span<const uint8_t> bytes) { return CopyOut(bytes); }

val ShapeValue(std::span<const int64_t> shape) {
  std::vector<double> extents(shape.begin(), shape.end());
  return val::array(extents);
}

val TensorValue(std::span<const float> numbers, std::initializer_list<int64_t> shape) {
  val tensor = val::object();
  tensor.set("data", FloatsValue(numbers));
  tensor.set("shape", ShapeValue({shape.begin(), shape.size()}));
  return tensor;
}

Result<Tensor> TensorOf(const val& object, std::string_view argument) {
  Result<Buffer<float>> data = CopyFloats(object["data"], argument);
  if (!data.ok()) return data.status();
  return Tensor{std::move(*data), ShapeOf(object)};
}

Description DescriptionOf(const val& flat) {
  Description description;
  description.type = TextOf(flat, "type");
  const val fields = flat["fields"], lists = flat["lists"];
  for (int64_t n = 0; n < LengthOf(fields); ++n) description.fields.push_back(FieldOf(fields[static_cast<int>(n)]));
  for (int64_t n = 0; n < LengthOf(lists); ++n) {
    const val list = lists[static_cast<int>(n)];
    description.fields.push_back(NumbersField(TextOf(list, "name"), list["data"]));
  }
  return description;
}

Result<GivenScheme> SchemeOf(const val& flat, const Dimensions& dimensions) {
  GivenScheme given;
  Description description = DescriptionOf(flat);
  const val lists = flat["lists"], tensors = flat["tensors"];
  const auto add = [&given](std::string name, Result<Buffer<float>> data, std::vector<int64_t> shape) {
    if (!data.ok()) return data.status();
    given.names.push_back(std::move(name));
    given.storage.push_back({std::move(*data), std::move(shape)});
    return Status::Ok();
  };
  if (const int64_t count = LengthOf(lists); count > 0) {
    Description without_lists = description;
    without_lists.fields.resize(description.fields.size() - static_cast<size_t>(count));
    const std::vector<std::string> learnable = TensorNames(without_lists, dimensions);
    for (int64_t n = 0; n < count; ++n) {
      const val list = lists[static_cast<int>(n)];
      const std::string name = TextOf(list, "name");
      if (std::find(learnable.begin(), learnable.end(), name) == learnable.end()) continue;
      std::erase_if(description.fields, [&name](const Field& field) { return field.name == name; });
      POSLAB_RETURN_IF_ERROR(add(name, CopyFloats(list["data"], "position." + name), {LengthOf(list["data"])}));
    }
  }
  for (int64_t n = 0; n < LengthOf(tensors); ++n) {
    const val tensor = tensors[static_cast<int>(n)];
    const std::string name = TextOf(tensor, "name");
    POSLAB_RETURN_IF_ERROR(add(name, CopyFloats(tensor["data"], "position." + name), ShapeOf(tensor)));
  }
  Result<std::unique_ptr<Scheme>> scheme = MakeScheme(description);
  if (!scheme.ok()) return scheme.status();
  given.scheme = std::move(*scheme);
  for (size_t n = 0; n < given.names.size(); ++n) {
    given.parameters.push_back({given.names[n], given.storage[n].data.data(), given.storage[n].shape});
  }
  return given;
}

Result<Positions> PositionsOf(const val& ids, int64_t start, int64_t count, const char* argument,
                              Buffer<int64_t>* storage) {
  if (!IsGiven(ids)) return Positions{start, count, nullptr};
  Result<Buffer<int64_t>> copied = CopyIds(ids, argument);
  if (!copied.ok()) return copied.status();
  *storage = std::move(*copied);
  if (storage->size() != count) {
    return Status::Number(Code::kShape, argument, static_cast<double>(storage->size()), "a list of {0} ids",
                          static_cast<double>(count));
  }
  return Positions{0, count, storage->data()};
}

}  // namespace poslab::border
