// SPDX-License-Identifier: MIT
// Memory that says when it cannot be had: a movable, zero-filled array, 16-byte aligned. Sizes are checked in 64 bits
// against the address space (4 GiB in wasm32) before anything is asked for. Everything in the core that grows with a
// length lives in a Buffer; std::vector (which would abort without exceptions) is for small lists only.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/status.h"

namespace poslab {

// The largest number of bytes that one allocation may ask for.
constexpr uint64_t kMaxBytes = sizeof(void*) == 4 ? (uint64_t{1} << 32) - (uint64_t{1} << 16) : uint64_t{1} << 46;

// a * b * ..., or -1 when a factor is negative or the product does not fit in 63 bits.
int64_t CheckedProduct(std::initializer_list<int64_t> factors);

// What every Buffer is, whatever its elements are: one copy of the code for all of them.
class BufferMemory {
 public:
  BufferMemory() = default;
  BufferMemory(BufferMemory&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  BufferMemory& operator=(BufferMemory&& other) noexcept;
  BufferMemory(const BufferMemory&) = delete;
  BufferMemory& operator=(const BufferMemory&) = delete;
  ~BufferMemory() { std::free(memory_); }

 protected:
  // Room for `count` elements of `element_bytes`; what was there is gone.
  Status Reserve(std::string_view argument, int64_t count, size_t element_bytes, bool zeroed);

  void* memory_ = nullptr;
  int64_t size_ = 0;
};

template <typename T>
class Buffer : public BufferMemory {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // `count` zeros; kMemory naming `argument` and the bytes asked for when they cannot be had.
  static Result<Buffer> Make(std::string_view argument, int64_t count) {
    Buffer buffer;
    if (Status status = buffer.Resize(argument, count); !status.ok()) return status;
    return buffer;
  }

  // Makes room for `count` elements and zeroes them; what was there is gone. Keeps its memory when it is large enough.
  Status Resize(std::string_view argument, int64_t count) { return Reserve(argument, count, sizeof(T), true); }

  // The same without the zeroes, for results that are written whole: clearing them first would double the traffic.
  Status ResizeForOverwrite(std::string_view argument, int64_t count) {
    return Reserve(argument, count, sizeof(T), false);
  }

  T* data() { return static_cast<T*>(memory_); }
  const T* data() const { return static_cast<const T*>(memory_); }
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](int64_t index) { return data()[index]; }
  const T& operator[](int64_t index) const { return data()[index]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  std::span<T> span() { return {data(), static_cast<size_t>(size_)}; }
  std::span<const T> span() const { return {data(), static_cast<size_t>(size_)}; }
};

}  // namespace poslab
