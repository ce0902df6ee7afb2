// SPDX-License-Identifier: MIT
// Reads arguments, calls the core (position/inspect.h), hands the result out; see encodings.h.
#include "encodings.h"

#include <cmath>

#include "border.h"
#include "lab_descriptions.h"
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

}  // namespace

void SchemesList(double) {
  Answer& answer = TheAnswer();
  answer.List();
  for (const SchemeEntry& entry : Schemes()) {
    const Result<std::unique_ptr<Scheme>> made = entry.make({std::string(entry.type), {}});
    answer.Object();
    answer.Field("type").Text(entry.type);
    answer.Field("hooks").Text(entry.hooks);
    answer.Field("gates").Truth(made.ok() && (*made)->gates());
    answer.End();
  }
  answer.End();
}

void StartParametersCall(double message) {
  Arguments in(message);
  const Value scheme = in.Next(), sizes = in.Next();
  const double seed = in.NextNumber();
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
  Result<std::vector<inspect::StartTensor>> tensors =
      inspect::StartParameters(**made, dimensions, static_cast<uint64_t>(seed));
  if (!tensors.ok()) return Failed(tensors.status());
  Answer& answer = TheAnswer();
  answer.Object();
  answer.Field("tensors").List();
  for (inspect::StartTensor& tensor : *tensors) AnswerNamedTensor(tensor.name, std::move(tensor.values), tensor.shape);
  answer.End();
  answer.End();
}

void TableCall(double message) {
  Arguments in(message);
  const Value scheme = in.Next();
  const double length = in.NextNumber(), dim = in.NextNumber(), start = in.NextNumber();
  POSLAB_FAIL_IF_ERROR(CheckSize("length", length));
  POSLAB_FAIL_IF_ERROR(CheckSize("dim", dim));
  Dimensions dimensions;
  dimensions.model_dim = Whole(dim);
  const Result<GivenScheme> given = SchemeOf(scheme, dimensions);
  if (!given.ok()) return Failed(given.status());
  Buffer<float> table;
  POSLAB_FAIL_IF_ERROR(
      inspect::Table(*given->scheme, Whole(start), Whole(length), Whole(dim), given->parameters, &table));
  AnswerTensor(std::move(table), {Whole(length), Whole(dim)});
}

void FrequenciesCall(double message) {
  Arguments in(message);
  const Value scheme = in.Next();
  const double head_dim = in.NextNumber(), length = in.NextNumber();
  POSLAB_FAIL_IF_ERROR(CheckSize("headDim", head_dim));
  POSLAB_FAIL_IF_ERROR(CheckSize("length", length));
  Dimensions dimensions;
  dimensions.head_dim = Whole(head_dim);
  const Result<GivenScheme> given = SchemeOf(scheme, dimensions);
  if (!given.ok()) return Failed(given.status());
  Result<FrequencyTable> frequencies =
      inspect::Frequencies(*given->scheme, Whole(head_dim), Whole(length), {.parameters = given->parameters});
  if (!frequencies.ok()) return Failed(frequencies.status());
  TheAnswer().Object();
  TheAnswer().Field("inverseFrequencies").Array(std::move(frequencies->inverse));
  TheAnswer().Field("attentionFactor").Number(frequencies->attention_factor);
  TheAnswer().End();
}

void RotateCall(double message) {
  Arguments in(message);
  const Value scheme = in.Next(), x = in.Next(), ids = in.Next();
  const Value options = in.Next();  // { start, inverse, length }
  const Result<Tensor> rows = TensorOf(x, "x");
  if (!rows.ok()) return Failed(rows.status());
  const int64_t heads = rows->shape[0], length = rows->shape[1], dim = rows->shape[2];
  Dimensions dimensions;
  dimensions.heads = heads;
  dimensions.head_dim = dimensions.value_dim = dim;
  const Result<GivenScheme> given = SchemeOf(scheme, dimensions);
  if (!given.ok()) return Failed(given.status());
  Buffer<int64_t> storage;
  const Result<Positions> positions = PositionsOf(ids, CountOf(options, "start"), length, "positions", &storage);
  if (!positions.ok()) return Failed(positions.status());
  Buffer<float> turned;
  POSLAB_FAIL_IF_ERROR(inspect::Rotate(*given->scheme, heads, length, dim, rows->data.data(), *positions, &turned,
                                       {TruthOf(options, "inverse"), CountOf(options, "length"), given->parameters}));
  AnswerTensor(std::move(turned), {heads, length, dim});
}

void DrawPositionsCall(double message) {
  Arguments in(message);
  const PositionDraw draw = PositionDrawOf(in.Next());
  const double length = in.NextNumber(), seed = in.NextNumber();
  POSLAB_FAIL_IF_ERROR(CheckSize("length", length));
  POSLAB_FAIL_IF_ERROR(CheckSize("seed", seed));
  POSLAB_FAIL_IF_ERROR(CheckPositionDraw(draw, Whole(length), ""));
  Buffer<int64_t> ids;
  Buffer<double> numbers;
  POSLAB_FAIL_IF_ERROR(ids.Resize("length", Whole(length)));
  POSLAB_FAIL_IF_ERROR(numbers.Resize("length", Whole(length)));
  Random random(static_cast<uint64_t>(seed));
  DrawPositions(draw, Whole(length), &random, ids.data());
  for (int64_t n = 0; n < ids.size(); ++n) numbers[n] = static_cast<double>(ids[n]);
  TheAnswer().Object();
  TheAnswer().Field("ids").Array(std::move(numbers));
  TheAnswer().End();
}

void SlopesCall(double message) {
  Arguments in(message);
  const Value scheme = in.Next();
  const double heads = in.NextNumber();
  POSLAB_FAIL_IF_ERROR(CheckSize("heads", heads));
  const Result<GivenScheme> given = SchemeOf(scheme, {});
  if (!given.ok()) return Failed(given.status());
  Result<Buffer<float>> slopes = inspect::Slopes(*given->scheme, Whole(heads));
  if (!slopes.ok()) return Failed(slopes.status());
  const int64_t count = slopes->size();
  AnswerTensor(std::move(*slopes), {count});
}

void BucketsCall(double message) {
  Arguments in(message);
  const Value scheme = in.Next(), distances = in.Next();
  const Result<GivenScheme> given = SchemeOf(scheme, {});
  if (!given.ok()) return Failed(given.status());
  const Result<Buffer<int64_t>> ids = CopyIds(distances, "distances");
  if (!ids.ok()) return Failed(ids.status());
  Buffer<int64_t> buckets;
  POSLAB_FAIL_IF_ERROR(inspect::Buckets(*given->scheme, ids->span(), &buckets));
  const size_t bytes = buckets.span().size_bytes();
  TheAnswer().Object();
  TheAnswer().Field("bytes").Array(std::span<const uint8_t>(reinterpret_cast<const uint8_t*>(buckets.data()), bytes));
  TheAnswer().Keep(std::move(buckets));
  TheAnswer().End();
}

void BiasCall(double message) {
  Arguments in(message);
  const Value scheme = in.Next();
  const double heads = in.NextNumber(), queries = in.NextNumber(), keys = in.NextNumber();
  const Value query_ids = in.Next(), key_ids = in.Next();
  POSLAB_FAIL_IF_ERROR(CheckSize("heads", heads));
  POSLAB_FAIL_IF_ERROR(CheckSize("queryLength", queries));
  POSLAB_FAIL_IF_ERROR(CheckSize("keyLength", keys));
  Dimensions dimensions;
  dimensions.heads = Whole(heads);
  const Result<GivenScheme> given = SchemeOf(scheme, dimensions);
  if (!given.ok()) return Failed(given.status());
  Buffer<int64_t> query_storage, key_storage;
  const Result<Positions> query_positions = PositionsOf(query_ids, 0, Whole(queries), "queryPositions", &query_storage);
  if (!query_positions.ok()) return Failed(query_positions.status());
  const Result<Positions> key_positions = PositionsOf(key_ids, 0, Whole(keys), "keyPositions", &key_storage);
  if (!key_positions.ok()) return Failed(key_positions.status());
  Buffer<float> bias;
  POSLAB_FAIL_IF_ERROR(
      inspect::Bias(*given->scheme,
                    {Whole(heads), Whole(queries), Whole(keys), query_positions->ids, key_positions->ids,
                     given->parameters, query_positions->axes, key_positions->axes},
                    &bias));
  AnswerTensor(std::move(bias), {Whole(heads), Whole(queries), Whole(keys)});
}

}  // namespace poslab::border
