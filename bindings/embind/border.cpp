// SPDX-License-Identifier: MIT
// Conversions one by one; see border.h.
#include "border.h"

#include <algorithm>
#include <cstring>

#include "position/registry.h"

namespace poslab::border {
namespace {

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

// A Buffer of the array's numbers, converted one by one where they are of another kind.
template <typename T>
Result<Buffer<T>> Copy(Value array, Kind kind, std::string_view argument) {
  Result<Buffer<T>> buffer = Buffer<T>::Make(argument, array.size());
  if (!buffer.ok()) return buffer;
  if (const void* numbers = array.Numbers(kind)) {
    std::memcpy(buffer->data(), numbers, static_cast<size_t>(array.size()) * sizeof(T));
  } else {
    for (int64_t n = 0; n < array.size(); ++n) (*buffer)[n] = static_cast<T>(array.NumberAt(n));
  }
  return buffer;
}

Field NumbersField(std::string_view name, Value list) {
  Field field;
  field.name = name;
  field.kind = Field::Kind::kNumbers;
  for (int64_t n = 0; n < list.size(); ++n) field.numbers.push_back(list.NumberAt(n));
  return field;
}

Field FieldOf(Value flat) {
  const Value value = flat["value"];
  Field field;
  field.name = flat["name"].text();
  switch (value.kind()) {
    case Kind::kNumber:
      field.number = value.number();
      return field;
    case Kind::kTruth:
      field.kind = Field::Kind::kBoolean;
      field.boolean = value.truth();
      return field;
    case Kind::kText:
      field.kind = Field::Kind::kText;
      field.text = value.text();
      return field;
    default:
      return NumbersField(field.name, value);
  }
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

void AnswerFailure(const Status& status) {
  Answer& answer = TheAnswer();
  answer.Object();
  answer.Field("code").Text(CodeText(status.code()));
  answer.Field("argument").Text(status.argument());
  answer.Field("given").Text(status.given());
  answer.Field("givenNumber");
  status.given_number() ? answer.Number(*status.given_number()) : answer.Null();
  answer.Field("allowed").Text(status.allowed());
  answer.Field("limits").List();
  for (double limit : status.limits()) answer.Number(limit);
  answer.End();
  answer.Field("suggestion").Text(status.suggestion());
  answer.End();
}

void Failed(Status status) {
  Answer& answer = TheAnswer();
  answer.Clear();
  answer.Object();
  answer.Field("failure");
  AnswerFailure(status);
  answer.End();
}

void DoneOr(Status status) {
  if (!status.ok()) return Failed(std::move(status));
  TheAnswer().Object();
  TheAnswer().End();
}

double NumberOf(Value object, const char* name) { return object[name].number(); }
int64_t CountOf(Value object, const char* name) { return static_cast<int64_t>(NumberOf(object, name)); }
bool TruthOf(Value object, const char* name) { return object[name].truth(); }
std::string TextOf(Value object, const char* name) { return std::string(object[name].text()); }

std::optional<int64_t> MaybeCount(Value object, const char* name) {
  if (!IsGiven(object[name])) return std::nullopt;
  return CountOf(object, name);
}

std::vector<int64_t> CountsOf(Value list) {
  std::vector<int64_t> counts;
  for (int64_t n = 0; n < list.size(); ++n) counts.push_back(static_cast<int64_t>(list.NumberAt(n)));
  return counts;
}
std::vector<int64_t> ShapeOf(Value object) { return CountsOf(object["shape"]); }

Result<Buffer<float>> CopyFloats(Value numbers, std::string_view argument) {
  return Copy<float>(numbers, Kind::kFloats, argument);
}
Result<Buffer<uint8_t>> CopyBytes(Value bytes, std::string_view argument) {
  return Copy<uint8_t>(bytes, Kind::kBytes, argument);
}
Result<Buffer<int32_t>> CopyTokens(Value numbers, std::string_view argument) {
  return Copy<int32_t>(numbers, Kind::kInts, argument);
}

Result<Buffer<int64_t>> CopyIds(Value bytes, std::string_view argument) {
  Result<Buffer<int64_t>> ids = Buffer<int64_t>::Make(argument, bytes.size() / 8);
  if (ids.ok()) std::memcpy(ids->data(), bytes.Numbers(Kind::kBytes), static_cast<size_t>(ids->size()) * 8);
  return ids;
}

void AnswerShape(std::span<const int64_t> shape) {
  TheAnswer().List();
  for (int64_t extent : shape) TheAnswer().Number(static_cast<double>(extent));
  TheAnswer().End();
}

void AnswerNamedTensor(std::string_view name, Buffer<float> numbers, std::span<const int64_t> shape) {
  TheAnswer().Object();
  TheAnswer().Field("name").Text(name);
  TheAnswer().Field("data").Array(std::move(numbers));
  TheAnswer().Field("shape");
  AnswerShape(shape);
  TheAnswer().End();
}

void AnswerTensor(Buffer<float> numbers, std::initializer_list<int64_t> shape) {
  AnswerTensor(std::span<const float>(numbers.span()), shape);
  TheAnswer().Keep(std::move(numbers));
}

void AnswerTensor(std::span<const float> numbers, std::initializer_list<int64_t> shape) {
  TheAnswer().Object();
  TheAnswer().Field("data").Array(numbers);
  TheAnswer().Field("shape");
  AnswerShape({shape.begin(), shape.size()});
  TheAnswer().End();
}

Result<Tensor> TensorOf(Value object, std::string_view argument) {
  const Value data = object["data"];
  if (const void* numbers = data.Numbers(Kind::kFloats))
    return Tensor{{static_cast<const float*>(numbers), static_cast<size_t>(data.size())}, ShapeOf(object), {}};
  Result<Buffer<float>> converted = CopyFloats(data, argument);
  if (!converted.ok()) return converted.status();
  const std::span<const float> numbers = converted->span();
  return Tensor{numbers, ShapeOf(object), std::move(*converted)};
}

Description DescriptionOf(Value flat) {
  Description description;
  description.type = flat["type"].text();
  for (Value field : flat["fields"]) description.fields.push_back(FieldOf(field));
  for (Value list : flat["lists"]) description.fields.push_back(NumbersField(list["name"].text(), list["data"]));
  return description;
}

Result<GivenScheme> SchemeOf(Value flat, const Dimensions& dimensions) {
  GivenScheme given;
  Description description = DescriptionOf(flat);
  const Value lists = flat["lists"], tensors = flat["tensors"];
  const auto add = [&given](std::string name, Result<Buffer<float>> data, std::vector<int64_t> shape) {
    if (!data.ok()) return data.status();
    given.names.push_back(std::move(name));
    const std::span<const float> numbers = data->span();
    given.storage.push_back({numbers, std::move(shape), std::move(*data)});
    return Status::Ok();
  };
  if (const int64_t count = lists.size(); count > 0) {
    Description without_lists = description;
    without_lists.fields.resize(description.fields.size() - static_cast<size_t>(count));
    const std::vector<std::string> learnable = TensorNames(without_lists, dimensions);
    for (Value list : lists) {
      const std::string name = TextOf(list, "name");
      if (std::find(learnable.begin(), learnable.end(), name) == learnable.end()) continue;
      std::erase_if(description.fields, [&name](const Field& field) { return field.name == name; });
      POSLAB_RETURN_IF_ERROR(add(name, CopyFloats(list["data"], "position." + name), {list["data"].size()}));
    }
  }
  for (Value tensor : tensors) {
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

Result<Positions> PositionsOf(Value given, int64_t start, int64_t count, const char* argument,
                              Buffer<int64_t>* storage) {
  if (!IsGiven(given)) return Positions{start, count, nullptr};
  Result<Buffer<int64_t>> copied = CopyIds(given["ids"], argument);
  if (!copied.ok()) return copied.status();
  *storage = std::move(*copied);
  const int64_t axes = CountOf(given, "axes");
  if (storage->size() != CheckedProduct({count, axes})) {
    Status status =
        Status::Number(Code::kShape, argument, static_cast<double>(storage->size() / axes),
                       axes == 1 ? "a list of {0} ids" : "the ids of {0} tokens, {1} each", static_cast<double>(count));
    status->limits[1] = static_cast<double>(axes);
    return status;
  }
  return Positions{0, count, storage->data(), axes};
}

}  // namespace poslab::border
