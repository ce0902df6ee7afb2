// SPDX-License-Identifier: MIT
// Token embedding: rows of a table by id, plus the rows of a positional table that all sequences of a batch share.
#pragma once

#include <cstdint>

namespace poslab {

// x[b, i, :] = table[ids[b, i]] (+ positional[i]); ids [batch, length] in range, positional [length, dim] or null.
void EmbeddingForward(int64_t batch, int64_t length, int64_t dim, const int32_t* ids, const float* table,
                      const float* positional, float* x);
// Accumulates; a repeated id gets the sum, in the order of the rows. positional_gradient [length, dim] or null.
void EmbeddingBackward(int64_t batch, int64_t length, int64_t dim, const int32_t* ids, const float* x_gradient,
                       float* table_gradient, float* positional_gradient);

}  // namespace poslab
