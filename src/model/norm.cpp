// SPDX-License-Identifier: MIT
#include "model/norm.h"

#include <cmath>

#include "base/simd.h"

namespace poslab {
namespace {

float SumOfLanes(v128_t v) {
  return (wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 2)) +
         (wasm_f32x4_extract_lane(v, 1) + wasm_f32x4_extract_lane(v, 3));
}

float Mean(const float* x, int64_t width) {
  v128_t sum = wasm_f32x4_splat(0);
  int64_t n = 0;
  for (; n + 4 <= width; n += 4) sum = wasm_f32x4_add(sum, wasm_v128_load(x + n));
  float total = SumOfLanes(sum);
  for (; n < width; ++n) total += x[n];
  return total / static_cast<float>(width);
}

// mean((x - center)^2): a second pass, because mean(x^2) - mean(x)^2 cancels.
float MeanSquare(const float* x, float center, int64_t width) {
  const v128_t centers = wasm_f32x4_splat(center);
  v128_t sum = wasm_f32x4_splat(0);
  int64_t n = 0;
  for (; n + 4 <= width; n += 4) {
    const v128_t d = wasm_f32x4_sub(wasm_v128_load(x + n), centers);
    sum = MulAdd(d, d, sum);
  }
  float total = SumOfLanes(sum);
  for (; n < width; ++n) total += (x[n] - center) * (x[n] - center);
  return total / static_cast<float>(width);
}

// Sums over a row that its gradient needs, with g = y_gradient * gain and z the normalised x; also adds the row's share
// to the gradients of gain and bias.
struct RowSums {
  float g = 0, gz = 0;
};
RowSums AddParameterGradients(const NormArguments& arguments, const float* x, float mean, float inverse,
                              const float* y_gradient, float* gain_gradient, float* bias_gradient) {
  const v128_t means = wasm_f32x4_splat(mean), inverses = wasm_f32x4_splat(inverse);
  v128_t sum_g = wasm_f32x4_splat(0), sum_gz = sum_g;
  int64_t n = 0;
  for (; n + 4 <= arguments.width; n += 4) {
    const v128_t dy = wasm_v128_load(y_gradient + n);
    const v128_t z = wasm_f32x4_mul(wasm_f32x4_sub(wasm_v128_load(x + n), means), inverses);
    const v128_t g = wasm_f32x4_mul(dy, wasm_v128_load(arguments.gain + n));
    sum_g = wasm_f32x4_add(sum_g, g);
    sum_gz = MulAdd(g, z, sum_gz);
    wasm_v128_store(gain_gradient + n, MulAdd(dy, z, wasm_v128_load(gain_gradient + n)));
    if (bias_gradient) wasm_v128_store(bias_gradient + n, wasm_f32x4_add(wasm_v128_load(bias_gradient + n), dy));
  }
  RowSums sums{SumOfLanes(sum_g), SumOfLanes(sum_gz)};
  for (; n < arguments.width; ++n) {
    const float z = (x[n] - mean) * inverse, g = y_gradient[n] * arguments.gain[n];
    sums.g += g;
    sums.gz += g * z;
    gain_gradient[n] += y_gradient[n] * z;
    if (bias_gradient) bias_gradient[n] += y_gradient[n];
  }
  return sums;
}

}  // namespace

void NormForward(const NormArguments& arguments, float* y, float* statistics) {
  const int64_t width = arguments.width;
  for (int64_t r = 0; r < arguments.rows; ++r) {
    const float* x = arguments.x + r * width;
    const float mean = arguments.kind == NormKind::kLayer ? Mean(x, width) : 0.0f;
    const float inverse = 1.0f / std::sqrt(MeanSquare(x, mean, width) + arguments.epsilon);
    if (statistics) statistics[2 * r] = mean, statistics[2 * r + 1] = inverse;
    const v128_t means = wasm_f32x4_splat(mean), inverses = wasm_f32x4_splat(inverse);
    float* out = y + r * width;
    int64_t n = 0;
    for (; n + 4 <= width; n += 4) {
      const v128_t z = wasm_f32x4_mul(wasm_f32x4_sub(wasm_v128_load(x + n), means), inverses);
      const v128_t bias = arguments.bias ? wasm_v128_load(arguments.bias + n) : wasm_f32x4_splat(0);
      wasm_v128_store(out + n, MulAdd(z, wasm_v128_load(arguments.gain + n), bias));
    }
    for (; n < width; ++n) {
      const float z = (x[n] - mean) * inverse * arguments.gain[n];
      out[n] = arguments.bias ? z + arguments.bias[n] : z;
    }
  }
}

// dx = (g - mean(g) - z mean(g z)) / sqrt(var + eps); RMSNorm has no mean(g), because it subtracts no mean.
void NormBackward(const NormArguments& arguments, const float* statistics, const float* y_gradient, bool accumulate_x,
                  float* x_gradient, float* gain_gradient, float* bias_gradient) {
  const int64_t width = arguments.width;
  for (int64_t r = 0; r < arguments.rows; ++r) {
    const float* x = arguments.x + r * width;
    const float* dy = y_gradient + r * width;
    float* dx = x_gradient + r * width;
    const float mean = statistics[2 * r], inverse = statistics[2 * r + 1];
    const RowSums sums = AddParameterGradients(arguments, x, mean, inverse, dy, gain_gradient, bias_gradient);
    const float mean_g = arguments.kind == NormKind::kLayer ? sums.g / static_cast<float>(width) : 0.0f;
    const float mean_gz = sums.gz / static_cast<float>(width);
    const v128_t means = wasm_f32x4_splat(mean), inverses = wasm_f32x4_splat(inverse);
    const v128_t mean_gs = wasm_f32x4_splat(mean_g), mean_gzs = wasm_f32x4_splat(mean_gz);
    int64_t n = 0;
    for (; n + 4 <= width; n += 4) {
      const v128_t z = wasm_f32x4_mul(wasm_f32x4_sub(wasm_v128_load(x + n), means), inverses);
      const v128_t g = wasm_f32x4_mul(wasm_v128_load(dy + n), wasm_v128_load(arguments.gain + n));
      const v128_t centred = wasm_f32x4_sub(wasm_f32x4_sub(g, mean_gs), wasm_f32x4_mul(z, mean_gzs));
      v128_t result = wasm_f32x4_mul(inverses, centred);
      if (accumulate_x) result = wasm_f32x4_add(wasm_v128_load(dx + n), result);
      wasm_v128_store(dx + n, result);
    }
    for (; n < width; ++n) {
      const float z = (x[n] - mean) * inverse;
      const float result = inverse * (dy[n] * arguments.gain[n] - mean_g - z * mean_gz);
      dx[n] = accumulate_x ? dx[n] + result : result;
    }
  }
}

}  // namespace poslab
