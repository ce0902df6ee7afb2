// SPDX-License-Identifier: MIT
// Attention the slow, plain way, in double and with the whole matrix: what the engine is tested against. Not for use.
#pragma once

#include "attention/attention.h"

namespace poslab {

// Like Attention; every hook evaluated entry by entry in double.
Status AttentionReference(const AttentionArguments& arguments, AttentionResults* results);

}  // namespace poslab
