// SPDX-License-Identifier: MIT
// Relative position representations (Shaw, Uszkoreit, Vaswani 2018, equations 3 and 4): each distance j - i, clipped to
// [-k, k], has a vector a^K that meets the query and, optionally, a vector a^V that is added to the value:
//   score(i, j) = q_i . (k_j + a^K) / sqrt(D),   output_i = sum_j a_ij (v_j + a^V).
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: maxDistance (16), the k of the paper.
// Tensors: keys [2k+1, D] or [H, 2k+1, D], row (j - i) + k; values likewise with the value's width, optional. To be
// learned from nothing: both, shared by the heads of a layer, normal with standard deviation 0.02.
Result<std::unique_ptr<Scheme>> MakeShaw(const Description& description);

}  // namespace poslab
