// SPDX-License-Identifier: MIT
// No positional encoding ("NoPE", Haviv et al. 2022, Kazemnejad et al. 2023): only the causal mask carries order. Also
// the scheme of cross-attention.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// No fields, no tensors.
Result<std::unique_ptr<Scheme>> MakeNone(const Description& description);

}  // namespace poslab
