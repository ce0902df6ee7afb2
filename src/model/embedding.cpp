// SPDX-License-Identifier: MIT
#include "model/embedding.h"

#include <cstring>

#include "model/linear.h"

namespace poslab {

void EmbeddingForward(int64_t batch, int64_t length, int64_t dim, const int32_t* ids, const float* table,
                      const float* positional, float* x) {
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < length; ++i) {
      float* row = x + (b * length + i) * dim;
      std::memcpy(row, table + ids[b * length + i] * dim, static_cast<size_t>(dim) * sizeof(float));
      if (positional) AddInto(dim, positional + i * dim, row);
    }
  }
}

void EmbeddingBackward(int64_t batch, int64_t length, int64_t dim, const int32_t* ids, const float* x_gradient,
                       float* table_gradient, float* positional_gradient) {
  for (int64_t row = 0; row < batch * length; ++row)
    AddInto(dim, x_gradient + row * dim, table_gradient + ids[row] * dim);
  if (!positional_gradient) return;
  for (int64_t b = 0; b < batch; ++b) AddInto(length * dim, x_gradient + b * length * dim, positional_gradient);
}

}  // namespace poslab
