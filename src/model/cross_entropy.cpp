// SPDX-License-Identifier: MIT
#include "model/cross_entropy.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/exponential.h"
#include "base/math.h"
#include "base/simd.h"

namespace poslab {
namespace {

float Largest(int64_t count, const float* x) {
  float largest = x[0];
  int64_t n = 0;
  if (count >= 4) {
    v128_t most = wasm_v128_load(x);
    for (n = 4; n + 4 <= count; n += 4) most = wasm_f32x4_pmax(most, wasm_v128_load(x + n));
    float lanes[4];
    wasm_v128_store(lanes, most);
    for (float lane : lanes)
      if (lane > largest) largest = lane;
  }
  for (; n < count; ++n)
    if (x[n] > largest) largest = x[n];
  return largest;
}

// The sum of exp(x - largest), in double across groups of lanes; with `exponentials` they are stored (it may be x).
double SumOfExponentials(int64_t count, const float* x, float largest, float* exponentials) {
  const v128_t shift = wasm_f32x4_splat(largest);
  v128_t sum = wasm_f32x4_splat(0);
  int64_t n = 0;
  for (; n + 4 <= count; n += 4) {
    const v128_t e = ExpNonPositive(wasm_f32x4_sub(wasm_v128_load(x + n), shift));
    if (exponentials) wasm_v128_store(exponentials + n, e);
    sum = wasm_f32x4_add(sum, e);
  }
  float lanes[4];
  wasm_v128_store(lanes, sum);
  double total = (static_cast<double>(lanes[0]) + lanes[2]) + (static_cast<double>(lanes[1]) + lanes[3]);
  for (; n < count; ++n) {
    const float e = wasm_f32x4_extract_lane(ExpNonPositive(wasm_f32x4_splat(x[n] - largest)), 0);
    if (exponentials) exponentials[n] = e;
    total += e;
  }
  return total;
}

void Scale(int64_t count, float factor, float* x) {
  const v128_t factors = wasm_f32x4_splat(factor);
  int64_t n = 0;
  for (; n + 4 <= count; n += 4) wasm_v128_store(x + n, wasm_f32x4_mul(wasm_v128_load(x + n), factors));
  for (; n < count; ++n) x[n] *= factor;
}

double NegativeLogLikelihood(double sum, float largest, float target_logit) {
  return Log(sum) + (static_cast<double>(largest) - static_cast<double>(target_logit));
}

}  // namespace

double CrossEntropy(int64_t rows, int64_t vocabulary, const int32_t* targets, double scale, bool gradient,
                    float* logits) {
  double loss = 0;
  for (int64_t r = 0; r < rows; ++r) {
    float* row = logits + r * vocabulary;
    const int32_t target = targets[r];
    if (target < 0) {
      if (gradient) std::memset(row, 0, static_cast<size_t>(vocabulary) * sizeof(float));
      continue;
    }
    const float largest = Largest(vocabulary, row), target_logit = row[target];
    const double sum = SumOfExponentials(vocabulary, row, largest, gradient ? row : nullptr);
    loss += NegativeLogLikelihood(sum, largest, target_logit);
    if (!gradient) continue;
    Scale(vocabulary, static_cast<float>(scale / sum), row);
    row[target] -= static_cast<float>(scale);
  }
  return loss;
}

void ScoreRows(int64_t rows, int64_t vocabulary, const int32_t* targets, const float* logits, float* losses,
               uint8_t* correct) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = logits + r * vocabulary;
    const int32_t target = targets[r];
    const float largest = Largest(vocabulary, row);
    if (losses) {
      losses[r] = target < 0 ? std::numeric_limits<float>::quiet_NaN()
                             : static_cast<float>(NegativeLogLikelihood(
                                   SumOfExponentials(vocabulary, row, largest, nullptr), largest, row[target]));
    }
    if (correct) correct[r] = target >= 0 && row[target] >= largest;
  }
}

}  // namespace poslab
