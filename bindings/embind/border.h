// SPDX-License-Identifier: MIT
// Between messages (message.h) and the core: failures out as data, arrays in and out with one copy each, schemes in
// without knowing any of them. The TypeScript layer (bindings/js) makes the plain objects that arrive here and checks
// what a caller may have got wrong about their form; what the numbers mean is checked by the core.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "message.h"
#include "position/scheme.h"

namespace poslab::border {

// Answers { code, argument, given, givenNumber, allowed, limits, suggestion }.
void AnswerFailure(const Status& status);
// Answers { failure } and nothing else.
void Failed(Status status);
// Answers { name: handle }.
template <typename T>
void AnswerHandle(const char* name, T* object) {
  TheAnswer().Object();
  TheAnswer().Field(name).Handle(object);
  TheAnswer().End();
}
// Answers {}, or { failure }.
void DoneOr(Status status);

// Answers { failure } and returns from the surrounding function when `expression` is not ok.
#define POSLAB_FAIL_IF_ERROR(expression)                                                                             \
  do {                                                                                                               \
    if (::poslab::Status status_ = (expression); !status_.ok()) return ::poslab::border::Failed(std::move(status_)); \
  } while (false)

// Fields of an options object.
double NumberOf(Value object, const char* name);
int64_t CountOf(Value object, const char* name);
bool TruthOf(Value object, const char* name);
std::string TextOf(Value object, const char* name);
// Null is "not given".
inline bool IsGiven(Value value) { return value.kind() != Kind::kNull; }
std::optional<int64_t> MaybeCount(Value object, const char* name);
std::vector<int64_t> CountsOf(Value list);
std::vector<int64_t> ShapeOf(Value object);

// Copies of floats, of bytes, of int64 ids that come as their bytes, and of token ids.
Result<Buffer<float>> CopyFloats(Value numbers, std::string_view argument);
Result<Buffer<uint8_t>> CopyBytes(Value bytes, std::string_view argument);
Result<Buffer<int64_t>> CopyIds(Value bytes, std::string_view argument);
Result<Buffer<int32_t>> CopyTokens(Value numbers, std::string_view argument);

// Answers a list of numbers, and tensors { data, shape } and { name, data, shape }. Buffers are given away.
void AnswerShape(std::span<const int64_t> shape);
void AnswerTensor(Buffer<float> numbers, std::initializer_list<int64_t> shape);
void AnswerTensor(std::span<const float> numbers, std::initializer_list<int64_t> shape);
void AnswerNamedTensor(std::string_view name, Buffer<float> numbers, std::span<const int64_t> shape);

// A tensor argument { data, shape } whose number of axes the TypeScript layer has checked: in place as long as the call
// runs, or converted.
struct Tensor {
  std::span<const float> data;
  std::vector<int64_t> shape;
  Buffer<float> converted;
};
Result<Tensor> TensorOf(Value object, std::string_view argument);

// A scheme with copies of its learnable tensors.
struct GivenScheme {
  std::unique_ptr<Scheme> scheme;
  std::vector<std::string> names;
  std::vector<Tensor> storage;
  std::vector<TensorView<const float>> parameters;
};
// Makes the scheme of a FlatScheme (js/core-types.ts). A list that has the name of a tensor of these dimensions is that
// tensor; what uses the scheme checks the tensors.
Result<GivenScheme> SchemeOf(Value flat, const Dimensions& dimensions);
// The description alone; every list counts as a field. For runs, whose tensors are yet to be made.
Description DescriptionOf(Value flat);

// Position ids: given ones { ids, axes } (kept in `storage`), or contiguous from `start`.
Result<Positions> PositionsOf(Value given, int64_t start, int64_t count, const char* argument,
                              Buffer<int64_t>* storage);

}  // namespace poslab::border
