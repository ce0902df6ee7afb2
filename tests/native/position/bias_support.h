// SPDX-License-Identifier: MIT
// A bias of head and positions against its formula in double, and its gradients against finite differences of it.
#pragma once

#include <functional>
#include <map>

#include "scheme_support.h"

namespace poslab::testing {

using Parameters = std::map<std::string, std::vector<double>>;
// b_h(i, j) at positions i (query) and j (key).
using BiasFormula = std::function<double(const Parameters& parameters, int64_t head, int64_t i, int64_t j)>;

// Binds the scheme to the positions (at most 64 of each) and compares every entry, then the gradients that random
// weights on the entries give to every number of every tensor.
void CheckBias(const Scheme& scheme, Tensors* tensors, int64_t heads, Positions queries, Positions keys,
               const BiasFormula& formula);

}  // namespace poslab::testing
