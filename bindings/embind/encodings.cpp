// SPDX-License-Identifier: MIT
// Reads arguments, calls the core (position/inspect.h), hands the result out; see encodings.h.
#include "encodings.h"

#include <cmath>

#include "border.h"
#include "position/inspect.h"
#include "position/registry.h"

namespace poslab::border {
namespace {

// A size that a caller gave: a whole number of 0 or larger.
Status CheckSize(const char* argument, double size) {
  if (size >= 0 && size <= 9007199254740992.0 && size == std::floor(size)) return Status::Ok();
  return Status::Number(Code::kRange, argument, size, "a whole number, 0 or larger,");
}

int64_t Whole(double number) { return static_cast<int64_t>(number); }

// A scheme whose tensors are checked for these dimensions.
Result<GivenScheme> CheckedScheme(const val& scheme, const Dimensions& dimensions) {
  Result<GivenScheme> given = SchemeOf(scheme, dimensions);
  if (!given.ok()) return given;
  POSLAB_RETURN_IF_ERROR(given->scheme->CheckParameters(dimensions, given->parameters));
  return given;
}

}  // namespace

val SchemesList() {
  val list = val::array();
  for (const SchemeEntry& entry : Schemes()) {
    val item = val::object();
    item.set("type", std::string(entry.type));
    item.set("hooks", std::string(entry.hooks));
    const Result<std::unique_ptr<Scheme>> made = entry.make({std::string(entry.type), {}});
    item.set("gates", made.ok() && (*made)->gates());
    list.call<void>("push", item);
  }
  return list;
}

val StartParametersCall(const val& scheme, const val& sizes, double seed) {
  Dimensions dimensions;
  struct {
    const char* name;
    int64_t* extent;
  } const given_sizes[] = {{"heads", &dimensions.heads},
                           {"headDim", &dimensions.head_dim},
                           {"dim", &dimensions.model_dim},
                           {"length", &dimensions.trained_length}};
  for (const auto& [name, extent] : given_sizes) {
    const double size = NumberOf(sizes, name);
    POSLAB_FAIL_IF_ERROR(CheckSize(name, size));
    *extent = Whole(size);
  }
  dimensions.value_dim = dimensions.head_dim;
  POSLAB_FAIL_IF_ERROR(CheckSize("seed", seed));
  const Result<std::unique_ptr<Scheme>> made = MakeScheme(DescriptionOf(scheme));
  if (!made.ok()) return Failed(made.status());
  const Result<std::vector<inspect::StartTensor>> tensors =
      inspect::StartParameters(**made, dimensions, static_cast<uint64_t>(seed));
  if (!tensors.ok()) return Failed(tensors.status());
  val list = val::array();
  for (const inspect::StartTensor& tensor : *tensors) {
    val item = val::object();
    item.set("name", tensor.name);
    item.set("data", FloatsValue(tensor.values.span()));
    item.set("shape", ShapeValue(tensor.shape));
    list.call<void>("push", item);
  }
  val result = val::object();
  result.set("tensors", list);
  return result;
}

val TableCall(const val& scheme, double length, double dim, double start) {
  POSLAB_FAIL_IF_ERROR(CheckSize("length", length));
  POSLAB_FAIL_IF_ERROR(CheckSize("dim", dim));
  Dimensions dimensions;
  dimensions.model_dim = Whole(dim);
  const Result<GivenScheme> given = CheckedScheme(scheme, dimensions);
  if (!given.ok()) return Failed(given.status());
  Buffer<float> table;
  POSLAB_FAIL_IF_ERROR(
      inspect::Table(*given->scheme, Whole(start), Whole(length), Whole(dim), given->parameters, &table));
  return TensorValue(table.span(), {Whole(length), Whole(dim)});
}

val FrequenciesCall(const val& scheme, double head_dim, double length) {
  POSLAB_FAIL_IF_ERROR(CheckSize("headDim", head_dim));
  POSLAB_FAIL_IF_ERROR(CheckSize("length", length));
  const Result<GivenScheme> given = SchemeOf(scheme, {});
  if (!given.ok()) return Failed(given.status());
  const Result<FrequencyTable> frequencies = inspect::Frequencies(*given->scheme, Whole(head_dim), Whole(length));
  if (!frequencies.ok()) return Failed(frequencies.status());
  val result = val::object();
  result.set("inverseFrequencies", DoublesValue(frequencies->inverse.span()));
  result.set("attentionFactor", frequencies->attention_factor);
  return result;
}

val RotateCall(const val& scheme, const val& x, const val& ids, double start) {
  const Result<Tensor> rows = TensorOf(x, "x");
  if (!rows.ok()) return Failed(rows.status());
  const int64_t heads = rows->shape[0], length = rows->shape[1], dim = rows->shape[2];
  Dimensions dimensions;
  dimensions.heads = heads;
  dimensions.head_dim = dimensions.value_dim = dim;
  const Result<GivenScheme> given = CheckedScheme(scheme, dimensions);
  if (!given.ok()) return Failed(given.status());
  Buffer<int64_t> storage;
  const Result<Positions> positions = PositionsOf(ids, Whole(start), length, "positions", &storage);
  if (!positions.ok()) return Failed(positions.status());
  Buffer<float> turned;
  POSLAB_FAIL_IF_ERROR(inspect::Rotate(*given->scheme, heads, length, dim, rows->data.data(), *positions, &turned));
  return TensorValue(turned.span(), {heads, length, dim});
}

val SlopesCall(const val& scheme, double heads) {
  POSLAB_FAIL_IF_ERROR(CheckSize("heads", heads));
  const Result<GivenScheme> given = SchemeOf(scheme, {});
  if (!given.ok()) return Failed(given.status());
  const Result<Buffer<float>> slopes = inspect::Slopes(*given->scheme, Whole(heads));
  if (!slopes.ok()) return Failed(slopes.status());
  return TensorValue(slopes->span(), {slopes->size()});
}

val BucketsCall(const val& scheme, const val& distances) {
  const Result<GivenScheme> given = SchemeOf(scheme, {});
  if (!given.ok()) return Failed(given.status());
  const Result<Buffer<int64_t>> ids = CopyIds(distances, "distances");
  if (!ids.ok()) return Failed(ids.status());
  Buffer<int64_t> buckets;
  POSLAB_FAIL_IF_ERROR(inspect::Buckets(*given->scheme, ids->span(), &buckets));
  val result = val::object();
  const std::span<const int64_t> made = buckets.span();
  result.set("bytes", BytesValue({reinterpret_cast<const uint8_t*>(made.data()), made.size_bytes()}));
  return result;
}

val BiasCall(const val& scheme, double heads, double queries, double keys, const val& query_ids, const val& key_ids) {
  POSLAB_FAIL_IF_ERROR(CheckSize("heads", heads));
  POSLAB_FAIL_IF_ERROR(CheckSize("queryLength", queries));
  POSLAB_FAIL_IF_ERROR(CheckSize("keyLength", keys));
  Dimensions dimensions;
  dimensions.heads = Whole(heads);
  const Result<GivenScheme> given = CheckedScheme(scheme, dimensions);
  if (!given.ok()) return Failed(given.status());
  Buffer<int64_t> query_storage, key_storage;
  const Result<Positions> query_positions = PositionsOf(query_ids, 0, Whole(queries), "queryPositions", &query_storage);
  if (!query_positions.ok()) return Failed(query_positions.status());
  const Result<Positions> key_positions = PositionsOf(key_ids, 0, Whole(keys), "keyPositions", &key_storage);
  if (!key_positions.ok()) return Failed(key_positions.status());
  Buffer<float> bias;
  POSLAB_FAIL_IF_ERROR(inspect::Bias(
      *given->scheme,
      {Whole(heads), Whole(queries), Whole(keys), query_positions->ids, key_positions->ids, given->parameters}, &bias));
  return TensorValue(bias.span(), {Whole(heads), Whole(queries), Whole(keys)});
}

}  // namespace poslab::border
