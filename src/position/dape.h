// SPDX-License-Identifier: MIT
// DAPE, data-adaptive positional encoding (Zheng et al. 2024, eq. 3 and the authors' code): a static bias B is adapted to
// the content by a perceptron over the logits and biases of all heads at once,
//   logit + B + f([logits of all heads, biases of all heads]),
// f with one hidden layer of leaky ReLUs (slope 0.01). B is any scheme of this library that is a bias of the distance.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: base, the type of the bias ("kerple"); width (32). Tensors: those of the base; weight1 [width, 2 heads], bias1
// [width], weight2 [heads, width], bias2 [heads].
Result<std::unique_ptr<Scheme>> MakeDape(const Description& description);

}  // namespace poslab
