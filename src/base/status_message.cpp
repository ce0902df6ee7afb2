// SPDX-License-Identifier: MIT
// One sentence pattern for each code; the places {0}, {1}, {2} of `allowed` are filled in with the limits.
#include "base/status_message.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace poslab {
namespace {

std::string AllowedText(const Status& status) {
  std::string text;
  for (const char* c = status.allowed().c_str(); *c; ++c) {
    if (c[0] == '{' && c[1] >= '0' && c[1] <= '2' && c[2] == '}') {
      text += NumberText(status.limits()[c[1] - '0']);
      c += 2;
    } else {
      text += *c;
    }
  }
  return text;
}

std::string GivenText(const Status& status) {
  if (status.given_number()) return NumberText(*status.given_number());
  return status.given().empty() ? "" : "\"" + status.given() + "\"";
}

}  // namespace

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "Ok";
    case Code::kUnknownName:
      return "UnknownName";
    case Code::kType:
      return "Type";
    case Code::kShape:
      return "Shape";
    case Code::kRange:
      return "Range";
    case Code::kContradiction:
      return "Contradiction";
    case Code::kMissing:
      return "Missing";
    case Code::kMemory:
      return "Memory";
    case Code::kNotDefined:
      return "NotDefined";
    case Code::kFormat:
      return "Format";
    case Code::kDiverged:
      return "Diverged";
    case Code::kState:
      return "State";
  }
  return "";
}

std::string NumberText(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "infinity" : "-infinity";
  char text[64];
  if (number == std::floor(number) && std::fabs(number) < 1e18) {
    std::snprintf(text, sizeof text, "%.0f", number);
    return text;
  }
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, number);
    if (std::strtod(text, nullptr) == number) break;
  }
  return text;
}

std::string Message(const Status& status) {
  if (status.ok()) return "ok";
  const std::string allowed = AllowedText(status), given = GivenText(status);
  std::string text = status.argument().empty() ? "the call" : status.argument();
  switch (status.code()) {
    case Code::kMissing:
      text += " is missing";
      if (!allowed.empty()) text += ": " + allowed;
      break;
    case Code::kMemory:
      text += " would need " + given + " bytes";
      if (!allowed.empty()) text += "; " + allowed;
      break;
    case Code::kDiverged:
      text += " is no longer finite at step " + given;
      if (!allowed.empty()) text += "; " + allowed;
      break;
    case Code::kUnknownName:
      text += given.empty() ? " is not known" : " names " + given + ", which is not known";
      if (!allowed.empty()) text += "; allowed: " + allowed;
      break;
    default:
      if (!given.empty()) text += " is " + given;
      if (!allowed.empty()) text += (given.empty() ? " must be " : ", but must be ") + allowed;
      if (given.empty() && allowed.empty()) text += " is not allowed";
      break;
  }
  if (!status.suggestion().empty()) text += " (did you mean \"" + status.suggestion() + "\"?)";
  return text + ".";
}

}  // namespace poslab
