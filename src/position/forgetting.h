// SPDX-License-Identifier: MIT
// The forgetting transformer's decay, also called data-dependent ALiBi (Lin et al. 2025, "Forgetting Transformer: softmax
// attention with a forget gate", eq. 6): every token has a gate a head, and the logit gets the gates that lie between,
//   log f_t = log sigmoid(w_h . x_t + b_h),   b_h(i, j) = sum over t = j + 1 .. i of log f_t.
// In a model the gates come from the rows that attention gets; in a single call they are given (`gates`). Keys after the
// query and hidden keys do not count. Sums run along the row, never as differences of long sums.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// No fields. Tensors, in a model: gateWeight w [heads, dim], gateBias b [heads] (starts at 5, as in x-transformers).
Result<std::unique_ptr<Scheme>> MakeForgetting(const Description& description);

}  // namespace poslab
