// SPDX-License-Identifier: MIT
// xPos (Sun et al. 2022, "A Length-Extrapolatable Transformer", section 2.2): RoPE whose pair k is also damped with the
// distance, by z_k^((i - j) / scaleBase) with z_k = (2k / D + 0.4) / 1.4. The paper multiplies q and k by opposite
// powers of their positions, which leave float32 some 36,000 positions from the centre; here both powers are taken
// from a centre inside the tile, so that only the distance matters and any position works.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: theta (10000), scaleBase (512), layout ("interleaved"). No tensors. Keys far to the right of a query (without
// a causal mask) grow without bound by the formula; the growth of one pair stops at 2^60.
Result<std::unique_ptr<Scheme>> MakeXpos(const Description& description);

}  // namespace poslab
