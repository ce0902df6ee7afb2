// SPDX-License-Identifier: MIT
// How the core reports failure: as values. A Status carries a code, the name of the argument, what was given and what
// is allowed, as data; the sentence is made from them at the border (base/status_message.h for C++ users, errors.ts for
// the package). The core never throws, prints or exits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace poslab {

// What kind of thing went wrong. The names (without the k) are the codes of the package's PosLabError.
enum class Code : uint8_t {
  kOk,
  kUnknownName,    // no scheme, field, task, ... is called this; `suggestion` holds the nearest known name
  kType,           // a number was needed and something else was given
  kShape,          // a tensor has another shape than the call needs
  kRange,          // a number outside what is allowed (NaN included)
  kContradiction,  // two arguments exclude each other
  kMissing,        // an argument or tensor that has no default was not given
  kMemory,         // memory that cannot be had; `given_number` is the number of bytes asked for
  kNotDefined,     // mathematically not defined (a position past a learned table)
  kFormat,         // bytes that are not what they claim to be
  kDiverged,       // training met a number that is not finite; `given_number` is the step
  kState,          // called at a time when it cannot work
};

// What a failure says. `allowed` is a sentence part with places {0}, {1}, {2} for `limits`, e.g. "an even number from 2
// to {0}".
struct Failure {
  Code code = Code::kOk;
  std::string argument;                // the public name: "position.rotaryDim", "query", "training.steps"
  std::string given;                   // what was given, when it was text; empty otherwise
  std::optional<double> given_number;  // what was given, when it was a number
  std::string allowed;
  double limits[3] = {0, 0, 0};
  std::string suggestion;  // the nearest known name, or empty
};

// Clang then hands a Status over as the pointer that it is, and sees that a null one needs no destroying.
#if defined(__clang__)
#define POSLAB_TRIVIAL_ABI [[clang::trivial_abi]]
#define POSLAB_ALWAYS_INLINE [[gnu::always_inline]]
#else
#define POSLAB_TRIVIAL_ABI
#define POSLAB_ALWAYS_INLINE
#endif

// Success, or a Failure of its own. Statuses are made, passed on and destroyed wherever something can fail: as one
// pointer, null when all is well, or this would be a tenth of the module.
class POSLAB_TRIVIAL_ABI Status {
 public:
  Status() = default;
  explicit Status(const Failure& failure) : failure_(Copy(&failure)) {}
  POSLAB_ALWAYS_INLINE ~Status() {
    if (failure_) Delete(failure_);
  }
  POSLAB_ALWAYS_INLINE Status(const Status& other) : failure_(Copy(other.failure_)) {}
  POSLAB_ALWAYS_INLINE Status(Status&& other) noexcept : failure_(other.failure_) { other.failure_ = nullptr; }
  // By value: what was held goes with `other`.
  POSLAB_ALWAYS_INLINE Status& operator=(Status other) noexcept {
    Failure* held = failure_;
    failure_ = other.failure_;
    other.failure_ = held;
    return *this;
  }

  POSLAB_ALWAYS_INLINE bool ok() const { return !failure_; }
  // What it says: when it is ok, what a Failure says that nothing was written into.
  Code code() const { return failure_ ? failure_->code : Code::kOk; }
  const std::string& argument() const { return failure().argument; }
  const std::string& given() const { return failure().given; }
  const std::optional<double>& given_number() const { return failure().given_number; }
  const std::string& allowed() const { return failure().allowed; }
  std::span<const double, 3> limits() const { return failure().limits; }
  const std::string& suggestion() const { return failure().suggestion; }
  const Failure& failure() const { return failure_ ? *failure_ : Nothing(); }
  // To say it better; there is nothing to write to when it is ok.
  Failure* operator->() { return failure_; }

  POSLAB_ALWAYS_INLINE static Status Ok() { return {}; }
  static Status Number(Code code, std::string_view argument, double given, std::string_view allowed, double limit0 = 0,
                       double limit1 = 0, double limit2 = 0);
  static Status Text(Code code, std::string_view argument, std::string_view given, std::string_view allowed,
                     std::string_view suggestion = {});

 private:
  static void Delete(Failure* failure);
  static Failure* Copy(const Failure* failure);  // null of null
  static const Failure& Nothing();

  Failure* failure_ = nullptr;
};

// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

// Returns the Status of `expression` from the surrounding function when it is not ok.
#define POSLAB_RETURN_IF_ERROR(expression)                                      \
  do {                                                                          \
    if (::poslab::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

}  // namespace poslab
