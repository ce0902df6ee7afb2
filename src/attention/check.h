// SPDX-License-Identifier: MIT
// What is refused before any memory is touched, beside CheckAttention of attention.h.
#pragma once

#include "attention/attention.h"

namespace poslab {

Status CheckResults(const AttentionArguments& arguments, const AttentionResults& results);
Status CheckGradients(const AttentionArguments& arguments, const AttentionGradientArguments& forward,
                      const AttentionGradients& gradients);

}  // namespace poslab
