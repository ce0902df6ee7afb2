// SPDX-License-Identifier: MIT
// Short ways to write schemes, tensors and calls in the tests of positions.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "position/registry.h"
#include "position/scheme.h"

namespace poslab::testing {

Field Number(std::string name, double number);
Field Boolean(std::string name, bool boolean);
Field Text(std::string name, std::string text);
Field Numbers(std::string name, std::vector<double> numbers);

// The scheme, which must be valid.
std::unique_ptr<Scheme> Make(std::string type, std::vector<Field> fields = {});
// What is wrong with the scheme: its Status from MakeScheme (ok when nothing is).
Status Refusal(std::string type, std::vector<Field> fields = {});

// Learnable tensors with room for their gradients.
class Tensors {
 public:
  // Normal numbers times `deviation`, from a fixed seed.
  void Add(std::string name, std::vector<int64_t> shape, double deviation, uint64_t seed);
  void Add(std::string name, std::vector<int64_t> shape, std::vector<float> numbers);

  std::vector<TensorView<const float>> values() const;
  std::vector<TensorView<float>> gradients();
  std::vector<float>& numbers(const std::string& name);
  const std::vector<float>& gradient(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<float> numbers, gradient;
  };
  std::vector<Entry> entries_;
};

// Normal numbers from a fixed seed.
std::vector<float> NormalNumbers(int64_t count, uint64_t seed);

// A call with query i at i + (keys - queries) and key j at j.
BindArguments Call(int64_t heads, int64_t head_dim, int64_t queries, int64_t keys);

}  // namespace poslab::testing
