// SPDX-License-Identifier: MIT
// LayerNorm (Ba, Kiros & Hinton 2016) and RMSNorm (Zhang & Sennrich 2019) over rows of tokens, epsilon inside the root,
// the biased variance: y = (x - mean) / sqrt(var + eps) * gain + bias, and y = x / sqrt(mean(x^2) + eps) * gain.
#pragma once

#include <cstdint>

namespace poslab {

enum class NormKind { kLayer, kRms };
constexpr float kNormEpsilon = 1e-5f;

struct NormArguments {
  NormKind kind = NormKind::kLayer;
  int64_t rows = 0, width = 0;
  const float* x = nullptr;     // [rows, width]
  const float* gain = nullptr;  // [width]
  const float* bias = nullptr;  // [width] or null
  float epsilon = kNormEpsilon;
};

// statistics [rows, 2]: mean (0 for RMSNorm) and 1 / sqrt(... + eps), for the backward twin; may be
// null. y may be x.
void NormForward(const NormArguments& arguments, float* y, float* statistics);
// Gradients of gain and bias (or null) are accumulated into; that of x is set, or added to when accumulate_x.
void NormBackward(const NormArguments& arguments, const float* statistics, const float* y_gradient, bool accumulate_x,
                  float* x_gradient, float* gain_gradient, float* bias_gradient);

}  // namespace poslab
