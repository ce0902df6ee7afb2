// SPDX-License-Identifier: MIT
// Learned tables of positions made longer or shorter: each new row is a mean of old ones.
#pragma once

#include <cstdint>
#include <vector>

namespace poslab {

// An old place and its share in a new one.
struct Tap {
  int64_t at = 0;
  double share = 0;
};

// What place `index` of an axis of `to` places reads of its `from` old ones: bicubic interpolation (Keys 1981) with
// half-pixel centres and repeated edges, as torch.nn.functional.interpolate does it for a target size. Without
// antialiasing the kernel has a = -0.75 and four taps; with it a = -0.5, and it widens where the axis gets shorter.
std::vector<Tap> BicubicTaps(int64_t index, int64_t from, int64_t to, bool antialias);

// A whole grid: from [from_height * from_width, dim] to [to_height * to_width, dim].
void ResizeGrid(int64_t from_height, int64_t from_width, const float* from, int64_t to_height, int64_t to_width,
                int64_t dim, float* to, bool antialias = false);

// Linear interpolation in one dimension by which the first and the last row stay the first and the last: row `index` of
// `to` lies at index (from - 1) / (to - 1). Two taps.
std::vector<Tap> StretchTaps(int64_t index, int64_t from, int64_t to);

// Rows 0 .. rows - 1 of `table` [rows, dim] stretched to `length` rows.
void StretchTable(const float* table, int64_t rows, int64_t dim, int64_t length, float* stretched);

}  // namespace poslab
