// SPDX-License-Identifier: MIT
// FIRE, functional interpolation for relative positions (Li et al. 2024, eq. 4 and appendix listing): a perceptron of the
// distance as a share of how far the query can look,
//   b_h(i, j) = f_h(ln(|c| |i - j| + 1) / (ln(|c| max(i, |m| threshold) + 1) + 1e-6)),
// f with one hidden layer of ReLUs; c and m are learned with it.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: width (32), threshold (512). Tensors: c [1] (starts at 0.1), lengthFactor m [1] (1), weight1 [width, 1], bias1
// [width], weight2 [heads, width], bias2 [heads].
Result<std::unique_ptr<Scheme>> MakeFire(const Description& description);

}  // namespace poslab
