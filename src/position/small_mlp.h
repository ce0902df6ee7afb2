// SPDX-License-Identifier: MIT
// A multilayer perceptron of a few numbers, in double: what FIRE, dynamic position bias and others make of a distance.
// Its tensors are called weight1 [outputs, inputs], bias1 [outputs], weight2, ... and start as a linear layer of PyTorch.
#pragma once

#include <vector>

#include "position/learned_tensors.h"

namespace poslab {

class SmallMlp {
 public:
  enum class Activation { kRelu, kSilu };

  // The tensors of layers widths[0] -> widths[1] -> ...; the last layer may be without a bias.
  static void AddSpecs(const std::vector<int64_t>& widths, std::vector<ParameterSpec>* specs, bool last_bias = true);

  // Layers whose tensors begin at number `first` of `tensors`, which must stay where it is.
  SmallMlp(std::vector<int64_t> widths, Activation activation, LearnedTensors* tensors, size_t first,
           bool last_bias = true);

  // out [last width] from in [first width]; keeps what the backward twin needs.
  void Forward(const double* in, double* out);
  // Of the last Forward: adds to the tensors' gradients and writes the gradient of `in` (null: not wanted).
  void Backward(const double* out_gradient, double* in_gradient);

 private:
  int64_t layers() const { return static_cast<int64_t>(widths_.size()) - 1; }
  int64_t Width(int64_t layer) const { return widths_[static_cast<size_t>(layer)]; }
  bool HasBias(int64_t layer) const { return last_bias_ || layer + 1 < layers(); }
  const float* Weight(int64_t layer) const { return tensors_->value(first_ + 2 * static_cast<size_t>(layer)); }
  // What goes into a layer, and what comes out before the activation; those of the layer past the last are scratch.
  double* Inputs(int64_t layer) { return rows_.data() + 2 * layer * widest_; }
  double* Sums(int64_t layer) { return rows_.data() + (2 * layer + 1) * widest_; }

  std::vector<int64_t> widths_;
  Activation activation_;
  LearnedTensors* tensors_;
  size_t first_;
  bool last_bias_;
  int64_t widest_;
  std::vector<double> rows_;
};

}  // namespace poslab
