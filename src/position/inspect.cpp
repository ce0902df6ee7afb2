// SPDX-License-Identifier: MIT
// Binding a scheme for a call without attention, and reading its hooks.
#include "position/inspect.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "position/positions.h"
#include "position/rotation.h"
#include "position/start.h"

namespace poslab::inspect {
namespace {

// Distances whose biases are worth computing at once although not all occur.
constexpr int64_t kDenseDistances = int64_t{1} << 20;

// No tensor bounds the head of which frequencies are asked, and a power is taken for every pair.
constexpr int64_t kWidestHead = int64_t{1} << 20;

struct Length {
  const char* argument;
  int64_t value;
};

// Room for a tensor of these lengths; kRange for a negative one, kMemory with the bytes when it cannot be had.
template <typename T>
Status MakeRoom(std::initializer_list<Length> lengths, Buffer<T>* out) {
  int64_t count = 1;
  double bytes = sizeof(T);
  bool any_zero = false;
  for (const Length& length : lengths) {
    if (length.value < 0) {
      return Status::Number(Code::kRange, length.argument, static_cast<double>(length.value),
                            "a whole number of at least {0}", 0);
    }
    bytes *= static_cast<double>(length.value);
    any_zero = any_zero || length.value == 0;
    count = CheckedProduct({count, length.value});
    if (count < 0) count = INT64_MAX;
  }
  if (any_zero) return out->ResizeForOverwrite("result", 0);
  if (bytes > static_cast<double>(kMaxBytes)) {
    return Status::Number(Code::kMemory, "result", bytes, "at most {0} bytes", static_cast<double>(kMaxBytes));
  }
  return out->ResizeForOverwrite("result", count);
}

Status NoSuchThing(const Scheme& scheme, const char* allowed) {
  return Status::Text(Code::kContradiction, "position", scheme.type(), allowed);
}

// Whether the scheme acts through a bias that needs to know nothing but heads and positions. A scheme that rotates, or
// whose tensors have a head's width, does not.
Status CheckPositionOnly(const Scheme& scheme, const Dimensions& heads_only, const char* allowed) {
  if (heads_only.heads < 1) {
    return Status::Number(Code::kRange, "heads", static_cast<double>(heads_only.heads),
                          "a whole number of at least {0}", 1);
  }
  const Result<FrequencyTable> frequencies = scheme.Frequencies(heads_only, 0);
  const bool rotates = frequencies.ok() || frequencies.status().code() != Code::kContradiction;
  if (rotates || !scheme.acts_on_attention()) return NoSuchThing(scheme, allowed);
  const Result<std::vector<ParameterSpec>> specs = scheme.Parameters(heads_only);
  // A grid that is not said may follow from tensors, which are checked later; a head's width cannot be had here.
  const bool field = specs.status().argument().starts_with("position.");
  if (specs.ok() || (specs.status().code() == Code::kMissing && field)) return Status::Ok();
  return specs.status().code() == Code::kMissing ? NoSuchThing(scheme, allowed) : specs.status();
}

// bias[i, j] of one head for contiguous positions: each row is a stretch of the biases by distance, one place further
// to the left than the row before.
void FillContiguous(const Slice& slice, int64_t head, Positions queries, Positions keys, float* by_distance,
                    float* bias) {
  const int64_t first = keys.start - (queries.start + queries.count - 1), count = queries.count + keys.count - 1;
  slice.Evaluate(head, first, count, by_distance);
  for (int64_t i = 0; i < queries.count; ++i) {
    const float* row = by_distance + (queries.count - 1 - i);
    std::copy(row, row + keys.count, bias + i * keys.count);
  }
}

// The same for given ids: distances that share a value at the ends are clamped together; what is left is computed at
// once where it is little, entry by entry where the ids have wide gaps.
Status FillByIds(const Slice& slice, int64_t heads, Positions queries, Positions keys, float* bias) {
  const DistanceRange range = RangeOfDistances(queries, keys);
  const int64_t first = std::clamp(range.first, slice.lowest(), slice.highest());
  const int64_t last = std::clamp(range.last, slice.lowest(), slice.highest());
  const bool dense = last - first < kDenseDistances;
  Buffer<float> by_distance;
  POSLAB_RETURN_IF_ERROR(by_distance.ResizeForOverwrite("result", dense ? last - first + 1 : 0));
  for (int64_t h = 0; h < heads; ++h) {
    if (dense) slice.Evaluate(h, first, by_distance.size(), by_distance.data());
    for (int64_t i = 0; i < queries.count; ++i) {
      for (int64_t j = 0; j < keys.count; ++j, ++bias) {
        const int64_t distance = std::clamp(keys[j] - queries[i], first, last);
        if (dense) {
          *bias = by_distance[distance - first];
        } else {
          slice.Evaluate(h, distance, 1, bias);
        }
      }
    }
  }
  return Status::Ok();
}

// The bias of a tile hook, a row at a time: what it makes of zeros.
Status FillByTile(const TileHook& hook, int64_t heads, Positions queries, Positions keys, float* bias) {
  std::fill_n(bias, heads * queries.count * keys.count, 0.f);
  for (int64_t n = 0; n < heads * queries.count; ++n) {
    TileArguments tile;
    tile.head = n / queries.count;
    tile.first_query = n % queries.count, tile.queries = 1;
    tile.keys = keys.count, tile.stride = 1;
    tile.query_positions = queries, tile.key_positions = keys;
    tile.logits = bias + n * keys.count;
    POSLAB_RETURN_IF_ERROR(hook.Forward(tile));
  }
  return Status::Ok();
}

}  // namespace

Result<std::vector<StartTensor>> StartParameters(const Scheme& scheme, const Dimensions& dimensions, uint64_t seed) {
  const Result<std::vector<ParameterSpec>> specs = scheme.Parameters(dimensions);
  if (!specs.ok()) return specs.status();
  Random random(seed);
  std::vector<StartTensor> tensors;
  for (const ParameterSpec& spec : *specs) {
    StartTensor tensor{spec.name, spec.shape, {}};
    int64_t size = 1;
    for (int64_t extent : spec.shape) size = CheckedProduct({size, extent});
    POSLAB_RETURN_IF_ERROR(MakeRoom({{"parameters", size < 0 ? INT64_MAX : size}}, &tensor.values));
    DrawStart(spec.start, spec.minimum, &random, tensor.values.span());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Status Table(const Scheme& scheme, int64_t start, int64_t length, int64_t dim, ParameterValues parameters,
             Buffer<float>* out) {
  if (!scheme.embeds()) return NoSuchThing(scheme, "a scheme that adds a table to embeddings, such as sinusoidal,");
  Dimensions dimensions;
  dimensions.model_dim = dim;
  POSLAB_RETURN_IF_ERROR(scheme.CheckParameters(dimensions, parameters));
  POSLAB_RETURN_IF_ERROR(MakeRoom({{"length", length}, {"dim", dim}}, out));
  const Positions positions = {start, length, nullptr};
  POSLAB_RETURN_IF_ERROR(CheckPositions(positions, "start"));
  std::fill(out->begin(), out->end(), 0.f);
  return scheme.AddEmbedding(positions, dim, parameters, out->data());
}

Result<FrequencyTable> Frequencies(const Scheme& scheme, int64_t head_dim, int64_t length,
                                   const FrequencyOptions& options) {
  if (head_dim < 1 || head_dim > kWidestHead) {
    return Status::Number(Code::kRange, "headDim", static_cast<double>(head_dim), "1 to {0} lanes",
                          static_cast<double>(kWidestHead));
  }
  Dimensions dimensions;
  dimensions.head_dim = head_dim;
  dimensions.trained_length = options.trained_length;
  return scheme.Frequencies(dimensions, length, options.parameters);
}

Status Rotate(const Scheme& scheme, int64_t heads, int64_t length, int64_t head_dim, const float* x,
              Positions positions, Buffer<float>* out, const RotateOptions& options) {
  if (positions.count != length) {
    return Status::Number(Code::kShape, "positions", static_cast<double>(positions.count),
                          "as many positions as x has rows, {0}", static_cast<double>(length));
  }
  BindArguments arguments;
  arguments.dimensions.heads = heads;
  arguments.dimensions.head_dim = head_dim;
  arguments.query_positions = {positions.start, positions.contiguous() ? positions.count : 0, nullptr};
  arguments.key_positions = positions;
  arguments.running_length = std::max<int64_t>(0, positions.Largest() + 1);
  if (options.running_length > 0) arguments.running_length = options.running_length;
  arguments.parameters = options.parameters;
  // Asked for first: whether the scheme turns anything at all, and its width, before any table is made.
  const Result<FrequencyTable> frequencies = scheme.Frequencies(arguments.dimensions, arguments.running_length);
  if (!frequencies.ok()) return frequencies.status();
  POSLAB_RETURN_IF_ERROR(scheme.CheckParameters(arguments.dimensions, arguments.parameters));
  POSLAB_RETURN_IF_ERROR(CheckPositions(positions, "positions", scheme.axes()));
  POSLAB_RETURN_IF_ERROR(MakeRoom({{"heads", heads}, {"length", length}, {"headDim", head_dim}}, out));
  Hooks hooks;
  POSLAB_RETURN_IF_ERROR(scheme.Bind(arguments, &hooks));
  if (!hooks.rotation || hooks.tile) {
    return NoSuchThing(scheme,
                       "a scheme that only rotates: the scores of this one also change with the distance, which "
                       "no vector of one token can hold in float32");
  }
  TurnRows(*hooks.rotation, heads, length, head_dim, x, out->data(), options.inverse);
  const double factor = frequencies->attention_factor;
  if (!options.inverse || factor == 1) return Status::Ok();
  if (factor == 0)
    return Status::Number(Code::kContradiction, "position.scaling.attentionFactor", 0,
                          "another number: what was multiplied by it cannot be had back");
  // Turning back is by the same cosines and sines, factor included.
  const auto undo = static_cast<float>(1 / (factor * factor));
  for (int64_t row = 0; row < heads * length; ++row)
    for (int64_t lane = 0; lane < 2 * hooks.rotation->pairs; ++lane) (*out)[row * head_dim + lane] *= undo;
  return Status::Ok();
}

Result<Buffer<float>> Slopes(const Scheme& scheme, int64_t heads) {
  BindArguments arguments;
  arguments.dimensions.heads = heads;
  static constexpr const char* kAllowed = "a scheme with a slope a head: alibi";
  POSLAB_RETURN_IF_ERROR(CheckPositionOnly(scheme, arguments.dimensions, kAllowed));
  const Result<std::vector<ParameterSpec>> specs = scheme.Parameters(arguments.dimensions);
  if (!specs.ok() || !specs->empty()) return NoSuchThing(scheme, kAllowed);
  Hooks hooks;
  POSLAB_RETURN_IF_ERROR(scheme.Bind(arguments, &hooks));
  const std::span<const float> slopes = hooks.slice ? hooks.slice->slopes() : std::span<const float>();
  if (slopes.empty()) return NoSuchThing(scheme, kAllowed);
  Result<Buffer<float>> out = Buffer<float>::Make("heads", heads);
  if (out.ok()) std::copy(slopes.begin(), slopes.end(), out->begin());
  return out;
}

Status Buckets(const Scheme& scheme, std::span<const int64_t> distances, Buffer<int64_t>* out) {
  POSLAB_RETURN_IF_ERROR(MakeRoom({{"distances", static_cast<int64_t>(distances.size())}}, out));
  return scheme.Buckets(distances.data(), out->size(), out->data());
}

Status Bias(const Scheme& scheme, const BiasArguments& arguments, Buffer<float>* out) {
  static constexpr const char* kAllowed =
      "a scheme with a bias of head and positions alone, such as alibi, t5 or kerple,";
  const int64_t heads = arguments.heads;
  BindArguments bind;
  bind.dimensions.heads = heads;
  bind.parameters = arguments.parameters;
  POSLAB_RETURN_IF_ERROR(CheckPositionOnly(scheme, bind.dimensions, kAllowed));
  POSLAB_RETURN_IF_ERROR(scheme.CheckParameters(bind.dimensions, arguments.parameters));
  POSLAB_RETURN_IF_ERROR(
      MakeRoom({{"heads", heads}, {"queryLength", arguments.query_length}, {"keyLength", arguments.key_length}}, out));
  // Lengths are known not to be negative from here on.
  bind.query_positions = {arguments.key_length - arguments.query_length, arguments.query_length, arguments.query_ids,
                          arguments.query_axes};
  bind.key_positions = {0, arguments.key_length, arguments.key_ids, arguments.key_axes};
  Hooks hooks;
  POSLAB_RETURN_IF_ERROR(scheme.Bind(bind, &hooks));
  const bool by_tile = hooks.tile && hooks.tile->position_only();
  if (!hooks.slice && !by_tile) return NoSuchThing(scheme, kAllowed);
  if (out->empty()) return Status::Ok();
  const Positions queries = bind.query_positions, keys = bind.key_positions;
  if (by_tile) return FillByTile(*hooks.tile, heads, queries, keys, out->data());
  if (!queries.contiguous() || !keys.contiguous()) return FillByIds(*hooks.slice, heads, queries, keys, out->data());
  Buffer<float> by_distance;
  POSLAB_RETURN_IF_ERROR(by_distance.ResizeForOverwrite("result", queries.count + keys.count - 1));
  for (int64_t h = 0; h < heads; ++h) {
    FillContiguous(*hooks.slice, h, queries, keys, by_distance.data(), out->data() + h * queries.count * keys.count);
  }
  return Status::Ok();
}

}  // namespace poslab::inspect
