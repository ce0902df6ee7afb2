// SPDX-License-Identifier: MIT
// Attention the slow, plain way, in double and with the whole matrix: what the engine is tested against. Not for use.
#pragma once

#include "attention/attention.h"

namespace poslab {

// All packed, [heads, queries, ...].
struct ReferenceResults {
  Buffer<double> output, log_sum_exp, weights, scores;
};

// Like Attention, every hook evaluated entry by entry in double (a tile hook, whose logits are floats, on tiles of one
// query and one key).
Status AttentionReference(const AttentionArguments& arguments, ReferenceResults* results);
// The same, rounded to what Attention gives.
Status AttentionReference(const AttentionArguments& arguments, AttentionResults* results);

}  // namespace poslab
