// SPDX-License-Identifier: MIT
// A scheme by its name. The list has a file of its own (registry.cpp), so that a build can have a shorter one.
#include <string>
#include <vector>

#include "position/registry.h"

namespace poslab {

Result<std::unique_ptr<Scheme>> MakeScheme(const Description& description) {
  std::vector<std::string_view> known;
  for (const SchemeEntry& entry : Schemes()) {
    if (entry.type == description.type) return entry.make(description);
    known.push_back(entry.type);
  }
  return Status::Text(description.type.empty() ? Code::kMissing : Code::kUnknownName, "position.type", description.type,
                      OneOf(known).append(OtherSchemes()), NearestName(description.type, known));
}

}  // namespace poslab
