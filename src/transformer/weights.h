// SPDX-License-Identifier: MIT
// The tensors of a loaded model, by name, filled in piece by piece. A matrix is held once, in the form that products
// read: panels of eight outputs, entry (output o, input i) at panel o / 8, row i, lane o % 8. One token or many then go
// through it from front to back, and the row of one output (an embedding that is tied to the head) is eight lanes apart.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"

namespace poslab {

constexpr int64_t kPanel = 8;

struct Weight {
  std::string name;
  std::vector<int64_t> shape;
  bool panels = false;    // [outputs, inputs] in panels; otherwise as it is, row-major
  Buffer<float> numbers;  // empty until the first piece
  int64_t filled = 0;     // numbers set so far, from the front

  int64_t size() const;
  // Of the first axis, and the others together.
  int64_t outputs() const { return shape[0]; }
  int64_t inputs() const { return size() / shape[0]; }
  // Floats that `numbers` takes.
  int64_t room() const;
  // Row `index` of a matrix in either form, to row [inputs].
  void CopyRow(int64_t index, float* row) const;
};

class Weights {
 public:
  // Indices into list(); kNone where a tensor does not exist.
  static constexpr int kNone = -1;
  int Add(std::string name, std::vector<int64_t> shape, bool panels);
  std::span<const Weight> list() const { return list_; }
  const Weight& operator[](int index) const { return list_[static_cast<size_t>(index)]; }
  const float* numbers(int index) const { return index == kNone ? nullptr : (*this)[index].numbers.data(); }
  int Find(std::string_view name) const;
  // That all of them take, exact while it fits into memory.
  double bytes() const;
  bool complete() const;

  // Numbers [from, from + count) of the tensor in row-major order, of [outputs, inputs] or, `transposed`, of
  // [inputs, outputs]. Pieces come one after the other; starting again at 0 is allowed. kUnknownName, kRange, kMemory.
  Status Set(std::string_view name, std::span<const float> numbers, int64_t from, bool transposed);
  // Memory for a tensor whose address must be known before it is filled.
  Status Reserve(int index);

 private:
  std::vector<Weight> list_;
};

struct ProductArguments {
  int64_t rows = 0;
  const float* x = nullptr;  // [rows, inputs], x_stride apart
  int64_t x_stride = 0;
  const float* bias = nullptr;  // [outputs] or null
  float* y = nullptr;           // [rows, outputs], y_stride apart
  int64_t y_stride = 0;
  bool accumulate = false;  // y += instead of y =
};
// y = x W^T + bias for a matrix in panels.
void Product(const Weight& matrix, const ProductArguments& arguments);

}  // namespace poslab
