// SPDX-License-Identifier: MIT
// Between JavaScript values and the core: failures out as data, arrays in and out with one copy each, schemes in
// without knowing any of them. The TypeScript layer (bindings/js) makes the plain objects that arrive here and checks
// what a caller may have got wrong about their form; what the numbers mean is checked by the core.
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "position/scheme.h"

namespace poslab::border {

using emscripten::val;

// { code, argument, given, givenNumber, allowed, limits, suggestion }
val FailureValue(const Status& status);
// { failure: FailureValue(status) }
val Failed(const Status& status);

// Returns { failure } from the surrounding function when `expression` is not ok.
#define POSLAB_FAIL_IF_ERROR(expression)                                                                  \
  do {                                                                                                    \
    if (::poslab::Status status_ = (expression); !status_.ok()) return ::poslab::border::Failed(status_); \
  } while (false)

// Numbers of an options object.
double NumberOf(const val& object, const char* name);
int64_t CountOf(const val& object, const char* name);
bool TruthOf(const val& object, const char* name);
std::string TextOf(const val& object, const char* name);
// Null and undefined are "not given".
bool IsGiven(const val& value);
std::optional<int64_t> MaybeCount(const val& object, const char* name);
std::vector<int64_t> ShapeOf(const val& object);

// Copies an array of numbers, converting as typed arrays do.
Result<Buffer<float>> CopyFloats(const val& numbers, std::string_view argument);
// Bytes, and int64 ids that come as their bytes.
Result<Buffer<uint8_t>> CopyBytes(const val& bytes, std::string_view argument);
Result<Buffer<int64_t>> CopyIds(const val& bytes, std::string_view argument);
Result<Buffer<int32_t>> CopyTokens(const val& numbers, std::string_view argument);

// Copies out: fresh typed arrays that are nobody else's.
val FloatsValue(std::span<const float> numbers);
val DoublesValue(std::span<const double> numbers);
val BytesValue(std::span<const uint8_t> bytes);
val ShapeValue(std::span<const int64_t> shape);
// { data, shape }
val TensorValue(std::span<const float> numbers, std::initializer_list<int64_t> shape);

// A tensor argument { data, shape } whose number of axes the TypeScript layer has checked.
struct Tensor {
  Buffer<float> data;
  std::vector<int64_t> shape;
};
Result<Tensor> TensorOf(const val& object, std::string_view argument);

// A scheme with the values of its learnable tensors.
struct GivenScheme {
  std::unique_ptr<Scheme> scheme;
  std::vector<std::string> names;
  std::vector<Tensor> storage;
  std::vector<TensorView<const float>> parameters;
};
// Makes the scheme of a FlatScheme (js/core-types.ts) and checks its tensors for these dimensions.
Result<GivenScheme> SchemeOf(const val& flat, const Dimensions& dimensions);
// The description alone; every list counts as a field. For runs, whose tensors are yet to be made.
Description DescriptionOf(const val& flat);

// Position ids: given ones (kept in `storage`), or contiguous from `start`.
Result<Positions> PositionsOf(const val& ids, int64_t start, int64_t count, const char* argument,
                              Buffer<int64_t>* storage);

}  // namespace poslab::border
