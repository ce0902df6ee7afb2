// SPDX-License-Identifier: MIT
// Attention and its gradients as calls with plain options (CoreAttentionCall in js/core-types.ts).
#pragma once

#include <emscripten/val.h>

namespace poslab::border {

using emscripten::val;

val AttentionCall(const val& scheme, const val& options);
val AttentionGradientsCall(const val& scheme, const val& options);

}  // namespace poslab::border
