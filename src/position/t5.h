// SPDX-License-Identifier: MIT
// T5's relative bias (Raffel et al. 2020, section 2.1): one learned number per head and bucket of the distance j - i,
// shared by all layers. T5 itself leaves its logits unscaled (attention's `scale` 1); that is not decided here.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: buckets (32), maxDistance (128), bidirectional (false).
// Tensors: table [buckets, H], shared by all layers; starts normal with standard deviation 0.02.
Result<std::unique_ptr<Scheme>> MakeT5(const Description& description);

}  // namespace poslab
