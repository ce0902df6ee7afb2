// SPDX-License-Identifier: MIT
// The sentence of a Status, for C++ users: the argument's name, what was given, what is allowed, and the nearest known
// name. The package makes its own sentences from the same data, so the wasm build does not contain this file.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace poslab {

// "UnknownName", "Shape", ...: the code without its k.
std::string_view CodeName(Code code);

// "position.rotaryDim is 5, but must be an even number from 2 to 64." "ok" for Status::Ok().
std::string Message(const Status& status);

// A number as people write it: whole numbers without a point, others with as many digits as tell them apart.
std::string NumberText(double number);

}  // namespace poslab
