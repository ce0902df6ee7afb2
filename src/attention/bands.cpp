// SPDX-License-Identifier: MIT
#include "attention/bands.h"

#include <algorithm>

#include "base/matmul.h"
#include "base/simd.h"

namespace poslab {
namespace {

// Whether positions first .. first + count - 1 step by one.
bool Steps(const Positions& positions, int64_t first, int count) {
  if (positions.contiguous()) return true;
  for (int64_t n = first + 1; n < first + count; ++n)
    if (positions[n] != positions[n - 1] + 1) return false;
  return true;
}

Range SeenKeys(const Tile& tile, int group) { return tile.whole ? Range{0, tile.keys} : tile.group[group]; }

// The numbers of the distances that a group of lanes meets.
Range Numbers(const Tile& tile, int group) {
  const Range keys = SeenKeys(tile, group);
  if (keys.empty()) return {};
  const int lane = group * kGroup;
  return {tile.lanes - lane - tile.GroupWidth(group) + keys.begin, tile.lanes - lane + keys.end - 1};
}

// Lanes 0 and 2 of one row, 1 and 3 of another.
v128_t Weave(v128_t even, v128_t odd) { return wasm_i32x4_shuffle(even, odd, 0, 5, 2, 7); }
// Lanes 0 and 1 of one row, 2 and 3 of another.
v128_t Join(v128_t low, v128_t high) { return wasm_i32x4_shuffle(low, high, 0, 1, 6, 7); }

// scores[key][lane + b] += by_distance[number(key, lane) - b][lane + b], b = 0 to 3.
void AddSkewed(const Tile& tile, Range keys, int lane, const float* by_distance, float* scores) {
  const float* row = by_distance + (keys.begin - lane + tile.lanes - 1) * kTile + lane;
  v128_t last = wasm_v128_load(row - kTile);
  v128_t woven_2 = Weave(wasm_v128_load(row - 2 * kTile), wasm_v128_load(row - 3 * kTile));
  v128_t woven_1 = Weave(last, wasm_v128_load(row - 2 * kTile));
  for (int j = keys.begin; j < keys.end; ++j, row += kTile) {
    const v128_t now = wasm_v128_load(row);
    const v128_t woven = Weave(now, last);
    float* at = scores + j * kTile + lane;
    wasm_v128_store(at, wasm_f32x4_add(wasm_v128_load(at), Join(woven, woven_2)));
    woven_2 = woven_1, woven_1 = woven, last = now;
  }
}

// by_distance[number][lane + b] = weights[number - lanes + 1 + lane + b][lane + b], zero where there is no such key.
void Unskew(const Tile& tile, Range keys, Range numbers, int lane, const float* weights, float* by_distance) {
  const auto row = [&](int key) {
    return key >= keys.begin && key < keys.end ? wasm_v128_load(weights + key * kTile + lane) : wasm_f32x4_splat(0.0f);
  };
  int key = numbers.begin - tile.lanes + 1 + lane;
  v128_t next = row(key + 1);
  v128_t woven_0 = Weave(row(key), next), ahead = row(key + 2);
  v128_t woven_1 = Weave(next, ahead);
  for (int number = numbers.begin; number < numbers.end; ++number, ++key) {
    const v128_t far = row(key + 3);
    const v128_t woven_2 = Weave(ahead, far);
    wasm_v128_store(by_distance + number * kTile + lane, Join(woven_0, woven_2));
    woven_0 = woven_1, woven_1 = woven_2, ahead = far;
  }
}

void AddRows(const float* from, Range rows, int lane, int width, float* sums) {
  for (int n = lane; n < lane + width; n += 4) {
    v128_t sum = wasm_v128_load(sums + n);
    for (int r = rows.begin; r < rows.end; ++r) sum = wasm_f32x4_add(sum, wasm_v128_load(from + r * kTile + n));
    wasm_v128_store(sums + n, sum);
  }
}

float* End(float* ends, bool last) { return ends + (last ? kTile : 0); }

}  // namespace

void BandScratch::LayOut(Arena* arena, int64_t width) {
  by_distance = arena->Take<float>((kTileDistances + 1) * kTile);
  row = arena->Take<float>(width);
}

BandTile MakeBandTile(const Call& call, const Band& band, const Tile& tile) {
  BandTile result;
  result.count = tile.keys + tile.lanes - 1;
  const int64_t last = band.first + band.rows - 1;
  if (!Steps(call.query_positions, tile.first_query, tile.queries) ||
      !Steps(call.key_positions, tile.first_key, tile.keys)) {
    result.regular = false;
    return result;
  }
  // The distance of number 0, that of the last (padded) lane.
  const int64_t lowest = call.key_positions[tile.first_key] - call.query_positions[tile.first_query] - (tile.lanes - 1);
  result.begin = static_cast<int>(std::clamp<int64_t>(band.first - lowest, 0, result.count));
  result.end = static_cast<int>(std::clamp<int64_t>(last + 1 - lowest, 0, result.count));
  result.first_row = lowest + result.begin - band.first;
  return result;
}

int64_t BandRow(const Call& call, const Band& band, const Tile& tile, int key, int lane) {
  const int64_t distance = call.key_positions[tile.first_key + key] - call.query_positions[tile.first_query + lane];
  return std::clamp(distance, band.first, band.first + band.rows - 1) - band.first;
}

void ScoreBandEnds(const Band& band, int64_t head, int lanes, const BandBlock& block) {
  const float* table = BandTable(band, head);
  const int64_t between = (band.rows - 1) * band.width;
  // Two rows of A: the first and the last of the table.
  MatMul({1, lanes, band.width, table, band.width, 1, block.panel, kTile, End(block.ends, false), kTile, false});
  MatMul(
      {1, lanes, band.width, table + between, band.width, 1, block.panel, kTile, End(block.ends, true), kTile, false});
}

void AddBandScores(const Call& call, const Band& band, int64_t head, const Tile& tile, const BandBlock& block,
                   const BandScratch& scratch, float* scores) {
  const BandTile numbers = MakeBandTile(call, band, tile);
  const float* table = BandTable(band, head);
  if (!numbers.regular) {
    for (int n = 0; n < tile.queries; ++n) {
      const Range keys = tile.whole ? Range{0, tile.keys} : tile.lane[n];
      for (int j = keys.begin; j < keys.end; ++j) {
        const float* row = table + BandRow(call, band, tile, j, n) * band.width;
        float sum = 0;
        for (int64_t d = 0; d < band.width; ++d) sum += block.rows[n * band.width + d] * row[d];
        scores[j * kTile + n] += sum;
      }
    }
    return;
  }
  for (int g = 0; g < tile.groups(); ++g) {
    const Range keys = SeenKeys(tile, g), all = Numbers(tile, g);
    if (keys.empty()) continue;
    const int lane = g * kGroup, width = tile.GroupWidth(g);
    if (numbers.AllFirst() || numbers.AllLast()) {
      for (int n = lane; n < lane + width; n += 4) {
        const v128_t end = wasm_v128_load(End(block.ends, numbers.AllLast()) + n);
        for (int j = keys.begin; j < keys.end; ++j) {
          float* at = scores + j * kTile + n;
          wasm_v128_store(at, wasm_f32x4_add(wasm_v128_load(at), end));
        }
      }
      continue;
    }
    const int begin = std::clamp(numbers.begin, all.begin, all.end), end = std::clamp(numbers.end, begin, all.end);
    MatMul({end - begin, width, band.width, table + (numbers.first_row + begin - numbers.begin) * band.width,
            band.width, 1, block.panel + lane, kTile, scratch.by_distance + begin * kTile + lane, kTile, false});
    for (int r = all.begin; r < begin; ++r)
      std::copy_n(End(block.ends, false) + lane, width, scratch.by_distance + r * kTile + lane);
    for (int r = end; r < all.end; ++r)
      std::copy_n(End(block.ends, true) + lane, width, scratch.by_distance + r * kTile + lane);
    for (int n = lane; n < lane + width; n += 4) AddSkewed(tile, keys, n, scratch.by_distance, scores);
  }
}

void SumByDistance(const Call& call, const Band& band, const Tile& tile, const float* weights,
                   const BandScratch& scratch, float* ends) {
  const BandTile numbers = MakeBandTile(call, band, tile);
  if (!numbers.regular) return;
  for (int g = 0; g < tile.groups(); ++g) {
    const Range keys = SeenKeys(tile, g), all = Numbers(tile, g);
    const int lane = g * kGroup, width = tile.GroupWidth(g);
    if (numbers.AllFirst() || numbers.AllLast()) {
      AddRows(weights, keys, lane, width, End(ends, numbers.AllLast()));
      continue;
    }
    for (int n = lane; n < lane + width && !keys.empty(); n += 4)
      Unskew(tile, keys, all, n, weights, scratch.by_distance);
    AddRows(scratch.by_distance, {all.begin, std::min(numbers.begin, all.end)}, lane, width, End(ends, false));
    AddRows(scratch.by_distance, {std::max(numbers.end, all.begin), all.end}, lane, width, End(ends, true));
    // Zero what this group of lanes does not meet, for products over all lanes.
    for (int r = numbers.begin; r < numbers.end; ++r)
      if (r < all.begin || r >= all.end) std::fill_n(scratch.by_distance + r * kTile + lane, width, 0.0f);
  }
}

void AddBandByLane(const Call& call, const Band& band, int64_t head, const Tile& tile, const float* weights,
                   const BandScratch& scratch, float* out) {
  const BandTile numbers = MakeBandTile(call, band, tile);
  const float* table = BandTable(band, head);
  if (!numbers.regular) {
    for (int n = 0; n < tile.queries; ++n) {
      const Range keys = tile.whole ? Range{0, tile.keys} : tile.lane[n];
      std::fill_n(scratch.row, band.width, 0.0f);
      for (int j = keys.begin; j < keys.end; ++j) {
        const float* row = table + BandRow(call, band, tile, j, n) * band.width;
        for (int64_t d = 0; d < band.width; ++d) scratch.row[d] += weights[j * kTile + n] * row[d];
      }
      for (int64_t d = 0; d < band.width; ++d) out[d * kTile + n] += scratch.row[d];
    }
    return;
  }
  if (numbers.AllFirst() || numbers.AllLast()) return;
  for (int g = 0; g < tile.groups(); ++g) {
    const Range all = Numbers(tile, g);
    const int lane = g * kGroup;
    const int begin = std::clamp(numbers.begin, all.begin, all.end), end = std::clamp(numbers.end, begin, all.end);
    MatMul({band.width, tile.GroupWidth(g), end - begin,
            table + (numbers.first_row + begin - numbers.begin) * band.width, 1, band.width,
            scratch.by_distance + begin * kTile + lane, kTile, out + lane, kTile, true});
  }
}

void AddBandEnds(const Band& band, int64_t head, int lanes, const float* ends, float* out) {
  const float* first = BandTable(band, head);
  const float* last = first + (band.rows - 1) * band.width;
  MatMul({band.width, lanes, 1, first, 1, band.width, ends, kTile, out, kTile, true});
  MatMul({band.width, lanes, 1, last, 1, band.width, ends + kTile, kTile, out, kTile, true});
}

void AddBandGradient(const Call& call, const Band& band, const Tile& tile, const float* weights, const float* rows,
                     const BandScratch& scratch, float* gradient) {
  const BandTile numbers = MakeBandTile(call, band, tile);
  if (!numbers.regular) {
    for (int n = 0; n < tile.queries; ++n) {
      const Range keys = tile.whole ? Range{0, tile.keys} : tile.lane[n];
      for (int j = keys.begin; j < keys.end; ++j) {
        float* row = gradient + BandRow(call, band, tile, j, n) * band.width;
        for (int64_t d = 0; d < band.width; ++d) row[d] += weights[j * kTile + n] * rows[n * band.width + d];
      }
    }
    return;
  }
  if (numbers.AllFirst() || numbers.AllLast()) return;
  // Few numbers at a time meet few lanes: number r has keys for lanes from lanes - 1 - r to lanes - 1 - r + keys.
  for (int r = numbers.begin; r < numbers.end; r += kGroup) {
    const int height = std::min(kGroup, numbers.end - r);
    const int first = std::max(0, tile.lanes - 1 - (r + height - 1));
    const int end = std::min(tile.queries, tile.lanes - 1 - r + tile.keys);
    MatMul({height, band.width, end - first, scratch.by_distance + r * kTile + first, kTile, 1,
            rows + first * band.width, band.width, gradient + (numbers.first_row + r - numbers.begin) * band.width,
            band.width, true});
  }
}

void AddBandEndsGradient(const Band& band, int queries, const float* ends, const float* rows, float* gradient) {
  float* last = gradient + (band.rows - 1) * band.width;
  MatMul({1, band.width, queries, ends, kTile, 1, rows, band.width, gradient, band.width, true});
  MatMul({1, band.width, queries, ends + kTile, kTile, 1, rows, band.width, last, band.width, true});
}

}  // namespace poslab
