// SPDX-License-Identifier: MIT
#include "transformer/image.h"

#include <algorithm>
#include <cmath>

namespace poslab {
namespace {

constexpr double kSharpness = -0.75;

// The kernel at a distance of at most 1, and from there to 2.
double Near(double x) { return ((kSharpness + 2) * x - (kSharpness + 3)) * x * x + 1; }
double Far(double x) { return ((kSharpness * x - 5 * kSharpness) * x + 8 * kSharpness) * x - 4 * kSharpness; }

// The four entries of an axis that place `index` of the resized axis reads, and their shares.
struct Taps {
  int64_t at[4];
  double share[4];

  Taps(int64_t index, int64_t from, int64_t to) {
    const double place = (static_cast<double>(index) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
    const double whole = std::floor(place), rest = place - whole;
    for (int64_t n = 0; n < 4; ++n) at[n] = std::clamp(static_cast<int64_t>(whole) - 1 + n, int64_t{0}, from - 1);
    share[0] = Far(rest + 1), share[1] = Near(rest), share[2] = Near(1 - rest), share[3] = Far(2 - rest);
  }
};

}  // namespace

void CutPatches(const ImageDescription& image, int64_t height, int64_t width, const float* pixels, float* rows) {
  const int64_t patch = image.patch;
  for (int64_t top = 0; top < height; top += patch)
    for (int64_t left = 0; left < width; left += patch)
      for (int64_t channel = 0; channel < image.channels; ++channel)
        for (int64_t y = 0; y < patch; ++y, rows += patch)
          std::copy_n(pixels + (channel * height + top + y) * width + left, patch, rows);
}

void ResizeGrid(int64_t from_height, int64_t from_width, const float* from, int64_t to_height, int64_t to_width,
                int64_t dim, float* to) {
  for (int64_t y = 0; y < to_height; ++y) {
    const Taps rows(y, from_height, to_height);
    for (int64_t x = 0; x < to_width; ++x, to += dim) {
      const Taps columns(x, from_width, to_width);
      for (int64_t c = 0; c < dim; ++c) {
        double sum = 0;
        for (int m = 0; m < 4; ++m)
          for (int n = 0; n < 4; ++n)
            sum += rows.share[m] * columns.share[n] *
                   static_cast<double>(from[(rows.at[m] * from_width + columns.at[n]) * dim + c]);
        to[c] = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace poslab
