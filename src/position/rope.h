// SPDX-License-Identifier: MIT
// Rotary position embedding (Su et al. 2021, RoFormer, section 3.2): pair k of a query or key at position p is turned
// by p theta^(-2k / r), so that scores depend on the distance only. Half layout pairs lanes (k, k + r/2) (GPT-NeoX,
// Hugging Face's Llama), interleaved (2k, 2k + 1) (the paper, Meta's Llama, GPT-J). Scalings: rope_scaling.h.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: theta (10000), layout ("half"), rotaryDim (the head; the rest of the lanes stay as they are),
// maxPositionEmbeddings (none), scaling.* (none); learnedFrequencies (false): the tensor frequencyFactors [pairs], which
// starts at 1, multiplies them; noRopeLayerInterval n (none): every n-th layer does not turn (Llama 4, SmolLM3);
// temperature.* (none; temperature.h), where llama4 warms up only the layers that do not turn, if there are such.
// sections (none): how many pairs turn by each of a token's several ids (Qwen2-VL's M-RoPE: time, row, column), all with
// the frequencies of one rotation; sectionOrder "contiguous" (Qwen2-VL) or "interleaved" (Qwen3-VL: the axes take turns
// until their sections are used up, and the first has what is left). With one id a token it is that of every axis.
// Keeping the fastest frequencies alone (p-RoPE, Barbero et al. 2025) is the scaling "proportional".
Result<std::unique_ptr<Scheme>> MakeRope(const Description& description);

}  // namespace poslab
