// SPDX-License-Identifier: MIT
#include "attention/check.h"

#include <algorithm>
#include <cmath>

namespace poslab {
namespace {

// Positions are whole numbers that a double holds exactly, so that differences of any two fit in 64 bits.
constexpr int64_t kFarthestPosition = int64_t{1} << 53;

Status Shape(std::string_view argument, int64_t given, const char* allowed, int64_t limit) {
  return Status::Number(Code::kShape, argument, static_cast<double>(given), allowed, static_cast<double>(limit));
}

// A [heads, length, dim] tensor by itself: extents, strides, that it fits into memory and is there.
template <typename T>
Status CheckView(std::string_view argument, const HeadsView<T>& view) {
  if (view.heads < 1) return Shape(argument, view.heads, "[heads, length, dim] with at least 1 head", 0);
  if (view.length < 0) return Shape(argument, view.length, "[heads, length, dim] with a length of at least 0", 0);
  if (view.dim < 1) return Shape(argument, view.dim, "[heads, length, dim] with a dim of at least 1", 0);
  const int64_t size = CheckedProduct({view.heads, view.length, view.dim});
  if (size < 0 || static_cast<uint64_t>(size) > kMaxBytes / sizeof(float)) {
    const double bytes = static_cast<double>(view.heads) * static_cast<double>(view.length) *
                         static_cast<double>(view.dim) * sizeof(float);
    return Status::Number(Code::kMemory, argument, bytes, "at most {0} bytes", static_cast<double>(kMaxBytes));
  }
  if (view.row_stride < 0 || view.head_stride < 0)
    return Shape(argument, std::min(view.row_stride, view.head_stride), "strides of at least 0", 0);
  if (size > 0 && !view.data) return Status::Text(Code::kMissing, argument, "", "a tensor [heads, length, dim]");
  return Status::Ok();
}

template <typename T>
Status CheckShape(std::string_view argument, const HeadsView<T>& view, int64_t heads, int64_t length, int64_t dim) {
  POSLAB_RETURN_IF_ERROR(CheckView(argument, view));
  if (view.heads != heads) return Shape(argument, view.heads, "{0} heads", heads);
  if (view.length != length) return Shape(argument, view.length, "a length of {0}", length);
  if (view.dim != dim) return Shape(argument, view.dim, "a dim of {0}", dim);
  return Status::Ok();
}

Status CheckPositions(std::string_view argument, const Positions& positions, int64_t count) {
  if (positions.count != count) return Shape(argument, positions.count, "{0} positions, one a row", count);
  for (int64_t n = 0; n < count; n += positions.ids ? 1 : std::max<int64_t>(1, count - 1)) {
    // A start near 2^63 must not overflow on the way.
    const int64_t id = positions.ids ? positions.ids[n] : positions.start;
    if (id < -kFarthestPosition || id > kFarthestPosition)
      return Status::Number(Code::kRange, argument, static_cast<double>(id), "position ids from -{0} to {0}",
                            static_cast<double>(kFarthestPosition));
  }
  return Status::Ok();
}

Status CheckMask(const Mask& mask, int64_t keys) {
  for (int64_t j = 1; mask.documents && j < keys; ++j) {
    if (mask.documents[j] < mask.documents[j - 1])
      return Status::Number(Code::kRange, "mask.documents", static_cast<double>(mask.documents[j]),
                            "at least {0}, the number of the key before: documents stand one after the other",
                            static_cast<double>(mask.documents[j - 1]));
  }
  if (mask.beyond && (*mask.beyond < 0 || !mask.causal))
    return Status::Number(Code::kRange, "mask.beyond", static_cast<double>(*mask.beyond),
                          "at least 0, and only together with mask.causal");
  if (!mask.window) return Status::Ok();
  if (*mask.window < 1)
    return Status::Number(Code::kRange, "mask.window", static_cast<double>(*mask.window),
                          "at least 1 (1: itself only)");
  if (!mask.causal)
    return Status::Number(Code::kContradiction, "mask.window", static_cast<double>(*mask.window),
                          "a window only together with mask.causal");
  return Status::Ok();
}

// `made`: its rows may also be made as they are needed.
Status CheckBand(const Band& band, bool made, int64_t dim, const char* what) {
  if (band.width != dim) return Shape("position", band.width, what, dim);
  made = made && band.made && band.per_head && band.side == Band::Side::kQuery;
  if (band.rows < 1 || !(band.table || made))
    return Shape("position", band.rows, "a table of at least 1 relative vector", 0);
  return Status::Ok();
}

bool Holds(const Buffer<float>& table, int64_t rows, int64_t pairs) { return table.size() >= rows * pairs; }

Status CheckRotation(const Rotation& rotation, int64_t queries, int64_t keys, int64_t dim) {
  const int64_t pairs = rotation.pairs;
  if (pairs < 0 || 2 * pairs > dim) return Shape("position.rotaryDim", 2 * pairs, "at most the head's dim, {0}", dim);
  const bool own_keys = !rotation.key_cos.empty();
  const bool shared_queries = rotation.query_row_in_key >= 0;
  const bool keys_there = own_keys ? Holds(rotation.key_cos, keys, pairs) && Holds(rotation.key_sin, keys, pairs)
                          : shared_queries ? keys * pairs == 0
                                           : Holds(rotation.query_cos, keys, pairs);
  const bool queries_there =
      shared_queries ? Holds(rotation.key_cos, queries + rotation.query_row_in_key, pairs)
                     : Holds(rotation.query_cos, queries, pairs) && Holds(rotation.query_sin, queries, pairs);
  if (!keys_there || (!queries_there && queries > 0))
    return Status::Text(Code::kShape, "position", "", "angles for every query and key of this call");
  return Status::Ok();
}

Status CheckHooks(const AttentionArguments& arguments) {
  const Hooks& hooks = *arguments.hooks;
  const int64_t queries = arguments.query.length, keys = arguments.key.length, dim = arguments.query.dim;
  if (hooks.slice || hooks.score_band || hooks.key_band || hooks.value_band || hooks.tile) {
    POSLAB_RETURN_IF_ERROR(CheckPositions("queryPositions", arguments.query_positions, queries));
    POSLAB_RETURN_IF_ERROR(CheckPositions("keyPositions", arguments.key_positions, keys));
  }
  if (hooks.rotation) POSLAB_RETURN_IF_ERROR(CheckRotation(*hooks.rotation, queries, keys, dim));
  if (hooks.slice && !hooks.slice->slopes().empty() &&
      static_cast<int64_t>(hooks.slice->slopes().size()) != arguments.query.heads)
    return Shape("position.slopes", static_cast<int64_t>(hooks.slice->slopes().size()), "{0} slopes, one a head",
                 arguments.query.heads);
  if (hooks.score_band)
    POSLAB_RETURN_IF_ERROR(CheckBand(*hooks.score_band, true, dim, "relative vectors as wide as a query, {0}"));
  if (hooks.key_band)
    POSLAB_RETURN_IF_ERROR(CheckBand(*hooks.key_band, false, dim, "relative vectors as wide as a key, {0}"));
  if (hooks.key_band && hooks.score_band && hooks.score_band->side == Band::Side::kKey)
    return Status::Text(Code::kContradiction, "position", "", "one table of relative vectors that meet keys");
  if (hooks.temperature && hooks.temperature->by_query.size() < queries)
    return Shape("position.temperature", hooks.temperature->by_query.size(), "{0} numbers, one a query", queries);
  if (hooks.value_band)
    POSLAB_RETURN_IF_ERROR(
        CheckBand(*hooks.value_band, false, arguments.value.dim, "relative vectors as wide as a value, {0}"));
  if (hooks.value_band && hooks.value_band->side == Band::Side::kKey)
    return Status::Text(Code::kContradiction, "position", "", "value vectors that do not meet keys");
  return Status::Ok();
}

}  // namespace

Status CheckAttention(const AttentionArguments& arguments) {
  const auto &query = arguments.query, &key = arguments.key, &value = arguments.value;
  POSLAB_RETURN_IF_ERROR(CheckView("query", query));
  POSLAB_RETURN_IF_ERROR(CheckView("key", key));
  POSLAB_RETURN_IF_ERROR(CheckView("value", value));
  if (key.dim != query.dim) return Shape("key", key.dim, "a dim as the queries', {0}", query.dim);
  if (query.heads % key.heads != 0)
    return Shape("key", key.heads, "a number of heads that divides the {0} heads of the queries", query.heads);
  if (value.heads != key.heads) return Shape("value", value.heads, "as many heads as the keys, {0}", key.heads);
  if (value.length != key.length) return Shape("value", value.length, "as long as the keys, {0}", key.length);
  POSLAB_RETURN_IF_ERROR(CheckMask(arguments.mask, key.length));
  if (arguments.scale && !std::isfinite(*arguments.scale))
    return Status::Number(Code::kRange, "scale", static_cast<double>(*arguments.scale), "a finite number");
  for (int64_t h = 0; arguments.sinks && h < query.heads; ++h) {
    const float sink = arguments.sinks[h];
    if (std::isnan(sink) || sink == INFINITY)
      return Status::Number(Code::kRange, "sinks", static_cast<double>(sink), "numbers (-infinity: no sink)");
  }
  return arguments.hooks ? CheckHooks(arguments) : Status::Ok();
}

Positions DefaultQueryPositions(int64_t queries, int64_t keys, Mask::Alignment alignment) {
  return {alignment == Mask::Alignment::kBottomRight ? keys - queries : 0, queries, nullptr};
}

Result<int64_t> WeightsSize(std::string_view argument, int64_t heads, int64_t queries, int64_t keys) {
  const int64_t size = CheckedProduct({heads, queries, keys});
  if (size >= 0 && static_cast<uint64_t>(size) <= kMaxBytes / sizeof(float)) return size;
  const double bytes =
      static_cast<double>(heads) * static_cast<double>(queries) * static_cast<double>(keys) * sizeof(float);
  return Status::Number(Code::kMemory, argument, bytes, "at most {0} bytes", static_cast<double>(kMaxBytes));
}

Status CheckResults(const AttentionArguments& arguments, const AttentionResults& results) {
  return CheckShape("output", results.output, arguments.query.heads, arguments.query.length, arguments.value.dim);
}

Status CheckGradients(const AttentionArguments& arguments, const AttentionGradientArguments& forward,
                      const AttentionGradients& gradients) {
  const auto &query = arguments.query, &key = arguments.key, &value = arguments.value;
  POSLAB_RETURN_IF_ERROR(CheckShape("output", forward.output, query.heads, query.length, value.dim));
  POSLAB_RETURN_IF_ERROR(CheckShape("outputGradient", forward.output_gradient, query.heads, query.length, value.dim));
  POSLAB_RETURN_IF_ERROR(CheckShape("gradient.query", gradients.query, query.heads, query.length, query.dim));
  POSLAB_RETURN_IF_ERROR(CheckShape("gradient.key", gradients.key, key.heads, key.length, key.dim));
  POSLAB_RETURN_IF_ERROR(CheckShape("gradient.value", gradients.value, value.heads, value.length, value.dim));
  if (!forward.log_sum_exp && query.length > 0)
    return Status::Text(Code::kMissing, "logSumExp", "", "what the forward pass gave");
  return Status::Ok();
}

}  // namespace poslab
