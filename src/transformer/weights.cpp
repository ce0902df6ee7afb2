// SPDX-License-Identifier: MIT
#include "transformer/weights.h"

#include <algorithm>

#include "base/matmul.h"
#include "position/description.h"

namespace poslab {
namespace {

// So many rows of x stay in the second-level cache while a matrix passes by.
constexpr int64_t kRowsAtATime = 64;

int64_t PanelIndex(int64_t output, int64_t input, int64_t inputs) {
  return (output / kPanel * inputs + input) * kPanel + output % kPanel;
}

// Spreads row-major numbers of [outputs, inputs] (or [inputs, outputs]) over panels.
void SpreadIntoPanels(const Weight& weight, std::span<const float> numbers, int64_t from, bool transposed, float* to) {
  const int64_t inputs = weight.inputs(), width = transposed ? weight.outputs() : inputs;
  int64_t row = from / width, column = from % width;
  for (float number : numbers) {
    to[transposed ? PanelIndex(column, row, inputs) : PanelIndex(row, column, inputs)] = number;
    if (++column == width) column = 0, ++row;
  }
}

void StartWithBias(int64_t rows, int64_t width, const float* bias, bool accumulate, float* y, int64_t stride) {
  for (int64_t r = 0; r < rows; ++r, y += stride) {
    if (!accumulate)
      std::copy_n(bias, width, y);
    else
      for (int64_t n = 0; n < width; ++n) y[n] += bias[n];
  }
}

}  // namespace

int64_t Weight::size() const {
  int64_t size = 1;
  for (int64_t extent : shape) size = CheckedProduct({size, extent});
  return size;
}

int64_t Weight::room() const {
  return panels ? CheckedProduct({(outputs() + kPanel - 1) / kPanel, kPanel, inputs()}) : size();
}

void Weight::CopyRow(int64_t index, float* row) const {
  const int64_t width = inputs();
  const float* from = numbers.data() + (panels ? PanelIndex(index, 0, width) : index * width);
  if (!panels) {
    std::copy_n(from, width, row);
    return;
  }
  for (int64_t n = 0; n < width; ++n) row[n] = from[n * kPanel];
}

int Weights::Add(std::string name, std::vector<int64_t> shape, bool panels) {
  list_.push_back({std::move(name), std::move(shape), panels, {}, 0});
  return static_cast<int>(list_.size()) - 1;
}

int Weights::Find(std::string_view name) const {
  for (size_t n = 0; n < list_.size(); ++n)
    if (list_[n].name == name) return static_cast<int>(n);
  return kNone;
}

double Weights::bytes() const {
  double bytes = 0;
  for (const Weight& weight : list_) {
    double room = sizeof(float);
    for (int64_t extent : weight.shape) room *= static_cast<double>(extent);
    if (weight.panels)
      room *= static_cast<double>((weight.outputs() + kPanel - 1) / kPanel * kPanel) /
              static_cast<double>(weight.outputs());
    bytes += room;
  }
  return bytes;
}

bool Weights::complete() const {
  return std::all_of(list_.begin(), list_.end(), [](const Weight& w) { return w.filled == w.size(); });
}

Status Weights::Reserve(int index) {
  Weight& weight = list_[static_cast<size_t>(index)];
  return weight.numbers.empty() ? weight.numbers.ResizeForOverwrite(weight.name, weight.room()) : Status::Ok();
}

Status Weights::Set(std::string_view name, std::span<const float> numbers, int64_t from, bool transposed) {
  const int index = Find(name);
  if (index == kNone) {
    std::vector<std::string_view> names;
    for (const Weight& weight : list_) names.push_back(weight.name);
    return Status::Text(Code::kUnknownName, "name", name, "the name of a tensor of this model",
                        NearestName(name, names));
  }
  Weight& weight = list_[static_cast<size_t>(index)];
  if (from < 0 || from > weight.filled)
    return Status::Number(Code::kRange, weight.name + ": from", static_cast<double>(from),
                          "at most {0}, what has been set so far", static_cast<double>(weight.filled));
  const auto count = static_cast<int64_t>(numbers.size());
  if (count > weight.size() - from)
    return Status::Number(Code::kShape, weight.name, static_cast<double>(from) + static_cast<double>(count),
                          "{0} numbers in all", static_cast<double>(weight.size()));
  if (transposed && !weight.panels)
    return Status::Text(Code::kContradiction, weight.name + ": transposed", "true", "true for matrices of products");
  POSLAB_RETURN_IF_ERROR(Reserve(index));
  if (weight.panels)
    SpreadIntoPanels(weight, numbers, from, transposed, weight.numbers.data());
  else
    std::copy(numbers.begin(), numbers.end(), weight.numbers.data() + from);
  weight.filled = from + count;
  return Status::Ok();
}

void Product(const Weight& matrix, const ProductArguments& arguments) {
  const int64_t outputs = matrix.outputs(), inputs = matrix.inputs();
  if (arguments.bias)
    StartWithBias(arguments.rows, outputs, arguments.bias, arguments.accumulate, arguments.y, arguments.y_stride);
  MatMulArguments product;
  product.k = inputs;
  product.a_row_stride = arguments.x_stride;
  product.b_row_stride = kPanel;
  product.c_row_stride = arguments.y_stride;
  product.accumulate = arguments.accumulate || arguments.bias;
  for (int64_t row = 0; row < arguments.rows; row += kRowsAtATime) {
    product.m = std::min(kRowsAtATime, arguments.rows - row);
    product.a = arguments.x + row * arguments.x_stride;
    for (int64_t first = 0; first < outputs; first += kPanel) {
      product.n = std::min(kPanel, outputs - first);
      product.b = matrix.numbers.data() + first * inputs;
      product.c = arguments.y + row * arguments.y_stride + first;
      MatMul(product);
    }
  }
}

}  // namespace poslab
