// SPDX-License-Identifier: MIT
// Dynamic position bias (Wang et al. 2022, CrossFormer, section 3.2; the one-dimensional form of x-transformers): a small
// perceptron with SiLU makes the bias of every head from the signed distance i - j, or from sign(i - j) ln(1 + |i - j|).
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: width (32), depth (2) hidden layers, distance "linear" | "log" (linear). Tensors: weight1 [width, 1], bias1
// [width], weight2 [width, width], bias2, ..., the last weight [heads, width] and bias [heads].
Result<std::unique_ptr<Scheme>> MakeDynamicBias(const Description& description);

}  // namespace poslab
