// SPDX-License-Identifier: MIT
#include "attention/slices.h"

#include <algorithm>
#include <cmath>

#include "base/simd.h"

namespace poslab {
namespace {

// Tables longer than this (256 KiB of biases and 512 KiB of gradients) are not made for given position ids.
constexpr int64_t kLongestTable = 65536;
// Groups of lanes are added whole, so rows may read this far past the distances that are seen.
constexpr int64_t kMargin = kGroup;

void Extremes(const Positions& positions, int64_t* lowest, int64_t* highest) {
  *lowest = *highest = positions[0];
  for (int64_t n = 1; n < positions.count; ++n) {
    *lowest = std::min(*lowest, positions[n]);
    *highest = std::max(*highest, positions[n]);
  }
}

// Calls body(key, lanes) for every row of keys and the lanes of it that are added.
template <typename Body>
void ForEachRow(const Tile& tile, Body body) {
  if (tile.whole) {
    for (int j = 0; j < tile.keys; ++j) body(j, Range{0, tile.lanes});
    return;
  }
  for (int g = 0; g < tile.groups(); ++g) {
    const Range lanes{g * kGroup, g * kGroup + tile.GroupWidth(g)};
    for (int j = tile.group[g].begin; j < tile.group[g].end; ++j) body(j, lanes);
  }
}

// Calls body(key, lane) for every pair that is seen by index.
template <typename Body>
void ForEachPair(const Tile& tile, Body body) {
  for (int n = 0; n < tile.queries; ++n) {
    const Range keys = tile.whole ? Range{0, tile.keys} : tile.lane[n];
    for (int j = keys.begin; j < keys.end; ++j) body(j, n);
  }
}

}  // namespace

SliceBiases::SliceBiases(const Call& call, bool gradients)
    : call_(call), learns_(gradients && call.slice && call.slice->learns()) {
  if (call.slice && call.queries > 0 && call.keys > 0) ChooseWay();
}

void SliceBiases::ChooseWay() {
  Way by_table;
  if (call_.contiguous()) {
    const int64_t base = call_.key_positions.start - call_.query_positions.start;
    // A tile hook gets whole tiles, so that hidden entries are biased like any other.
    const bool all = call_.tile_hook != nullptr;
    lowest_ = base + (all ? -(call_.queries - 1) : call_.visibility.LowestDifference());
    highest_ = base + (all ? call_.keys - 1 : call_.visibility.HighestDifference());
    size_ = std::max<int64_t>(0, highest_ - lowest_ + 1) + 2 * kMargin;
    by_table = Way::kDiagonals;
  } else {
    int64_t first_query, last_query, first_key, last_key;
    Extremes(call_.query_positions, &first_query, &last_query);
    Extremes(call_.key_positions, &first_key, &last_key);
    const int64_t lowest = call_.slice->lowest(), highest = std::max(lowest, call_.slice->highest());
    lowest_ = std::clamp(first_key - last_query, lowest, highest);
    highest_ = std::clamp(last_key - first_query, lowest, highest);
    // A table of more entries than there are pairs costs more than asking for each pair.
    const double pairs = static_cast<double>(call_.queries) * static_cast<double>(call_.keys);
    const double most = std::min(static_cast<double>(kLongestTable / call_.group), std::max(4096.0, pairs));
    const bool fits = static_cast<double>(highest_) - static_cast<double>(lowest_) < most;
    size_ = fits ? highest_ - lowest_ + 1 : 0;
    by_table = fits ? Way::kByDistance : Way::kByEntry;
  }
  way_ = call_.slice->slopes().empty() ? by_table : Way::kSlopes;
  gradient_way_ = learns_ ? by_table : Way::kNone;
}

void SliceBiases::LayOut(Arena* arena) {
  if (way_ == Way::kDiagonals || way_ == Way::kByDistance) biases_ = arena->Take<float>(call_.group * size_);
  if (learns_) gradients_ = arena->Take<double>(call_.group * size_);
}

void SliceBiases::Start(int64_t first_head) {
  first_head_ = first_head;
  if (learns_) std::fill_n(gradients_, call_.group * size_, 0.0);
  if (way_ != Way::kDiagonals && way_ != Way::kByDistance) return;
  for (int64_t slot = 0; slot < call_.group; ++slot) {
    float* table = biases_ + slot * size_;
    if (way_ == Way::kByDistance) {
      call_.slice->Evaluate(first_head + slot, lowest_, size_, table);
      continue;
    }
    std::fill_n(table, size_, 0.0f);
    if (lowest_ > highest_) continue;
    // Distances that share a value are evaluated once.
    const int64_t low = std::clamp(call_.slice->lowest(), lowest_, highest_);
    const int64_t high = std::clamp(call_.slice->highest(), low, highest_);
    float* rows = table + kMargin;  // distance highest_ - n is rows[n]
    call_.slice->Evaluate(first_head + slot, low, high - low + 1, rows + (highest_ - high));
    std::reverse(rows + (highest_ - high), rows + (highest_ - low) + 1);
    std::fill(rows, rows + (highest_ - high), rows[highest_ - high]);
    std::fill(rows + (highest_ - low) + 1, rows + (highest_ - lowest_) + 1, rows[highest_ - low]);
  }
}

int64_t SliceBiases::Distance(const Tile& tile, int key, int lane) const {
  return call_.key_positions[tile.first_key + key] - call_.query_positions[tile.first_query + lane];
}

int64_t SliceBiases::Place(int64_t distance) const { return std::clamp(distance, lowest_, highest_) - lowest_; }

void SliceBiases::Add(const Tile& tile, int64_t slot, float* scores) const {
  const int64_t head = first_head_ + slot;
  switch (way_) {
    case Way::kNone:
      return;
    case Way::kSlopes:
      return AddSlopes(tile, call_.slice->slopes()[static_cast<size_t>(head)], scores);
    case Way::kDiagonals: {
      // Entry n of the table, without its margin, is the distance highest_ - n.
      const int64_t base = call_.key_positions.start - call_.query_positions.start;
      const float* table = biases_ + slot * size_ + kMargin + (highest_ - base) - tile.first_key + tile.first_query;
      ForEachRow(tile, [&](int key, Range lanes) {
        for (int n = lanes.begin; n < lanes.end; n += 4) {
          float* at = scores + key * kTile + n;
          wasm_v128_store(at, wasm_f32x4_add(wasm_v128_load(at), wasm_v128_load(table - key + n)));
        }
      });
      return;
    }
    case Way::kByDistance: {
      const float* table = biases_ + slot * size_;
      ForEachPair(tile,
                  [&](int key, int lane) { scores[key * kTile + lane] += table[Place(Distance(tile, key, lane))]; });
      return;
    }
    case Way::kByEntry:
      return AddByEntry(tile, head, scores);
  }
}

void SliceBiases::AddSlopes(const Tile& tile, float slope, float* scores) const {
  if (!call_.contiguous()) {
    ForEachPair(tile, [&](int key, int lane) {
      scores[key * kTile + lane] -= slope * static_cast<float>(std::abs(Distance(tile, key, lane)));
    });
    return;
  }
  // Distances are whole: exact in float up to 2^24, rounded like the bias itself beyond.
  const v128_t factor = wasm_f32x4_splat(-slope), lanes_up = wasm_f32x4_make(0, 1, 2, 3);
  ForEachRow(tile, [&](int key, Range lanes) {
    const v128_t first = wasm_f32x4_splat(static_cast<float>(Distance(tile, key, 0)));
    for (int n = lanes.begin; n < lanes.end; n += 4) {
      const v128_t lane = wasm_f32x4_add(wasm_f32x4_splat(static_cast<float>(n)), lanes_up);
      const v128_t distance = wasm_f32x4_abs(wasm_f32x4_sub(first, lane));
      float* at = scores + key * kTile + n;
      wasm_v128_store(at, MulAdd(factor, distance, wasm_v128_load(at)));
    }
  });
}

void SliceBiases::AddByEntry(const Tile& tile, int64_t head, float* scores) const {
  // Runs of queries whose positions step by one meet a run of distances: one question for each.
  float biases[kTile];
  for (int first = 0, end; first < tile.queries; first = end) {
    end = first + 1;
    const auto position = [&](int n) { return call_.query_positions[tile.first_query + n]; };
    while (end < tile.queries && position(end) == position(end - 1) + 1) ++end;
    for (int j = 0; j < tile.keys; ++j) {
      call_.slice->Evaluate(head, Distance(tile, j, end - 1), end - first, biases);
      for (int n = first; n < end; ++n) scores[j * kTile + n] += biases[end - 1 - n];
    }
  }
}

void SliceBiases::Collect(const Tile& tile, int64_t slot, const float* gradients) {
  switch (gradient_way_) {
    case Way::kNone:
    case Way::kSlopes:
      return;
    case Way::kDiagonals: {
      const int64_t base = call_.key_positions.start - call_.query_positions.start;
      double* table = gradients_ + slot * size_ + kMargin + (highest_ - base) - tile.first_key + tile.first_query;
      ForEachRow(tile, [&](int key, Range lanes) {
        for (int n = lanes.begin; n < std::min(lanes.end, tile.queries); ++n)
          table[n - key] += static_cast<double>(gradients[key * kTile + n]);
      });
      return;
    }
    case Way::kByDistance: {
      double* table = gradients_ + slot * size_;
      ForEachPair(tile, [&](int key, int lane) {
        table[Place(Distance(tile, key, lane))] += static_cast<double>(gradients[key * kTile + lane]);
      });
      return;
    }
    case Way::kByEntry:
      ForEachPair(tile, [&](int key, int lane) {
        const double gradient = gradients[key * kTile + lane];
        if (gradient != 0) call_.slice->Accumulate(first_head_ + slot, Distance(tile, key, lane), 1, &gradient);
      });
      return;
  }
}

void SliceBiases::Finish() {
  if (gradient_way_ != Way::kDiagonals && gradient_way_ != Way::kByDistance) return;
  if (lowest_ > highest_) return;
  for (int64_t slot = 0; slot < call_.group; ++slot) {
    double* table = gradients_ + slot * size_;
    if (gradient_way_ == Way::kDiagonals) {
      table += kMargin;
      std::reverse(table, table + (highest_ - lowest_) + 1);
    }
    call_.slice->Accumulate(first_head_ + slot, lowest_, highest_ - lowest_ + 1, table);
  }
}

}  // namespace poslab
