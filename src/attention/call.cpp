// SPDX-License-Identifier: MIT
#include "attention/call.h"

#include <cmath>
#include <utility>

namespace poslab {
namespace {

// A cache of keys holds the heads of a token side by side. One query takes all heads of a tile before the next tile, so
// that the cache is read in its order; past so many heads what is kept of each would crowd out the cache's own rows.
constexpr int64_t kHeadsTogether = 32;

Positions WithoutNeedlessIds(Positions positions) {
  if (!positions.ids || positions.count == 0 || positions.axes != 1) return positions;
  for (int64_t n = 1; n < positions.count; ++n)
    // Where nothing looks at them, ids may be anything: differences wrap.
    if (static_cast<uint64_t>(positions.ids[n]) - static_cast<uint64_t>(positions.ids[n - 1]) != 1) return positions;
  return {positions.ids[0], positions.count, nullptr};
}

float DefaultScale(const AttentionArguments& arguments) {
  const int64_t terms = arguments.hooks ? arguments.hooks->score_terms : 1;
  return static_cast<float>(1 / std::sqrt(static_cast<double>(terms * arguments.query.dim)));
}

}  // namespace

Call::Call(const AttentionArguments& arguments)
    : arguments(arguments),
      heads(arguments.query.heads),
      key_value_heads(arguments.key.heads),
      queries(arguments.query.length),
      keys(arguments.key.length),
      dim(arguments.query.dim),
      value_dim(arguments.value.dim),
      group(1),
      scale(arguments.scale.value_or(DefaultScale(arguments))),
      visibility(MakeVisibility(arguments.mask, queries, keys)),
      query_positions(WithoutNeedlessIds(arguments.query_positions)),
      key_positions(WithoutNeedlessIds(arguments.key_positions)) {
  if (queries == 1 && heads <= kHeadsTogether) group = heads;
  if (!arguments.hooks) return;
  const Hooks& hooks = *arguments.hooks;
  rotation = hooks.rotation.get();
  temperature = hooks.temperature.get();
  slice = hooks.slice.get();
  query_band = hooks.score_band.get();
  key_band = hooks.key_band.get();
  if (query_band && query_band->side == Band::Side::kKey) std::swap(query_band, key_band);
  value_band = hooks.value_band.get();
  tile_hook = hooks.tile.get();
  query_bias = hooks.query_bias;
  // Rows that are made as needed are those of few heads.
  if (query_band && query_band->made) group = 1;
  if (tile_hook) group = tile_hook->all_heads() ? heads : 1;
}

Call::KeyTiles Call::TilesFor(int64_t first_query, int64_t count) const {
  const bool from_start = carries_state() && !tile_hook->descending();
  const int64_t begin = from_start ? 0 : visibility.Begin(first_query) / kTile;
  return {begin, (visibility.Reach(first_query + count - 1) + kTile - 1) / kTile};
}

}  // namespace poslab
