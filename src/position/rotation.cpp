// SPDX-License-Identifier: MIT
// Table filling, and whole tensors turned row by row.
#include "position/rotation.h"

#include <algorithm>

#include "base/math.h"
#include "position/angles.h"
#include "position/grid.h"
#include "position/turn.h"

namespace poslab {
namespace {

// Angles one by one: of positions with several axes, or tokens off the grid, which do not turn.
void FillByAxis(const FrequencyTable& frequencies, Positions positions, std::span<const uint8_t> axes, float* cosines,
                float* sines) {
  const double factor = frequencies.attention_factor;
  for (int64_t n = 0; n < positions.count; ++n) {
    for (int64_t k = 0; k < frequencies.inverse.size(); ++k, ++cosines, ++sines) {
      const int64_t id = positions.At(n, axes[static_cast<size_t>(k)]);
      const double phase = frequencies.phase.empty() ? 0 : frequencies.phase[k];
      const double angle = id == kOffGrid ? 0 : static_cast<double>(id) * frequencies.inverse[k] + phase;
      const SineAndCosine turned = SinCos(angle);
      *cosines = static_cast<float>(factor * turned.cosine);
      *sines = static_cast<float>(factor * turned.sine);
    }
  }
}

Status FillTables(const FrequencyTable& frequencies, Positions positions, std::span<const uint8_t> axes,
                  Buffer<float>* cosines, Buffer<float>* sines) {
  const int64_t pairs = frequencies.inverse.size();
  const int64_t size = CheckedProduct({positions.count, pairs});
  POSLAB_RETURN_IF_ERROR(cosines->ResizeForOverwrite("position", size));
  POSLAB_RETURN_IF_ERROR(sines->ResizeForOverwrite("position", size));
  if (positions.axes > 1) {
    FillByAxis(frequencies, positions, axes, cosines->data(), sines->data());
    return Status::Ok();
  }
  Result<AngleRows> angles = AngleRows::Make(positions, frequencies.inverse.span());
  if (!angles.ok()) return angles.status();
  const double factor = frequencies.attention_factor;
  for (int64_t n = 0; n < positions.count; ++n) {
    angles->Row(n);
    float* __restrict cos_row = cosines->data() + n * pairs, * __restrict sin_row = sines->data() + n * pairs;
    const double *cos = angles->cosines(), *sin = angles->sines();
    for (int64_t k = 0; k < pairs; ++k) cos_row[k] = static_cast<float>(factor * cos[k]);
    for (int64_t k = 0; k < pairs; ++k) sin_row[k] = static_cast<float>(factor * sin[k]);
  }
  return Status::Ok();
}

// Which key the first query is when the queries are a run of the keys (the last ones, where ids are given); -1 if not.
int64_t FirstQueryAmongKeys(Positions queries, Positions keys) {
  const bool regular = queries.contiguous() && keys.contiguous();
  const int64_t first = regular ? queries.start - keys.start : keys.count - queries.count;
  if (first < 0 || first + queries.count > keys.count) return -1;
  if (regular) return first;
  if (queries.axes != keys.axes) return -1;
  for (int64_t n = 0; n < queries.count; ++n)
    for (int64_t axis = 0; axis < keys.axes; ++axis)
      if (queries.At(n, axis) != keys.At(first + n, axis)) return -1;
  return first;
}

}  // namespace

Result<std::unique_ptr<Rotation>> MakeRotation(const FrequencyTable& frequencies, Rotation::Layout layout,
                                               Positions queries, Positions keys, std::span<const uint8_t> axes) {
  auto rotation = std::make_unique<Rotation>();
  rotation->layout = layout;
  rotation->pairs = frequencies.inverse.size();
  rotation->axes.assign(axes.begin(), axes.end());
  POSLAB_RETURN_IF_ERROR(FillTables(frequencies, keys, axes, &rotation->key_cos, &rotation->key_sin));
  rotation->query_row_in_key = FirstQueryAmongKeys(queries, keys);
  if (rotation->query_row_in_key < 0)
    POSLAB_RETURN_IF_ERROR(FillTables(frequencies, queries, axes, &rotation->query_cos, &rotation->query_sin));
  return rotation;
}

void TurnRows(const Rotation& rotation, int64_t heads, int64_t length, int64_t dim, const float* from, float* to,
              bool inverse) {
  const auto turn = inverse ? TurnRowsBack : TurnRowsOn;
  // All heads take a few rows before the next ones: the cosines and sines of these stay at hand.
  constexpr int64_t kRows = 64;
  for (int64_t first = 0; first < length; first += kRows) {
    const int64_t count = std::min(kRows, length - first);
    const Turn angles = KeyTurn(rotation, first);
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t at = (h * length + first) * dim;
      if (from != to) std::copy_n(from + at, count * dim, to + at);
      turn(rotation.layout, rotation.pairs, angles.cos, angles.sin, count, dim, to + at);
    }
  }
}

}  // namespace poslab
