// SPDX-License-Identifier: MIT
// ALiBi (Press, Smith, Lewis 2022, "Train Short, Test Long", section 3): the logit of query i and key j gets
// -slope_h * |i - j|. The standard slopes are those of the authors' code for any number of heads: with P the largest
// power of two <= H, 2^(-8h/P) for h = 1..P, then every other one of the series for 2P heads.
#pragma once

#include <cstdint>
#include <memory>

#include "base/buffer.h"
#include "position/scheme.h"

namespace poslab {

// The standard slopes of `heads` heads, each in double and rounded once. [heads]
Result<Buffer<float>> AlibiSlopes(int64_t heads);

// Fields: slopes, "standard" or one number a head ("standard"); futureSlopes, one number a head for keys after the query
// (as slopes: the authors' issue 5 on encoders); biasedHeads, so that the first of them have the standard slopes of that
// many heads and the others none (x-transformers).
Result<std::unique_ptr<Scheme>> MakeAlibi(const Description& description);

}  // namespace poslab
