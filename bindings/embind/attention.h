// SPDX-License-Identifier: MIT
// Attention and its gradients as calls with plain options (CoreAttentionCall in js/core-types.ts).
#pragma once

#include "attention/distances.h"
#include "message.h"

namespace poslab::border {

// { policy, window, group }
Distances DistancesOf(Value object);

void AttentionCall(double message);
void AttentionGradientsCall(double message);

}  // namespace poslab::border
