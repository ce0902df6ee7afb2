// SPDX-License-Identifier: MIT
// Sizes in 64 bits, checked before anything is asked for.
#include "base/buffer.h"

namespace poslab {

int64_t CheckedProduct(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  bool overflow = false, zero = false;
  for (int64_t factor : factors) {
    if (factor < 0) return -1;
    if (factor == 0) zero = true;
    overflow = __builtin_mul_overflow(product, factor, &product) || overflow;
  }
  // A zero anywhere makes the product zero, whatever overflowed on the way to it.
  if (zero) return 0;
  return overflow ? -1 : product;
}

}  // namespace poslab
