// SPDX-License-Identifier: MIT
// Sizes in 64 bits, checked before anything is asked for.
#include "base/buffer.h"

#include <cstring>

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

BufferMemory& BufferMemory::operator=(BufferMemory&& other) noexcept {
  if (this != &other) {
    std::free(memory_);
    memory_ = std::exchange(other.memory_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

Status BufferMemory::Reserve(std::string_view argument, int64_t count, size_t element_bytes, bool zeroed) {
  const bool countable = count >= 0 && static_cast<uint64_t>(count) <= kMaxBytes / element_bytes;
  if (countable && count > size_) {
    std::free(memory_);
    size_ = 0;
    const size_t bytes = (static_cast<size_t>(count) * element_bytes + 63) & ~size_t{63};
    memory_ = std::aligned_alloc(64, bytes);
  }
  if (!countable || (count > 0 && !memory_)) {
    return Status::Number(Code::kMemory, argument, static_cast<double>(count) * static_cast<double>(element_bytes),
                          "at most the memory that is left (wasm32 has 4 GiB in all)");
  }
  size_ = count;
  if (zeroed && count > 0) std::memset(memory_, 0, static_cast<size_t>(count) * element_bytes);
  return Status::Ok();
}

}  // namespace poslab
