// SPDX-License-Identifier: MIT
// What crosses the border, as messages in the module's memory: a value is a header of two 32-bit words, its kind and its
// count, and what the kind says follows. js/core-calls.ts writes the arguments of a call and reads its answer; both sides
// know eleven kinds and nothing of the calls. Embind sees functions of one number, the message's address: a val for each
// field, and a type for each form, would be a quarter of the module and most of its glue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.h"

namespace poslab::border {

enum class Kind : uint32_t {
  kNull,     // nothing follows
  kTruth,    // count: 0 or 1
  kNumber,   // a double
  kText,     // count bytes of UTF-8, filled up to a multiple of 8
  kFloats,   // arrays of count numbers. In a call they follow at the next address that 16 divides, filled up to a
  kInts,     // multiple of 8; in an answer their own address follows, in 8 bytes.
  kBytes,    //
  kDoubles,  //
  kList,     // count values
  kObject,   // count pairs of a text and a value
  kHandle,   // an object of this module: the count is its address
  kEnd,      // in an answer: of the list or object that has begun, whose count is 0 there
};

// A value of a call. Looking for what is not there gives null.
class Value {
 public:
  Value();  // null
  explicit Value(const uint8_t* at) : at_(at) {}
  Kind kind() const { return static_cast<Kind>(Word(0)); }
  int64_t size() const { return Word(1); }  // of a list or an array
  double number() const;                    // 0 when it is none
  bool truth() const { return Word(1) != 0; }
  std::string_view text() const;
  double NumberAt(int64_t index) const;  // of an array of any kind
  // The array in place, when it is one of this kind.
  const void* Numbers(Kind kind) const;
  Value operator[](const char* name) const;  // the field of an object
  template <typename T>
  T& object() const {
    return *reinterpret_cast<T*>(static_cast<uintptr_t>(Word(1)));
  }

  // The values of a list, one after the other.
  class Iterator {
   public:
    Iterator(const uint8_t* at, int64_t left) : at_(at), left_(left) {}
    Value operator*() const { return Value(at_); }
    Iterator& operator++() {
      at_ = Value(at_).end_of_value(), --left_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return left_ != other.left_; }

   private:
    const uint8_t* at_;
    int64_t left_;
  };
  Iterator begin() const { return {at_ + 8, kind() == Kind::kList ? size() : 0}; }
  Iterator end() const { return {nullptr, 0}; }
  const uint8_t* end_of_value() const;

 private:
  uint32_t Word(int index) const { return reinterpret_cast<const uint32_t*>(at_)[index]; }

  const uint8_t* at_;
};

// The arguments of a call, in their order.
class Arguments {
 public:
  explicit Arguments(double message) : at_(reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(message))) {}
  Value Next() {
    const Value value(at_);
    at_ = value.end_of_value();
    return value;
  }
  double NextNumber() { return Next().number(); }
  int64_t NextCount() { return static_cast<int64_t>(NextNumber()); }

 private:
  const uint8_t* at_;
};

// What a call answers: one value, put together by these functions. Arrays stay where they are until the answer was read:
// those that nobody else owns are given to it.
class Answer {
 public:
  void Null() { Header(Kind::kNull, 0); }
  void Truth(bool truth) { Header(Kind::kTruth, truth); }
  void Number(double number);
  void Text(std::string_view text);
  void List() { Header(Kind::kList, 0); }
  void Object() { Header(Kind::kObject, 0); }
  void End() { Header(Kind::kEnd, 0); }
  template <typename T>
  void Handle(T* object) {
    Header(Kind::kHandle, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(object)));
  }
  void Array(std::span<const float> numbers) { Place(Kind::kFloats, numbers.size(), numbers.data()); }
  void Array(std::span<const int32_t> numbers) { Place(Kind::kInts, numbers.size(), numbers.data()); }
  void Array(std::span<const uint8_t> numbers) { Place(Kind::kBytes, numbers.size(), numbers.data()); }
  void Array(std::span<const double> numbers) { Place(Kind::kDoubles, numbers.size(), numbers.data()); }
  template <typename T>
  void Array(Buffer<T> buffer) {
    Array(std::span<const T>(buffer.span()));
    Keep(std::move(buffer));
  }
  template <typename T>
  void Keep(Buffer<T> buffer) {
    // Moved to where no destructor runs: Clear frees the memory.
    alignas(Buffer<T>) std::byte shell[sizeof(Buffer<T>)];
    kept_.push_back((new (shell) Buffer<T>(std::move(buffer)))->data());
  }

  // The name of the value that follows, in an object. Returns the answer, to go on with.
  Answer& Field(std::string_view name) {
    Text(name);
    return *this;
  }

  const char* bytes() const { return bytes_.data(); }
  void Clear();

 private:
  void Header(Kind kind, uint32_t count);
  void Place(Kind kind, size_t count, const void* numbers);

  std::string bytes_;
  std::vector<void*> kept_;
};

// The answer of the call that is running, or was the last.
Answer& TheAnswer();

}  // namespace poslab::border
