// SPDX-License-Identifier: MIT
#include "position/small_mlp.h"
#include "base/math.h"

#include <algorithm>
#include <cmath>

namespace poslab {

void SmallMlp::AddSpecs(const std::vector<int64_t>& widths, std::vector<ParameterSpec>* specs, bool last_bias) {
  for (size_t n = 1; n < widths.size(); ++n) {
    const double reach = 1 / std::sqrt(static_cast<double>(widths[n - 1]));
    const Start start{Start::Kind::kUniform, -reach, reach};
    AddSpec("weight" + std::to_string(n), {widths[n], widths[n - 1]}, start, specs, /*decay=*/true);
    if (last_bias || n + 1 < widths.size()) AddSpec("bias" + std::to_string(n), {widths[n]}, start, specs);
  }
}

SmallMlp::SmallMlp(std::vector<int64_t> widths, Activation activation, LearnedTensors* tensors, size_t first,
                   bool last_bias)
    : widths_(std::move(widths)), activation_(activation), tensors_(tensors), first_(first), last_bias_(last_bias) {
  widest_ = *std::max_element(widths_.begin(), widths_.end());
  rows_.resize(static_cast<size_t>((2 * layers() + 2) * widest_));
}

void SmallMlp::Forward(const double* in, double* out) {
  std::copy(in, in + widths_[0], Inputs(0));
  for (int64_t layer = 0; layer < layers(); ++layer) {
    const float* weight = Weight(layer);
    const float* bias = HasBias(layer) ? tensors_->value(first_ + 2 * static_cast<size_t>(layer) + 1) : nullptr;
    const int64_t inputs = Width(layer);
    for (int64_t n = 0; n < Width(layer + 1); ++n) {
      double sum = bias ? bias[n] : 0;
      for (int64_t m = 0; m < inputs; ++m) sum += weight[n * inputs + m] * Inputs(layer)[m];
      Sums(layer)[n] = sum;
      if (layer + 1 == layers()) {
        out[n] = sum;
      } else {
        Inputs(layer + 1)[n] = activation_ == Activation::kRelu ? std::max(sum, 0.0) : sum / (1 + Exp(-sum));
      }
    }
  }
}

void SmallMlp::Backward(const double* out_gradient, double* in_gradient) {
  double *gradient = Sums(layers()), *below = Inputs(layers());
  std::copy(out_gradient, out_gradient + widths_.back(), gradient);
  for (int64_t layer = layers() - 1; layer >= 0; --layer) {
    const float* weight = Weight(layer);
    double* by_weight = tensors_->gradient(first_ + 2 * static_cast<size_t>(layer));
    double* by_bias = HasBias(layer) ? tensors_->gradient(first_ + 2 * static_cast<size_t>(layer) + 1) : nullptr;
    const int64_t inputs = Width(layer);
    std::fill_n(below, inputs, 0.0);
    for (int64_t n = 0; n < Width(layer + 1); ++n) {
      double through = gradient[n];
      if (layer + 1 < layers()) {
        const double sum = Sums(layer)[n], sigmoid = 1 / (1 + Exp(-sum));
        through *= activation_ == Activation::kRelu ? (sum > 0 ? 1 : 0) : sigmoid * (1 + sum * (1 - sigmoid));
      }
      if (by_bias) by_bias[n] += through;
      for (int64_t m = 0; m < inputs; ++m) {
        by_weight[n * inputs + m] += through * Inputs(layer)[m];
        below[m] += through * weight[n * inputs + m];
      }
    }
    std::swap(gradient, below);
  }
  if (in_gradient) std::copy_n(gradient, widths_[0], in_gradient);
}

}  // namespace poslab
