// SPDX-License-Identifier: MIT
#include "attention/visibility.h"

#include <algorithm>

namespace poslab {

int64_t Visibility::DocumentBegin(int64_t query) const {
  if (!documents) return 0;
  const int64_t own = query + shift;
  if (own < 0 || own >= keys) return own < 0 ? 0 : keys;
  return std::lower_bound(documents, documents + own, documents[own]) - documents;
}

int64_t Visibility::DocumentEnd(int64_t query) const {
  if (!documents) return keys;
  const int64_t own = query + shift;
  if (own < 0 || own >= keys) return own < 0 ? 0 : keys;
  return std::upper_bound(documents + own, documents + keys, documents[own]) - documents;
}

int64_t Visibility::Begin(int64_t query) const {
  const int64_t begin = DocumentBegin(query);
  // Compared this way round because i + shift - window could overflow for a window near 2^63.
  if (window == 0 || window >= query + shift + 1) return begin;
  return std::max(begin, std::min(query + shift + 1 - window, keys));
}

int64_t Visibility::End(int64_t query) const {
  const int64_t reach = Reach(query);
  return causal ? std::clamp<int64_t>(query + shift + 1 - beyond, 0, reach) : reach;
}

int64_t Visibility::Reach(int64_t query) const {
  const int64_t end = DocumentEnd(query);
  return causal ? std::clamp<int64_t>(query + shift + 1, 0, end) : end;
}

int64_t Visibility::LowestDifference() const {
  const int64_t lowest = -(queries - 1);
  if (window == 0 || window >= queries + keys) return lowest;
  return std::max(lowest, shift - window + 1);
}

int64_t Visibility::HighestDifference() const { return causal ? std::min(shift - beyond, keys - 1) : keys - 1; }

Visibility MakeVisibility(const Mask& mask, int64_t queries, int64_t keys) {
  Visibility visibility;
  visibility.queries = queries;
  visibility.keys = keys;
  visibility.causal = mask.causal;
  visibility.shift = mask.alignment == Mask::Alignment::kBottomRight ? keys - queries : 0;
  visibility.window = mask.window.value_or(0);
  // More than there are keys hides all of them, and cannot overflow.
  visibility.beyond = std::min(mask.beyond.value_or(0), queries + keys);
  visibility.key_mask = mask.key_mask;
  visibility.documents = mask.documents;
  return visibility;
}

bool MakeTile(const Visibility& visibility, int64_t first_query, int queries, int64_t first_key, int keys, Tile* tile) {
  tile->first_query = first_query;
  tile->first_key = first_key;
  tile->queries = queries;
  tile->lanes = (queries + 3) & ~3;
  tile->keys = keys;
  // Both ends of what a query sees move right with the query.
  const int64_t last_query = first_query + queries - 1, end_key = first_key + keys;
  tile->whole = visibility.Begin(last_query) <= first_key && visibility.End(first_query) >= end_key;
  if (tile->whole) return keys > 0;

  // The queries that see anything stand in [first, end). Others among them, which `beyond` leaves at the start of a
  // document, see an empty range after the keys of those before: both ends of the ranges never fall.
  int first = queries, end = 0, end_before = 0;
  for (int n = 0; n < queries; ++n) {
    const int64_t begin_seen = std::max(visibility.Begin(first_query + n), first_key);
    const int64_t end_seen = std::min(visibility.End(first_query + n), end_key);
    tile->lane[n] = {end_before, end_before};
    if (begin_seen >= end_seen) continue;
    end_before = static_cast<int>(end_seen - first_key);
    tile->lane[n] = {static_cast<int>(begin_seen - first_key), end_before};
    first = std::min(first, n);
    end = n + 1;
  }
  std::fill(tile->lane + queries, tile->lane + tile->lanes, tile->lane[queries - 1]);
  for (int g = 0; g < tile->groups(); ++g) {
    // Of these lanes, the first sees the first key and the last the last one.
    const int begin_lane = std::max(first, g * kGroup), end_lane = std::min(end, (g + 1) * kGroup);
    const bool any = begin_lane < end_lane;
    tile->group[g] = any ? Range{tile->lane[begin_lane].begin, tile->lane[end_lane - 1].end} : Range{};
  }
  for (int g = 0, begin_lane = first, end_lane = first; g * kGroup < keys; ++g) {
    while (begin_lane < end && tile->lane[begin_lane].end <= g * kGroup) ++begin_lane;
    while (end_lane < end && tile->lane[end_lane].begin < (g + 1) * kGroup) ++end_lane;
    tile->row[g] = {begin_lane, std::max(begin_lane, end_lane)};
  }
  return first < end;
}

void ReplaceHidden(const Visibility& visibility, const Tile& tile, float value, float* scores) {
  if (!tile.whole) {
    for (int n = 0; n < tile.lanes; ++n) {
      const Range all = tile.group[n / kGroup], seen = tile.lane[n];
      // Of an empty range both loops together cover the group's.
      for (int j = all.begin; j < std::min(all.end, seen.begin); ++j) scores[j * kTile + n] = value;
      for (int j = std::max(all.begin, seen.end); j < all.end; ++j) scores[j * kTile + n] = value;
    }
  }
  if (!visibility.key_mask) return;
  for (int j = 0; j < tile.keys; ++j)
    if (!visibility.key_mask[tile.first_key + j]) std::fill_n(scores + j * kTile, tile.lanes, value);
}

void ClearAround(const Tile& tile, float* scores) {
  if (tile.whole) return;
  for (int g = 0; g < tile.groups(); ++g) {
    const Range seen = tile.group[g];
    const int last = std::min(tile.keys, (seen.end + kGroup - 1) / kGroup * kGroup);
    float* lanes = scores + g * kGroup;
    for (int j = seen.begin / kGroup * kGroup; j < seen.begin; ++j)
      std::fill_n(lanes + j * kTile, tile.GroupWidth(g), 0.0f);
    for (int j = seen.end; j < last; ++j) std::fill_n(lanes + j * kTile, tile.GroupWidth(g), 0.0f);
  }
}

}  // namespace poslab
