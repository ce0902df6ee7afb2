// SPDX-License-Identifier: MIT
// Position ids drawn at random, for training on positions beyond the trained length:
//   randomized  a sorted sample of ids below `maximum`, none twice           (Ruoss et al. 2023, section 3)
//   shift       0, 1, ... plus one number from 0 to `maximum`                  (Kiyono et al. 2021, SHAPE)
//   pose        chunks of nearly equal length; before each but the first a random number of ids is skipped, so that the
//               last id stays below `maximum`                                    (Zhu et al. 2024, PoSE, section 3.2)
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/status.h"

namespace poslab {

struct PositionDraw {
  enum class Policy { kRandomized, kShift, kPose } policy = Policy::kRandomized;
  int64_t maximum = 0;
  int64_t chunks = 2;  // of pose
};

// kRange for a maximum below the length (shift: below 0) or above 2^31, and chunks that there are not ids for. Arguments
// are named `prefix` + "maximum", "chunks".
Status CheckPositionDraw(const PositionDraw& draw, int64_t length, const char* prefix);

// The largest id that can be drawn.
int64_t LargestDrawn(const PositionDraw& draw, int64_t length);

// ids [length]; the draw has passed CheckPositionDraw.
void DrawPositions(const PositionDraw& draw, int64_t length, Random* random, int64_t* ids);

}  // namespace poslab
