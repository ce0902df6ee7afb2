// SPDX-License-Identifier: MIT
// Sandwich (Chi et al. 2023, "Dissecting transformer length extrapolation via the lens of receptive field analysis", the
// listing of the appendix): the product of two sinusoidal vectors of `dim` numbers alone, compressed by head,
//   b_h(i, j) = (sum over k = 0 .. dim/2 - 1 of cos((j - i) 10000^(-2k / dim))) / (8 h / H), h = 1 .. H.
// Nothing is learned. NeMo counts k from 1 and subtracts dim/2 (the latter is the same after the softmax).
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: base (10000), dim (128). No tensors.
Result<std::unique_ptr<Scheme>> MakeSandwich(const Description& description);

}  // namespace poslab
