// SPDX-License-Identifier: MIT
// Images on their way into a stack (Dosovitskiy et al. 2021, ViT): patches as rows, and the learned grid of positions
// resized to another number of patches.
#pragma once

#include "base/buffer.h"
#include "base/status.h"
#include "transformer/architecture.h"

namespace poslab {

// pixels [channels, height, width] to rows [patches, channels * patch * patch]; patches row by row.
void CutPatches(const ImageDescription& image, int64_t height, int64_t width, const float* pixels, float* rows);

// Bicubic interpolation (Keys 1981, a = -0.75) with half-pixel centres, edges repeated and no antialiasing, as
// torch.nn.functional.interpolate does it: from [from_height * from_width, dim] to [to_height * to_width, dim].
void ResizeGrid(int64_t from_height, int64_t from_width, const float* from, int64_t to_height, int64_t to_width,
                int64_t dim, float* to);

}  // namespace poslab
