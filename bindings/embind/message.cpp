// SPDX-License-Identifier: MIT
// Reading and writing values, one by one; see message.h.
#include "message.h"

#include <cstdlib>
#include <cstring>

namespace poslab::border {
namespace {

alignas(8) constexpr uint32_t kNothing[2] = {0, 0};

const uint8_t* RoundedUp(const uint8_t* at, uintptr_t step) {
  return reinterpret_cast<const uint8_t*>((reinterpret_cast<uintptr_t>(at) + step - 1) & ~(step - 1));
}

size_t BytesOfNumber(Kind kind) {
  if (kind == Kind::kBytes) return 1;
  return kind == Kind::kDoubles ? 8 : 4;
}

bool IsArray(Kind kind) { return kind >= Kind::kFloats && kind <= Kind::kDoubles; }

}  // namespace

Value::Value() : at_(reinterpret_cast<const uint8_t*>(kNothing)) {}

double Value::number() const {
  double number = 0;
  if (kind() == Kind::kNumber) std::memcpy(&number, at_ + 8, sizeof number);
  return number;
}

std::string_view Value::text() const {
  if (kind() != Kind::kText) return {};
  return {reinterpret_cast<const char*>(at_ + 8), Word(1)};
}

double Value::NumberAt(int64_t index) const {
  const uint8_t* numbers = RoundedUp(at_ + 8, 16);
  switch (kind()) {
    case Kind::kFloats:
      return static_cast<double>(reinterpret_cast<const float*>(numbers)[index]);
    case Kind::kInts:
      return reinterpret_cast<const int32_t*>(numbers)[index];
    case Kind::kBytes:
      return numbers[index];
    default:
      return reinterpret_cast<const double*>(numbers)[index];
  }
}

const void* Value::Numbers(Kind wanted) const { return kind() == wanted ? RoundedUp(at_ + 8, 16) : nullptr; }

Value Value::operator[](const char* name) const {
  const uint8_t* at = at_ + 8;
  for (uint32_t left = kind() == Kind::kObject ? Word(1) : 0; left > 0; --left) {
    const Value key(at), value(key.end_of_value());
    if (key.text() == name) return value;
    at = value.end_of_value();
  }
  return Value();
}

const uint8_t* Value::end_of_value() const {
  const Kind of = kind();
  const uint8_t* at = at_ + 8;
  if (of == Kind::kNumber) return at + 8;
  if (of == Kind::kText) return RoundedUp(at + Word(1), 8);
  if (IsArray(of)) return RoundedUp(RoundedUp(at, 16) + Word(1) * BytesOfNumber(of), 8);
  if (of == Kind::kList || of == Kind::kObject)
    for (uint32_t left = of == Kind::kObject ? 2 * Word(1) : Word(1); left > 0; --left) at = Value(at).end_of_value();
  return at;
}

void Answer::Header(Kind kind, uint32_t count) {
  const uint32_t words[] = {static_cast<uint32_t>(kind), count};
  bytes_.append(reinterpret_cast<const char*>(words), sizeof words);
}

void Answer::Number(double number) {
  Header(Kind::kNumber, 0);
  bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void Answer::Text(std::string_view text) {
  Header(Kind::kText, static_cast<uint32_t>(text.size()));
  bytes_.append(text);
  bytes_.append(-text.size() & 7, '\0');
}

void Answer::Place(Kind kind, size_t count, const void* numbers) {
  Header(kind, static_cast<uint32_t>(count));
  const uint64_t address = reinterpret_cast<uintptr_t>(numbers);
  bytes_.append(reinterpret_cast<const char*>(&address), sizeof address);
}

void Answer::Clear() {
  for (void* numbers : kept_) std::free(numbers);
  kept_.clear();
  bytes_.clear();
}

Answer& TheAnswer() {
  static Answer answer;
  return answer;
}

}  // namespace poslab::border
