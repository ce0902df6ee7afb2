// SPDX-License-Identifier: MIT
// Attention and its gradients as calls with plain options (CoreAttentionCall in js/core-types.ts).
#pragma once

namespace poslab::border {

void AttentionCall(double message);
void AttentionGradientsCall(double message);

}  // namespace poslab::border
