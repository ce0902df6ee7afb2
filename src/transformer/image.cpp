// SPDX-License-Identifier: MIT
#include "transformer/image.h"

#include <algorithm>

namespace poslab {

void CutPatches(const ImageDescription& image, int64_t height, int64_t width, const float* pixels, float* rows) {
  const int64_t patch = image.patch;
  for (int64_t top = 0; top < height; top += patch)
    for (int64_t left = 0; left < width; left += patch)
      for (int64_t channel = 0; channel < image.channels; ++channel)
        for (int64_t y = 0; y < patch; ++y, rows += patch)
          std::copy_n(pixels + (channel * height + top + y) * width + left, patch, rows);
}

}  // namespace poslab
