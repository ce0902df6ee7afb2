// SPDX-License-Identifier: MIT
// Numbers to bytes and back, for a run's saved state. Little-endian, as every machine is that this runs on. A reader
// trusts nothing: each read checks what is left, and one that failed fails all the following.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace poslab {

static_assert(std::endian::native == std::endian::little, "states are copied byte for byte");

// Counts when it has no memory, writes when it has: the same calls are made twice.
class StateWriter {
 public:
  explicit StateWriter(uint8_t* data = nullptr) : data_(data) {}

  template <typename T>
  void Number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    Bytes(&value, sizeof value);
  }
  template <typename T>
  void Numbers(std::span<const T> values) {
    static_assert(std::is_arithmetic_v<T>);
    Bytes(values.data(), values.size_bytes());
  }
  void Text(std::string_view text) {
    Number<uint32_t>(static_cast<uint32_t>(text.size()));
    Bytes(text.data(), text.size());
  }
  int64_t size() const { return size_; }

 private:
  void Bytes(const void* bytes, size_t count) {
    if (data_ && count) std::memcpy(data_ + size_, bytes, count);
    size_ += static_cast<int64_t>(count);
  }

  uint8_t* data_;
  int64_t size_ = 0;
};

class StateReader {
 public:
  explicit StateReader(std::span<const uint8_t> data) : data_(data) {}

  template <typename T>
  T Number() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    Bytes(&value, sizeof value);
    return value;
  }
  template <typename T>
  void Numbers(std::span<T> values) {
    static_assert(std::is_arithmetic_v<T>);
    Bytes(values.data(), values.size_bytes());
  }
  // A text of at most `longest` bytes.
  std::string Text(uint32_t longest) {
    const uint32_t size = Number<uint32_t>();
    if (size > longest || size > data_.size() - offset_) good_ = false;
    if (!good_) return {};
    std::string text(reinterpret_cast<const char*>(data_.data() + offset_), size);
    offset_ += size;
    return text;
  }
  void Require(bool condition) { good_ = good_ && condition; }
  bool good() const { return good_; }
  int64_t left() const { return static_cast<int64_t>(data_.size() - offset_); }
  size_t offset() const { return offset_; }

 private:
  void Bytes(void* bytes, size_t count) {
    if (!good_ || count > data_.size() - offset_) {
      good_ = false;
      return;
    }
    if (count) std::memcpy(bytes, data_.data() + offset_, count);
    offset_ += count;
  }

  std::span<const uint8_t> data_;
  size_t offset_ = 0;
  bool good_ = true;
};

}  // namespace poslab
