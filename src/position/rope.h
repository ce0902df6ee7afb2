// SPDX-License-Identifier: MIT
// Rotary position embedding (Su et al. 2021, RoFormer, section 3.2): pair k of a query or key at position p is turned
// by p theta^(-2k / r), so that scores depend on the distance only. Half layout pairs lanes (k, k + r/2) (GPT-NeoX,
// Hugging Face's Llama), interleaved (2k, 2k + 1) (the paper, Meta's Llama, GPT-J). Scalings: rope_scaling.h.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: theta (10000), layout ("half"), rotaryDim (the head; the rest of the lanes stay as they are),
// maxPositionEmbeddings (none), scaling.* (none). No tensors.
Result<std::unique_ptr<Scheme>> MakeRope(const Description& description);

}  // namespace poslab
