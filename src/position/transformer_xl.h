// SPDX-License-Identifier: MIT
// Transformer-XL's relative attention (Dai et al. 2019, section 3.3):
//   score(i, j) = ((q_i + u_h) . k_j + (q_i + v_h) . W_r,h R(i - j)) / sqrt(D)
// with R the sinusoid of the distance, sines then cosines. It is a band of projected sinusoids, one row for every
// distance that can occur (both directions, any Lq and Lk), and u added to the query of the content term. The matrix is
// never shifted, so that nothing depends on a mask. Long tables of many heads are made row by row as they are needed.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: base (10000); clampLength (none): distances are clamped to [-clampLength, clampLength].
// Tensors: projection W_r [H*D, dModel] (dModel even: the width of the sinusoid; starts normal with deviation
// dModel^-1/2, decays), contentBias u [H, D], positionBias v [H, D] (start at 0).
Result<std::unique_ptr<Scheme>> MakeTransformerXl(const Description& description);

}  // namespace poslab
