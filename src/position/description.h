// SPDX-License-Identifier: MIT
// A scheme as plain data: the type's name and named fields, exactly the scheme object of the package and of the case
// files, with nested objects flattened by dots ("scaling.ropeType"). The bindings fill one in without knowing any
// scheme; the scheme checks it against its own table of fields.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace poslab {

struct Field {
  enum class Kind { kNumber, kBoolean, kText, kNumbers };
  std::string name;
  Kind kind = Kind::kNumber;
  double number = 0;
  bool boolean = false;
  std::string text;
  std::vector<double> numbers;
};

struct Description {
  std::string type;
  std::vector<Field> fields;
};

// As a FieldRule's minimum: above zero, zero itself excluded. As a maximum: no limit but that the number is finite.
constexpr double kAboveZero = 4.9406564584124654e-324;
constexpr double kNoLimit = 1.7976931348623157e+308;
// The largest whole number up to which every whole number is a double: the limit of counts and distances.
constexpr double kLargestWhole = 9007199254740992;

// One row of a scheme's table of fields: what it is called, what it may be, what it is when absent.
struct FieldRule {
  const char* name;
  Field::Kind kind;
  // numbers: inclusive limits; `integer` asks for a whole number. kNumbers: limits of each entry.
  double minimum = 0;
  double maximum = 0;
  bool integer = false;
  // texts: the choices, separated by '|'. An empty list allows any text.
  const char* choices = "";
  // kText fields that may be a list of numbers instead (ALiBi's slopes).
  bool or_numbers = false;
};

// Checks every field of `description` against `rules`: unknown names (with the nearest known one), kinds, NaN, limits,
// whole numbers, choices. Argument names are "position.<field>".
Status CheckFields(const Description& description, std::span<const FieldRule> rules);

// Look-ups after CheckFields; the default when the field is absent.
const Field* FindField(const Description& description, std::string_view name);
double NumberOr(const Description& description, std::string_view name, double otherwise);
bool BooleanOr(const Description& description, std::string_view name, bool otherwise);
std::string_view TextOr(const Description& description, std::string_view name, std::string_view otherwise);

// What is allowed where there are a few names: "one of half, interleaved".
std::string OneOf(std::span<const std::string_view> names);

// The entry of `known` with the smallest edit distance to `name`, or "" when none is near (more than a third changed).
std::string NearestName(std::string_view name, std::span<const std::string_view> known);

}  // namespace poslab
