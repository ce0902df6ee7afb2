// SPDX-License-Identifier: MIT
// The sentence made from a Status names the argument, what was given, what is allowed and the nearest name.
#include "base/status_message.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace poslab {
namespace {

TEST_CASE("A number out of range is told with its limits") {
  CHECK(Message(Status::Number(Code::kRange, "heads", 0, "a whole number from {0} to {1}", 1, 64)) ==
        "heads is 0, but must be a whole number from 1 to 64.");
  CHECK(Message(Status::Number(Code::kRange, "x", std::nan(""), "below {2}", 0, 0, 0.5)) ==
        "x is NaN, but must be below 0.5.");
}

TEST_CASE("An unknown name is told with its nearest neighbour") {
  CHECK(Message(Status::Text(Code::kUnknownName, "task.type", "txt", "text|copy", "text")) ==
        "task.type names \"txt\", which is not known; allowed: text|copy (did you mean \"text\"?).");
}

TEST_CASE("Missing things, memory and divergence have sentences of their own") {
  CHECK(Message(Status::Text(Code::kMissing, "position.table", "", "a tensor")) ==
        "position.table is missing: a tensor.");
  CHECK(Message(Status::Number(Code::kMemory, "result", 4294688688.0, "at most {0} bytes can be asked for", 1e9)) ==
        "result would need 4294688688 bytes; at most 1000000000 bytes can be asked for.");
  CHECK(Message(Status::Number(Code::kDiverged, "loss", 17, "")) == "loss is no longer finite at step 17.");
  CHECK(Message(Status::Ok()) == "ok");
}

TEST_CASE("Numbers are written as people write them, and read back the same") {
  CHECK(NumberText(3) == "3");
  CHECK(NumberText(-0.5) == "-0.5");
  CHECK(NumberText(0.1) == "0.1");
  CHECK(NumberText(9007199254740992.0) == "9007199254740992");
  CHECK(NumberText(std::numeric_limits<double>::infinity()) == "infinity");
  for (double number : {1.0 / 3, 1e-300, 123456.789, 6.02214076e23}) CHECK(std::stod(NumberText(number)) == number);
}

TEST_CASE("Every code has its name") {
  CHECK(CodeName(Code::kOk) == "Ok");
  CHECK(CodeName(Code::kUnknownName) == "UnknownName");
  CHECK(CodeName(Code::kState) == "State");
  for (int code = 0; code <= static_cast<int>(Code::kState); ++code)
    CHECK_FALSE(CodeName(static_cast<Code>(code)).empty());
}

}  // namespace
}  // namespace poslab
