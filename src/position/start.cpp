// SPDX-License-Identifier: MIT
#include "position/start.h"

#include <algorithm>

namespace poslab {

void DrawStart(const Start& start, float minimum, Random* random, std::span<float> values) {
  for (float& drawn : values) {
    double value = start.a;
    if (start.kind == Start::Kind::kNormal) value = start.a * random->Normal();
    if (start.kind == Start::Kind::kUniform) value = start.a + (start.b - start.a) * random->Uniform();
    drawn = std::max(static_cast<float>(value), minimum);
  }
}

}  // namespace poslab
