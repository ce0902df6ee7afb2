// SPDX-License-Identifier: MIT
// CoPE, contextual position encoding (Golovneva et al. 2024, eqs. 3-6): how far a key is back is counted in gates,
//   g_it = sigmoid(logit_it), p_ij = min(sum over t = j .. i of g_it, P - 1),
// and the logit gets q(i) . e(p_ij), between whole counts by linear interpolation. Gates are those of the scaled content
// logits and q is not scaled, as in the authors' listing. Keys after the query have no count and get nothing.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: positions P (64). Tensors: table e [P, headDim], of all heads.
Result<std::unique_ptr<Scheme>> MakeCope(const Description& description);

}  // namespace poslab
