// SPDX-License-Identifier: MIT
// Memory that says when it cannot be had: a movable, zero-filled array, 16-byte aligned. Sizes are checked in 64 bits
// against the address space (4 GiB in wasm32) before anything is asked for. Everything in the core that grows with a
// length lives in a Buffer; std::vector (which would abort without exceptions) is for small lists only.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/status.h"

namespace poslab {

// The largest number of bytes that one allocation may ask for.
constexpr uint64_t kMaxBytes = sizeof(void*) == 4 ? (uint64_t{1} << 32) - (uint64_t{1} << 16) : uint64_t{1} << 46;

// a * b * ..., or -1 when a factor is negative or the product does not fit in 63 bits.
int64_t CheckedProduct(std::initializer_list<int64_t> factors);

template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept : data_(other.data_), size_(other.size_) { other.data_ = nullptr, other.size_ = 0; }
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      std::free(data_);
      data_ = other.data_, size_ = other.size_;
      other.data_ = nullptr, other.size_ = 0;
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }

  // `count` zeros; kMemory naming `argument` and the bytes asked for when they cannot be had.
  static Result<Buffer> Make(std::string_view argument, int64_t count) {
    Buffer buffer;
    if (Status status = buffer.Resize(argument, count); !status.ok()) return status;
    return buffer;
  }

  // Makes room for `count` elements and zeroes them; what was there is gone. Keeps its memory when it is large enough.
  Status Resize(std::string_view argument, int64_t count) {
    POSLAB_RETURN_IF_ERROR(ResizeForOverwrite(argument, count));
    if (count > 0) std::memset(static_cast<void*>(data_), 0, static_cast<size_t>(count) * sizeof(T));
    return Status::Ok();
  }

  // The same without the zeroes, for results that are written whole: clearing them first would double the traffic.
  Status ResizeForOverwrite(std::string_view argument, int64_t count) {
    if (count < 0 || static_cast<uint64_t>(count) > kMaxBytes / sizeof(T))
      return OutOfMemory(argument, static_cast<double>(count) * sizeof(T));
    if (count > capacity_()) {
      std::free(data_);
      size_ = 0;
      const size_t bytes = (static_cast<size_t>(count) * sizeof(T) + 63) & ~size_t{63};
      data_ = static_cast<T*>(std::aligned_alloc(64, bytes));
      if (!data_) return OutOfMemory(argument, static_cast<double>(count) * sizeof(T));
    }
    size_ = count;
    return Status::Ok();
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](int64_t index) { return data_[index]; }
  const T& operator[](int64_t index) const { return data_[index]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, static_cast<size_t>(size_)}; }
  std::span<const T> span() const { return {data_, static_cast<size_t>(size_)}; }

 private:
  int64_t capacity_() const { return size_; }
  static Status OutOfMemory(std::string_view argument, double bytes) {
    return Status::Number(Code::kMemory, argument, bytes, "at most the memory that is left (wasm32 has 4 GiB in all)");
  }

  T* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace poslab
