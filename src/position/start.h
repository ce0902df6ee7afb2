// SPDX-License-Identifier: MIT
// Drawing the numbers that a learnable tensor starts with: for models, and for looking at a scheme without one.
#pragma once

#include <span>

#include "base/random.h"
#include "position/scheme.h"

namespace poslab {

// Start values in the order of memory, none below `minimum`.
void DrawStart(const Start& start, float minimum, Random* random, std::span<float> values);

}  // namespace poslab
