// SPDX-License-Identifier: MIT
// KERPLE (Chi et al. 2022, "Kernelized Relative Positional Embedding for Length Extrapolation", equations 6 and 7): a
// learned, conditionally positive definite kernel of the distance as bias, with two positive numbers a head:
//   log: -r1 ln(1 + r2 |i - j|)        power: -r1 |i - j|^r2, 0 < r2 <= 2
// Symmetric in i and j (the authors' code gives keys to the right no bias; under a causal mask that is the same).
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: kind ("log"). Tensors: r1 [H], r2 [H]; start uniform in (0, 2) and (0, 1), kept at or above 0.01.
Result<std::unique_ptr<Scheme>> MakeKerple(const Description& description);

}  // namespace poslab
