// SPDX-License-Identifier: MIT
// Sizes that do not fit are failures with the bytes asked for, never a crash.
#include "base/buffer.h"

#include <doctest/doctest.h>

namespace poslab {
namespace {

TEST_CASE("Products are exact or -1") {
  CHECK(CheckedProduct({}) == 1);
  CHECK(CheckedProduct({3, 4, 5}) == 60);
  CHECK(CheckedProduct({3, -4}) == -1);
  CHECK(CheckedProduct({int64_t{1} << 40, int64_t{1} << 40}) == -1);
  CHECK(CheckedProduct({int64_t{1} << 40, int64_t{1} << 40, 0}) == 0);
  CHECK(CheckedProduct({int64_t{1} << 31, int64_t{1} << 31}) == int64_t{1} << 62);
}

TEST_CASE("A buffer is zeroed and aligned, keeps its numbers when moved, and may be empty") {
  Result<Buffer<float>> made = Buffer<float>::Make("test", 1000);
  REQUIRE(made.ok());
  CHECK(reinterpret_cast<uintptr_t>(made->data()) % 16 == 0);
  for (float number : *made) CHECK(number == 0);
  (*made)[999] = 5;
  Buffer<float> moved = std::move(*made);
  CHECK(moved[999] == 5);
  REQUIRE(moved.Resize("test", 10).ok());
  CHECK(moved.size() == 10);
  CHECK(moved[9] == 0);
  REQUIRE(moved.ResizeForOverwrite("test", 0).ok());
  CHECK(moved.empty());
}

TEST_CASE("What cannot be had is a failure that says how many bytes, and the buffer lives on") {
  Buffer<double> buffer;
  const Status status = buffer.Resize("result", int64_t{1} << 50);
  CHECK(status.code() == Code::kMemory);
  CHECK(status.argument() == "result");
  CHECK(status.given_number() == 9007199254740992.0);
  CHECK(buffer.Resize("result", -1).code() == Code::kMemory);
  CHECK(buffer.Resize("result", 4).ok());
}

}  // namespace
}  // namespace poslab
