// SPDX-License-Identifier: MIT
// From the last rows to logits.
#include <algorithm>

#include "model/activation.h"
#include "model/pass_memory.h"
#include "transformer/transformer_parts.h"

namespace poslab {

Status Transformer::Parts::RunHead(float* rows, int64_t count, float* to) {
  const int64_t dim = architecture.dim;
  if (!architecture.head) {
    std::copy_n(rows, count * dim, to);
    return Status::Ok();
  }
  const HeadDescription& head = *architecture.head;
  if (head.transform) {
    POSLAB_RETURN_IF_ERROR(Grow(count * dim, &transformed));
    float* changed = transformed.data();
    Product(weights[tensors.transform.weight],
            {count, rows, dim, weights.numbers(tensors.transform.bias), changed, dim, false});
    ActivationForward(*head.transform, count * dim, changed, changed, nullptr);
    last().stack.Norm(tensors.head_norm, count, changed, changed);
    rows = changed;
  }
  if (head.scale != 1)
    for (int64_t n = 0; n < count * dim; ++n) rows[n] *= static_cast<float>(head.scale);
  Product(weights[tensors.head.weight],
          {count, rows, dim, weights.numbers(tensors.head.bias), to, head.outputs, false});
  return Status::Ok();
}

}  // namespace poslab
