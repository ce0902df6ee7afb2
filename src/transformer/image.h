// SPDX-License-Identifier: MIT
// Images on their way into a stack (Dosovitskiy et al. 2021, ViT): patches as rows.
#pragma once

#include "base/buffer.h"
#include "base/status.h"
#include "transformer/architecture.h"

namespace poslab {

// pixels [channels, height, width] to rows [patches, channels * patch * patch]; patches row by row.
void CutPatches(const ImageDescription& image, int64_t height, int64_t width, const float* pixels, float* rows);

}  // namespace poslab
