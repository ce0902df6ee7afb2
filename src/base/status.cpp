// SPDX-License-Identifier: MIT
// Out of line on purpose; see status.h.
#include "base/status.h"

namespace poslab {

Status::Status() = default;
Status::~Status() = default;
Status::Status(const Status& other) = default;
Status::Status(Status&& other) noexcept = default;
Status& Status::operator=(const Status& other) = default;
Status& Status::operator=(Status&& other) noexcept = default;

Status Status::Number(Code code, std::string_view argument, double given, std::string_view allowed, double limit0,
                      double limit1, double limit2) {
  Status status;
  status.code = code;
  status.argument = argument;
  status.given_number = given;
  status.allowed = allowed;
  status.limits[0] = limit0;
  status.limits[1] = limit1;
  status.limits[2] = limit2;
  return status;
}

Status Status::Text(Code code, std::string_view argument, std::string_view given, std::string_view allowed,
                    std::string_view suggestion) {
  Status status;
  status.code = code;
  status.argument = argument;
  status.given = given;
  status.allowed = allowed;
  status.suggestion = suggestion;
  return status;
}

}  // namespace poslab
