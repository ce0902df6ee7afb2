// SPDX-License-Identifier: MIT
// The list of schemes: one line each. To add an encoding, write its pair of files and add its line in registry.cpp.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "position/scheme.h"

namespace poslab {

struct SchemeEntry {
  std::string_view type;   // the name in scheme objects
  std::string_view hooks;  // "embedding", "rotation", "score", "score value", ...
  Result<std::unique_ptr<Scheme>> (*make)(const Description& description);
};

// Every scheme, in the order of the literature.
std::span<const SchemeEntry> Schemes();
// For messages that list the schemes: where the others are, in a build that does not have every one; else empty.
std::string_view OtherSchemes();

// The scheme that `description` describes; kUnknownName with the nearest name, or what is wrong with a field.
Result<std::unique_ptr<Scheme>> MakeScheme(const Description& description);

}  // namespace poslab
