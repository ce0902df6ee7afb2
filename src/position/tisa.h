// SPDX-License-Identifier: MIT
// TISA, translation-invariant self-attention (Wennberg & Henter 2021, eq. 6): a sum of bells over the distance,
//   b_h(i, j) = sum over s of a_hs exp(-|w_hs| (j - i - c_hs)^2),
// with amplitudes a, sharpnesses w and offsets c learned.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: kernels S (5). Tensors: amplitudes, sharpnesses, offsets [heads, S].
Result<std::unique_ptr<Scheme>> MakeTisa(const Description& description);

}  // namespace poslab
