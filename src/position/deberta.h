// SPDX-License-Identifier: MIT
// Disentangled attention (He et al. 2021, DeBERTa, eq. 4): beside q . k a query meets the relative key of its distance and
// a key the relative query,
//   logit = (q_i . k_j + q_i . K_r[delta] + k_j . Q_r[delta]) / sqrt(terms D),   K_r = P W_k^T, Q_r = P W_q^T a head,
// delta = clip(bucket(i - j) + span, 0, 2 span - 1), which is the row of both tables in the released code (the paper
// writes delta(j, i) for the second). Without buckets (v1) span is maxDistance; with them (v2, v3) distances beyond half
// of the buckets share logarithmic ones up to maxDistance and span is the number of buckets.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: maxDistance (128), buckets (none), terms "both" | "c2p" | "p2c" (both). Tensors: table P [2 span, dim],
// keyProjection W_k and queryProjection W_q [heads * headDim, dim], as the terms need them.
// A call's own scale takes the place of the whole 1 / sqrt(terms D).
Result<std::unique_ptr<Scheme>> MakeDeberta(const Description& description);

}  // namespace poslab
