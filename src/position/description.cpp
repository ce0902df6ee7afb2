// SPDX-License-Identifier: MIT
// Checking a scheme object against its table of fields, and the nearest known name by edit distance (optimal string
// alignment: insertions, deletions, replacements and swaps of neighbours count one each; case does not count).
#include "position/description.h"

#include <algorithm>
#include <cmath>

namespace poslab {
namespace {

constexpr size_t kLongestName = 64;  // longer "names" come from broken input and get no suggestion

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

size_t EditDistance(std::string_view a, std::string_view b) {
  size_t rows[3][kLongestName + 1];
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t* row = rows[i % 3];
    const size_t *before = rows[(i - 1) % 3], *two_before = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1])) {
        row[j] = std::min(row[j], two_before[j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

std::string_view AfterDot(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

const char* KindText(const FieldRule& rule) {
  if (rule.or_numbers) return "one of the known words, or a list of numbers";
  switch (rule.kind) {
    case Field::Kind::kNumber:
      return "a number";
    case Field::Kind::kBoolean:
      return "true or false";
    case Field::Kind::kText:
      return "a text";
    case Field::Kind::kNumbers:
      return "a list of numbers";
  }
  return "";
}

std::vector<std::string_view> Choices(const FieldRule& rule) {
  std::vector<std::string_view> choices;
  for (std::string_view rest = rule.choices; !rest.empty();) {
    const size_t bar = rest.find('|');
    choices.push_back(rest.substr(0, bar));
    rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
  }
  return choices;
}

Status WrongKind(std::string_view argument, const Field& field, const FieldRule& rule) {
  const std::string allowed =
      rule.kind == Field::Kind::kText && *rule.choices ? OneOf(Choices(rule)) : std::string(KindText(rule));
  switch (field.kind) {
    case Field::Kind::kNumber:
      return Status::Number(Code::kType, argument, field.number, allowed);
    case Field::Kind::kBoolean:
      return Status::Text(Code::kType, argument, field.boolean ? "true" : "false", allowed);
    case Field::Kind::kText:
      return Status::Text(Code::kType, argument, field.text, allowed);
    case Field::Kind::kNumbers:
      return Status::Text(Code::kType, argument, "a list of numbers", allowed);
  }
  return Status::Ok();
}

// The limits of a rule as a phrase, by which of them there are.
const char* RangeText(const FieldRule& rule) {
  const bool above = rule.minimum > -kNoLimit, below = rule.maximum < kNoLimit;
  if (rule.minimum == kAboveZero) return below ? "a number above 0 and at most {1}" : "a number above 0";
  if (rule.integer) {
    if (above && rule.maximum >= kLargestWhole) return "a whole number of at least {0}";
    return above || below ? "a whole number from {0} to {1}" : "a whole number";
  }
  if (above) return below ? "a number from {0} to {1}" : "a number of at least {0}";
  return below ? "a number of at most {1}" : "a finite number";
}

Status CheckNumber(std::string_view argument, double number, const FieldRule& rule) {
  const bool whole = !rule.integer || number == std::floor(number);
  if (std::isfinite(number) && number >= rule.minimum && number <= rule.maximum && whole) return Status::Ok();
  return Status::Number(Code::kRange, argument, number, RangeText(rule), rule.minimum, rule.maximum);
}

Status CheckChoice(std::string_view argument, std::string_view text, const FieldRule& rule) {
  const std::vector<std::string_view> choices = Choices(rule);
  if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) return Status::Ok();
  return Status::Text(Code::kUnknownName, argument, text, OneOf(choices), NearestName(text, choices));
}

Status CheckField(const Field& field, const FieldRule& rule) {
  const std::string argument = "position." + field.name;
  const bool list_instead = rule.or_numbers && field.kind == Field::Kind::kNumbers;
  if (field.kind != rule.kind && !list_instead) return WrongKind(argument, field, rule);
  switch (field.kind) {
    case Field::Kind::kNumber:
      return CheckNumber(argument, field.number, rule);
    case Field::Kind::kBoolean:
      return Status::Ok();
    case Field::Kind::kText:
      return CheckChoice(argument, field.text, rule);
    case Field::Kind::kNumbers:
      for (size_t n = 0; n < field.numbers.size(); ++n) {
        POSLAB_RETURN_IF_ERROR(CheckNumber(argument + "[" + std::to_string(n) + "]", field.numbers[n], rule));
      }
      return Status::Ok();
  }
  return Status::Ok();
}

}  // namespace

Status CheckFields(const Description& description, std::span<const FieldRule> rules) {
  for (const Field& field : description.fields) {
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const FieldRule& candidate) { return field.name == candidate.name; });
    if (rule == rules.end()) {
      std::vector<std::string_view> known;
      for (const FieldRule& candidate : rules) known.push_back(candidate.name);
      return Status::Text(Code::kUnknownName, "position." + field.name, field.name,
                          known.empty() ? "no field (this scheme has none)" : OneOf(known),
                          NearestName(field.name, known));
    }
    POSLAB_RETURN_IF_ERROR(CheckField(field, *rule));
  }
  return Status::Ok();
}

const Field* FindField(const Description& description, std::string_view name) {
  for (const Field& field : description.fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

double NumberOr(const Description& description, std::string_view name, double otherwise) {
  const Field* field = FindField(description, name);
  return field ? field->number : otherwise;
}

bool BooleanOr(const Description& description, std::string_view name, bool otherwise) {
  const Field* field = FindField(description, name);
  return field ? field->boolean : otherwise;
}

std::string_view TextOr(const Description& description, std::string_view name, std::string_view otherwise) {
  const Field* field = FindField(description, name);
  return field ? std::string_view(field->text) : otherwise;
}

std::string OneOf(std::span<const std::string_view> names) {
  std::string text = "one of ";
  for (size_t n = 0; n < names.size(); ++n) text.append(n > 0 ? ", " : "").append(names[n]);
  return text;
}

std::string NearestName(std::string_view name, std::span<const std::string_view> known) {
  if (name.empty() || name.size() > kLongestName) return "";
  std::string_view nearest;
  size_t smallest = kLongestName;
  for (std::string_view candidate : known) {
    if (candidate.size() > kLongestName) continue;
    // "factor" given where only "scaling.factor" is known: the part after the dot counts as well.
    const std::string_view compared = name.find('.') == std::string_view::npos ? AfterDot(candidate) : candidate;
    const size_t distance = EditDistance(name, compared);
    if (distance * 3 <= std::max(name.size(), compared.size()) && distance < smallest) {
      nearest = candidate;
      smallest = distance;
    }
  }
  return std::string(nearest);
}

}  // namespace poslab
