// SPDX-License-Identifier: MIT
// Rows of queries, keys and values on their way into the kernels: gathered from strided tensors, rotated, scaled,
// transposed into panels with queries as lanes, and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/attention.h"
#include "attention/visibility.h"

namespace poslab {

// Some rows of a head, `stride` floats apart.
struct Rows {
  const float* data = nullptr;
  ptrdiff_t stride = 0;
};

// Copies rows [first, first + count) of a head to `out` [count, dim], turned by the rotation (null: none). Rows that
// `key_mask` hides (null: none) become zeros, so that whatever they held can do no harm.
void PackKeys(const HeadsView<const float>& view, int64_t head, int64_t first, int64_t count, const Rotation* rotation,
              const uint8_t* key_mask, float* out);

// Queries likewise, and by their temperature (null: 1). Rows whose log_sum_exp (of this head; null: none) is -infinity
// become zeros.
void PackQueries(const HeadsView<const float>& view, int64_t head, int64_t first, int64_t count,
                 const Rotation* rotation, const Temperature* temperature, const float* log_sum_exp, float* out);

// out[n] = scale * (rows[n] + bias), [count, dim] packed; bias null: 0. `out` may be `rows`.
void ScaleRows(const float* rows, int64_t count, int64_t dim, float scale, const float* bias, float* out);

// Rows transposed into a panel [dim, kTile], as lanes; lanes from `count` up to the next multiple of 4 become zero.
void MakePanel(const float* rows, ptrdiff_t stride, int64_t count, int64_t dim, float* panel);

// Where the gradients of learned frequencies and temperatures are summed, and what they are worked out from.
struct TurnGradients {
  HeadsView<const float> rows;  // before they were turned
  Positions positions;
  double* rotation = nullptr;     // [pairs], or null: not wanted
  double* temperature = nullptr;  // of the head, or null
};

// Adds [count, dim] packed rows, turned back by the rotation (null: not) and the temperature, to rows of a gradient.
// Changes `rows`.
void AddToQueries(float* rows, int64_t count, const Rotation* rotation, const Temperature* temperature,
                  const TurnGradients& turns, const HeadsView<float>& gradient, int64_t head, int64_t first);
void AddToKeys(float* rows, int64_t count, const Rotation* rotation, const TurnGradients& turns,
               const HeadsView<float>& gradient, int64_t head, int64_t first);

// Whether no entry of the rows is NaN or infinite.
bool AllFinite(Rows rows, int64_t count, int64_t dim);

}  // namespace poslab
