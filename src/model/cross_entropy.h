// SPDX-License-Identifier: MIT
// Cross-entropy of rows of logits against target ids, in nats: -log softmax(logits)[target]. Rows whose target is -1 are
// not scored.
#pragma once

#include <cstdint>

namespace poslab {

// The sum over scored rows of their negative log-likelihood, in double and in the order of the rows. With `gradient`,
// each row of logits [rows, vocabulary] is replaced by scale * (softmax - one-hot(target)), rows not scored by zeros;
// otherwise the logits are left as they are.
double CrossEntropy(int64_t rows, int64_t vocabulary, const int32_t* targets, double scale, bool gradient,
                    float* logits);

// Per row: its negative log-likelihood (NaN where not scored), and 1 when no other logit is larger than the target's
// (0 where not scored). Either result may be null. [rows]
void ScoreRows(int64_t rows, int64_t vocabulary, const int32_t* targets, const float* logits, float* losses,
               uint8_t* correct);

}  // namespace poslab
