// SPDX-License-Identifier: MIT
#include "attention/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/simd.h"
#include "base/transpose.h"
#include "position/turn.h"

namespace poslab {
namespace {

void Add(const float* rows, int64_t dim, float* out) {
  int64_t d = 0;
  for (; d + 4 <= dim; d += 4)
    wasm_v128_store(out + d, wasm_f32x4_add(wasm_v128_load(out + d), wasm_v128_load(rows + d)));
  for (; d < dim; ++d) out[d] += rows[d];
}

float FactorOf(const Temperature& temperature, int64_t head, int64_t query) {
  return temperature.by_query[query] * (temperature.by_head ? temperature.by_head[head] : 1);
}

// sums[k] += position * (gradient of the angle of pair k), from the row before it was turned, x, and its gradient g: the
// derivative of a turned pair by its angle is the turned (-x_b, x_a), and both can be turned back.
void AddAngleGradients(const Rotation& rotation, const TurnGradients& turns, int64_t head, int64_t index,
                       const float* gradient) {
  const bool half = rotation.layout == Rotation::Layout::kHalf;
  const float* x = turns.rows.row(head, index);
  for (int64_t k = 0; k < rotation.pairs; ++k) {
    const int64_t a = half ? k : 2 * k, b = half ? k + rotation.pairs : 2 * k + 1;
    // Hidden rows may hold anything and have no gradient.
    if (gradient[a] == 0 && gradient[b] == 0) continue;
    const int64_t axis = rotation.axes.empty() ? 0 : rotation.axes[static_cast<size_t>(k)];
    const auto position = static_cast<double>(turns.positions.At(index, axis));
    turns.rotation[k] += position * (static_cast<double>(x[a]) * gradient[b] - static_cast<double>(x[b]) * gradient[a]);
  }
}

}  // namespace

void PackKeys(const HeadsView<const float>& view, int64_t head, int64_t first, int64_t count, const Rotation* rotation,
              const uint8_t* key_mask, float* out) {
  const auto bytes = static_cast<size_t>(view.dim) * sizeof(float);
  for (int64_t n = first; n < first + count; ++n, out += view.dim) {
    if (key_mask && !key_mask[n]) {
      std::memset(out, 0, bytes);
      continue;
    }
    std::memcpy(out, view.row(head, n), bytes);
    if (!rotation) continue;
    const Turn turn = KeyTurn(*rotation, n);
    TurnRow(rotation->layout, rotation->pairs, turn.cos, turn.sin, out);
  }
}

void PackQueries(const HeadsView<const float>& view, int64_t head, int64_t first, int64_t count,
                 const Rotation* rotation, const Temperature* temperature, const float* log_sum_exp, float* out) {
  const auto bytes = static_cast<size_t>(view.dim) * sizeof(float);
  for (int64_t n = first; n < first + count; ++n, out += view.dim) {
    if (log_sum_exp && log_sum_exp[n] == -INFINITY) {
      std::memset(out, 0, bytes);
      continue;
    }
    std::memcpy(out, view.row(head, n), bytes);
    if (temperature) ScaleRows(out, 1, view.dim, FactorOf(*temperature, head, n), nullptr, out);
    if (!rotation) continue;
    const Turn turn = QueryTurn(*rotation, n);
    TurnRow(rotation->layout, rotation->pairs, turn.cos, turn.sin, out);
  }
}

void ScaleRows(const float* rows, int64_t count, int64_t dim, float scale, const float* bias, float* out) {
  const v128_t scales = wasm_f32x4_splat(scale);
  for (int64_t n = 0; n < count; ++n, rows += dim, out += dim) {
    int64_t d = 0;
    for (; d + 4 <= dim; d += 4) {
      v128_t x = wasm_v128_load(rows + d);
      if (bias) x = wasm_f32x4_add(x, wasm_v128_load(bias + d));
      wasm_v128_store(out + d, wasm_f32x4_mul(x, scales));
    }
    for (; d < dim; ++d) out[d] = scale * (bias ? rows[d] + bias[d] : rows[d]);
  }
}

void MakePanel(const float* rows, ptrdiff_t stride, int64_t count, int64_t dim, float* panel) {
  Transpose(rows, stride, count, dim, panel, kTile);
  for (int64_t n = count; n % 4 != 0; ++n)
    for (int64_t d = 0; d < dim; ++d) panel[d * kTile + n] = 0.0f;
}

void AddToQueries(float* rows, int64_t count, const Rotation* rotation, const Temperature* temperature,
                  const TurnGradients& turns, const HeadsView<float>& gradient, int64_t head, int64_t first) {
  for (int64_t n = first; n < first + count; ++n, rows += gradient.dim) {
    if (rotation) {
      const Turn turn = QueryTurn(*rotation, n);
      TurnRowBack(rotation->layout, rotation->pairs, turn.cos, turn.sin, rows);
    }
    if (temperature) {
      if (turns.temperature) {
        double sum = 0;
        for (int64_t d = 0; d < gradient.dim; ++d) sum += static_cast<double>(turns.rows.row(head, n)[d]) * rows[d];
        *turns.temperature += sum * temperature->by_query[n];
      }
      ScaleRows(rows, 1, gradient.dim, FactorOf(*temperature, head, n), nullptr, rows);
    }
    if (turns.rotation) AddAngleGradients(*rotation, turns, head, n, rows);
    Add(rows, gradient.dim, gradient.row(head, n));
  }
}

void AddToKeys(float* rows, int64_t count, const Rotation* rotation, const TurnGradients& turns,
               const HeadsView<float>& gradient, int64_t head, int64_t first) {
  for (int64_t n = first; n < first + count; ++n, rows += gradient.dim) {
    if (rotation) {
      const Turn turn = KeyTurn(*rotation, n);
      TurnRowBack(rotation->layout, rotation->pairs, turn.cos, turn.sin, rows);
    }
    if (turns.rotation) AddAngleGradients(*rotation, turns, head, n, rows);
    Add(rows, gradient.dim, gradient.row(head, n));
  }
}

bool AllFinite(Rows rows, int64_t count, int64_t dim) {
  // x - x is 0 for finite x and NaN otherwise.
  v128_t sum = wasm_f32x4_splat(0.0f);
  float rest = 0;
  for (int64_t n = 0; n < count; ++n) {
    const float* row = rows.data + n * rows.stride;
    int64_t d = 0;
    for (; d + 4 <= dim; d += 4) {
      const v128_t x = wasm_v128_load(row + d);
      sum = wasm_f32x4_add(sum, wasm_f32x4_sub(x, x));
    }
    for (; d < dim; ++d) rest += row[d] - row[d];
  }
  return wasm_i32x4_all_true(wasm_f32x4_eq(sum, sum)) && rest == 0;
}

}  // namespace poslab
