// SPDX-License-Identifier: MIT
#include "attention/softmax.h"

#include <algorithm>
#include <cmath>

#include "base/exponential.h"
#include "base/math.h"

namespace poslab {
namespace {

v128_t MinusInfinity() { return wasm_f32x4_splat(-INFINITY); }

Range Seen(const Tile& tile, int group) { return tile.whole ? Range{0, tile.keys} : tile.group[group]; }

// 4 * kVectors lanes. Two vectors keep two chains of maxima and sums going at a time.
template <int kVectors>
void UpdateGroup(Range seen, float* scores, float* largest, float* sum, int64_t rows, float* out) {
  v128_t before[kVectors], now[kVectors], shift[kVectors], total[kVectors], factor[kVectors];
  // Pass 1: the largest. pmax drops NaN here; it comes back through the exponential.
  for (int v = 0; v < kVectors; ++v) now[v] = before[v] = wasm_v128_load(largest + 4 * v);
  for (int j = seen.begin; j < seen.end; ++j)
    for (int v = 0; v < kVectors; ++v) now[v] = wasm_f32x4_pmax(now[v], wasm_v128_load(scores + j * kTile + 4 * v));
  for (int v = 0; v < kVectors; ++v) {
    wasm_v128_store(largest + 4 * v, now[v]);
    // -infinity minus itself would be NaN: lanes that have seen nothing yet shift by 0.
    shift[v] = wasm_v128_andnot(now[v], wasm_f32x4_eq(now[v], MinusInfinity()));
    total[v] = wasm_f32x4_splat(0.0f);
  }
  // Pass 2: weights and their sum.
  for (int j = seen.begin; j < seen.end; ++j) {
    for (int v = 0; v < kVectors; ++v) {
      float* at = scores + j * kTile + 4 * v;
      const v128_t weight = ExpNonPositive(wasm_f32x4_sub(wasm_v128_load(at), shift[v]));
      wasm_v128_store(at, weight);
      total[v] = wasm_f32x4_add(total[v], weight);
    }
  }
  // Pass 3: what was there before counts e^(before - now).
  bool grew = false;
  for (int v = 0; v < kVectors; ++v) {
    factor[v] = ExpNonPositive(wasm_f32x4_sub(before[v], shift[v]));
    wasm_v128_store(sum + 4 * v, MulAdd(wasm_v128_load(sum + 4 * v), factor[v], total[v]));
    grew = grew || wasm_v128_any_true(wasm_f32x4_ne(before[v], now[v]));
  }
  if (!grew) return;
  for (int64_t d = 0; d < rows; ++d)
    for (int v = 0; v < kVectors; ++v)
      wasm_v128_store(out + d * kTile + 4 * v, wasm_f32x4_mul(wasm_v128_load(out + d * kTile + 4 * v), factor[v]));
}

// The first lane alone, with keys as lanes: the same bits, a quarter of the exponentials.
void UpdateOne(Range seen, float* scores, float* largest, float* sum, int64_t rows, float* out) {
  alignas(16) float weights[kTile];
  const int count = seen.end - seen.begin, lanes = (count + 3) & ~3;
  float* first = scores + seen.begin * kTile;
  for (int j = 0; j < count; ++j) weights[j] = first[j * kTile];
  for (int j = count; j < lanes; ++j) weights[j] = -INFINITY;
  const v128_t before = wasm_f32x4_splat(*largest);
  v128_t now = before;
  for (int j = 0; j < lanes; j += 4) now = wasm_f32x4_pmax(now, wasm_v128_load(weights + j));
  now = wasm_f32x4_pmax(now, wasm_i32x4_shuffle(now, now, 2, 3, 0, 1));
  now = wasm_f32x4_pmax(now, wasm_i32x4_shuffle(now, now, 1, 0, 3, 2));
  const v128_t shift = wasm_v128_andnot(now, wasm_f32x4_eq(now, MinusInfinity()));
  for (int j = 0; j < lanes; j += 4)
    wasm_v128_store(weights + j, ExpNonPositive(wasm_f32x4_sub(wasm_v128_load(weights + j), shift)));
  float total = 0;
  for (int j = 0; j < count; ++j) {
    total += weights[j];
    first[j * kTile] = weights[j];
  }
  const float factor = wasm_f32x4_extract_lane(ExpNonPositive(wasm_f32x4_sub(before, shift)), 0);
  const bool grew = *largest != wasm_f32x4_extract_lane(now, 0);
  *largest = wasm_f32x4_extract_lane(now, 0);
  *sum = MulAdd(*sum, factor, total);
  if (!grew) return;
  for (int64_t d = 0; d < rows; ++d) out[d * kTile] *= factor;
}

}  // namespace

void SoftmaxState::Reset(float sink) {
  std::fill_n(largest, kTile, sink);
  std::fill_n(sum, kTile, sink == -INFINITY ? 0.0f : 1.0f);
}

void UpdateSoftmax(const Tile& tile, float* scores, SoftmaxState* state, int64_t rows, float* out) {
  for (int g = 0; g < tile.groups(); ++g) {
    const Range seen = Seen(tile, g);
    if (seen.empty()) continue;
    const int lane = g * kGroup;
    if (tile.queries == 1)
      UpdateOne(seen, scores, state->largest, state->sum, rows, out);
    else if (tile.GroupWidth(g) == kGroup)
      UpdateGroup<2>(seen, scores + lane, state->largest + lane, state->sum + lane, rows, out + lane);
    else
      UpdateGroup<1>(seen, scores + lane, state->largest + lane, state->sum + lane, rows, out + lane);
  }
}

void DivideBySum(int lanes, const SoftmaxState& state, int64_t rows, float* out) {
  for (int lane = 0; lane < lanes; lane += 4) {
    const v128_t sum = wasm_v128_load(state.sum + lane);
    const v128_t empty = wasm_f32x4_eq(sum, wasm_f32x4_splat(0.0f));
    for (int64_t d = 0; d < rows; ++d) {
      float* at = out + d * kTile + lane;
      wasm_v128_store(at, wasm_v128_andnot(wasm_f32x4_div(wasm_v128_load(at), sum), empty));
    }
  }
}

float LogSumExp(const SoftmaxState& state, int lane) {
  if (state.sum[lane] == 0) return -INFINITY;
  return static_cast<float>(state.largest[lane] + Log(static_cast<double>(state.sum[lane])));
}

void RecomputeWeights(const Tile& tile, const float* log_sum_exp, float* scores) {
  for (int lane = 0; lane < tile.lanes; lane += 4) {
    const Range seen = Seen(tile, lane / kGroup);
    const v128_t shift = wasm_v128_load(log_sum_exp + lane);
    for (int j = seen.begin; j < seen.end; ++j) {
      float* at = scores + j * kTile + lane;
      wasm_v128_store(at, ExpNonPositive(wasm_f32x4_sub(wasm_v128_load(at), shift)));
    }
  }
}

void SoftmaxBackward(const Tile& tile, const float* weights, const float* delta, float* gradients) {
  for (int lane = 0; lane < tile.lanes; lane += 4) {
    const Range seen = Seen(tile, lane / kGroup);
    const v128_t mean = wasm_v128_load(delta + lane);
    for (int j = seen.begin; j < seen.end; ++j) {
      float* at = gradients + j * kTile + lane;
      const v128_t weight = wasm_v128_load(weights + j * kTile + lane);
      wasm_v128_store(at, wasm_f32x4_mul(weight, wasm_f32x4_sub(wasm_v128_load(at), mean)));
    }
  }
}

void FinishWeights(float largest, float sum, int64_t count, float* row) {
  if (sum == 0) {
    std::fill_n(row, count, 0.0f);
    return;
  }
  const v128_t shift = wasm_f32x4_splat(largest), divisor = wasm_f32x4_splat(sum);
  int64_t j = 0;
  for (; j + 4 <= count; j += 4)
    wasm_v128_store(row + j, wasm_f32x4_div(ExpNonPositive(wasm_f32x4_sub(wasm_v128_load(row + j), shift)), divisor));
  for (; j < count; ++j) {
    const v128_t weight = ExpNonPositive(wasm_f32x4_sub(wasm_f32x4_splat(row[j]), shift));
    row[j] = wasm_f32x4_extract_lane(wasm_f32x4_div(weight, divisor), 0);
  }
}

}  // namespace poslab
