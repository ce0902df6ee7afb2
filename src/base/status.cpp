// SPDX-License-Identifier: MIT
// Failures are made, copied and deleted here only; see status.h.
#include "base/status.h"

namespace poslab {

void Status::Delete(Failure* failure) { delete failure; }
Failure* Status::Copy(const Failure* failure) { return failure ? new Failure(*failure) : nullptr; }
const Failure& Status::Nothing() {
  static const Failure nothing;
  return nothing;
}

Status Status::Number(Code code, std::string_view argument, double given, std::string_view allowed, double limit0,
                      double limit1, double limit2) {
  return Status({code, std::string(argument), {}, given, std::string(allowed), {limit0, limit1, limit2}, {}});
}

Status Status::Text(Code code, std::string_view argument, std::string_view given, std::string_view allowed,
                    std::string_view suggestion) {
  return Status(
      {code, std::string(argument), std::string(given), {}, std::string(allowed), {}, std::string(suggestion)});
}

}  // namespace poslab
