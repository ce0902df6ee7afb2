// SPDX-License-Identifier: MIT
// A learned number a clipped distance and head: b_h(i, j) = table[clip(j - i, -k, k) + k][h]. What is left of Shaw et al.
// 2018 when vectors shrink to numbers; the relative position bias of Megatron's and torchscale's families without buckets.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: maxDistance k (128). Tensors: table [2k + 1, heads].
Result<std::unique_ptr<Scheme>> MakeRelativeScalar(const Description& description);

}  // namespace poslab
