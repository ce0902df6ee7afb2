// SPDX-License-Identifier: MIT
// PoPE, polar position embedding (Gopalakrishnan et al. 2025; x-transformers' PolarEmbedding): every lane of a query or
// key is a length softplus(x), turned by the position with a frequency of its own,
//   logit = scale * sum over lanes c of softplus(q_c) softplus(k_c) cos((j - i) theta^(-c / D) + delta_hc),
// so that what and where do not mix. The phases delta are learned and used within [-2 pi, 0].
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: theta (10000). Tensors: phases delta [heads, headDim] (start at 0).
Result<std::unique_ptr<Scheme>> MakePope(const Description& description);

}  // namespace poslab
