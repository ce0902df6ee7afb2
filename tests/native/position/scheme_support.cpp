// SPDX-License-Identifier: MIT
#include "scheme_support.h"

#include <stdexcept>

namespace poslab::testing {

Field Number(std::string name, double number) {
  Field field;
  field.name = std::move(name);
  field.kind = Field::Kind::kNumber;
  field.number = number;
  return field;
}

Field Boolean(std::string name, bool boolean) {
  Field field;
  field.name = std::move(name);
  field.kind = Field::Kind::kBoolean;
  field.boolean = boolean;
  return field;
}

Field Text(std::string name, std::string text) {
  Field field;
  field.name = std::move(name);
  field.kind = Field::Kind::kText;
  field.text = std::move(text);
  return field;
}

Field Numbers(std::string name, std::vector<double> numbers) {
  Field field;
  field.name = std::move(name);
  field.kind = Field::Kind::kNumbers;
  field.numbers = std::move(numbers);
  return field;
}

std::unique_ptr<Scheme> Make(std::string type, std::vector<Field> fields) {
  Result<std::unique_ptr<Scheme>> scheme = MakeScheme({std::move(type), std::move(fields)});
  REQUIRE(scheme.ok());
  return std::move(*scheme);
}

Status Refusal(std::string type, std::vector<Field> fields) {
  return MakeScheme({std::move(type), std::move(fields)}).status();
}

void Tensors::Add(std::string name, std::vector<int64_t> shape, double deviation, uint64_t seed) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  std::vector<float> numbers = NormalNumbers(count, seed);
  for (float& number : numbers) number = static_cast<float>(deviation * number);
  Add(std::move(name), std::move(shape), std::move(numbers));
}

void Tensors::Add(std::string name, std::vector<int64_t> shape, std::vector<float> numbers) {
  std::vector<float> gradient(numbers.size(), 0.f);
  entries_.push_back({std::move(name), std::move(shape), std::move(numbers), std::move(gradient)});
}

std::vector<TensorView<const float>> Tensors::values() const {
  std::vector<TensorView<const float>> views;
  for (const Entry& entry : entries_) views.push_back({entry.name, entry.numbers.data(), entry.shape});
  return views;
}

std::vector<TensorView<float>> Tensors::gradients() {
  std::vector<TensorView<float>> views;
  for (Entry& entry : entries_) views.push_back({entry.name, entry.gradient.data(), entry.shape});
  return views;
}

std::vector<float>& Tensors::numbers(const std::string& name) {
  for (Entry& entry : entries_) {
    if (entry.name == name) return entry.numbers;
  }
  throw std::out_of_range(name);
}

const std::vector<float>& Tensors::gradient(const std::string& name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return entry.gradient;
  }
  throw std::out_of_range(name);
}

std::vector<float> NormalNumbers(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = static_cast<float>(random.Normal());
  return numbers;
}

BindArguments Call(int64_t heads, int64_t head_dim, int64_t queries, int64_t keys) {
  BindArguments arguments;
  arguments.dimensions.heads = heads;
  arguments.dimensions.head_dim = arguments.dimensions.value_dim = head_dim;
  arguments.query_positions = {keys - queries, queries, nullptr};
  arguments.key_positions = {0, keys, nullptr};
  return arguments;
}

}  // namespace poslab::testing
