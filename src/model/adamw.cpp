// SPDX-License-Identifier: MIT
#include "model/adamw.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "base/simd.h"

namespace poslab {
namespace {

constexpr double kPi = 3.141592653589793;
// The cosine ends at a tenth of the peak: 0.1 + 0.45 (1 + cos).
constexpr double kFloor = 0.1;

// The sum of squares in double, in four running sums by index modulo 4.
double SquaredNorm(std::span<const float> values) {
  v128_t even = wasm_f64x2_splat(0), odd = even;
  size_t n = 0;
  for (; n + 4 <= values.size(); n += 4) {
    const v128_t four = wasm_v128_load(values.data() + n);
    const v128_t low = wasm_f64x2_promote_low_f32x4(four);
    const v128_t high = wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(four, four, 2, 3, 2, 3));
    even = wasm_f64x2_add(even, wasm_f64x2_mul(low, low));
    odd = wasm_f64x2_add(odd, wasm_f64x2_mul(high, high));
  }
  const v128_t both = wasm_f64x2_add(even, odd);
  double sum = wasm_f64x2_extract_lane(both, 0) + wasm_f64x2_extract_lane(both, 1);
  for (; n < values.size(); ++n) sum += static_cast<double>(values[n]) * values[n];
  return sum;
}

// The numbers of one step, each computed in double and rounded once.
struct StepScalars {
  float gradient_scale, beta1, one_minus_beta1, beta2, one_minus_beta2;
  float shrink;                   // 1 - rate * decay, or 1
  float rate;                     // rate / (1 - beta1^t)
  float inverse_root_correction;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
  float minimum;
};

// w = w (1 - rate decay) - rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
v128_t UpdateLanes(const StepScalars& s, v128_t gradient, v128_t weight, v128_t* first, v128_t* second) {
  const v128_t g = wasm_f32x4_mul(gradient, wasm_f32x4_splat(s.gradient_scale));
  *first = MulAdd(*first, wasm_f32x4_splat(s.beta1), wasm_f32x4_mul(g, wasm_f32x4_splat(s.one_minus_beta1)));
  *second = MulAdd(*second, wasm_f32x4_splat(s.beta2),
                   wasm_f32x4_mul(wasm_f32x4_mul(g, g), wasm_f32x4_splat(s.one_minus_beta2)));
  const v128_t root =
      MulAdd(wasm_f32x4_sqrt(*second), wasm_f32x4_splat(s.inverse_root_correction), wasm_f32x4_splat(s.epsilon));
  const v128_t step = wasm_f32x4_mul(wasm_f32x4_splat(s.rate), wasm_f32x4_div(*first, root));
  const v128_t updated = wasm_f32x4_sub(wasm_f32x4_mul(weight, wasm_f32x4_splat(s.shrink)), step);
  return wasm_f32x4_pmax(updated, wasm_f32x4_splat(s.minimum));
}

void Update(const StepScalars& scalars, int64_t count, const float* gradients, float* weights, float* first,
            float* second) {
  int64_t n = 0;
  for (; n + 4 <= count; n += 4) {
    v128_t m = wasm_v128_load(first + n), v = wasm_v128_load(second + n);
    wasm_v128_store(weights + n,
                    UpdateLanes(scalars, wasm_v128_load(gradients + n), wasm_v128_load(weights + n), &m, &v));
    wasm_v128_store(first + n, m);
    wasm_v128_store(second + n, v);
  }
  for (; n < count; ++n) {
    v128_t m = wasm_f32x4_splat(first[n]), v = wasm_f32x4_splat(second[n]);
    weights[n] = wasm_f32x4_extract_lane(
        UpdateLanes(scalars, wasm_f32x4_splat(gradients[n]), wasm_f32x4_splat(weights[n]), &m, &v), 0);
    first[n] = wasm_f32x4_extract_lane(m, 0);
    second[n] = wasm_f32x4_extract_lane(v, 0);
  }
}

Status CheckNumber(const char* name, double given, bool good, const char* allowed) {
  return good ? Status::Ok() : Status::Number(Code::kRange, name, given, allowed);
}

bool FromZero(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

Status CheckOptimizer(const OptimizerDescription& d) {
  constexpr const char* kFromZero = "a finite number from 0";
  constexpr const char* kWholeFromZero = "a whole number from 0";
  constexpr const char* kBelowOne = "a number from 0 to below 1";
  const auto below_one = [](double beta) { return beta >= 0 && beta < 1; };
  POSLAB_RETURN_IF_ERROR(CheckNumber("training.learningRate", d.learning_rate, FromZero(d.learning_rate), kFromZero));
  POSLAB_RETURN_IF_ERROR(CheckNumber("training.warmup", static_cast<double>(d.warmup), d.warmup >= 0, kWholeFromZero));
  POSLAB_RETURN_IF_ERROR(CheckNumber("training.steps", static_cast<double>(d.steps), d.steps >= 0, kWholeFromZero));
  POSLAB_RETURN_IF_ERROR(CheckNumber("training.weightDecay", d.weight_decay, FromZero(d.weight_decay), kFromZero));
  POSLAB_RETURN_IF_ERROR(
      CheckNumber("training.clip", d.clip, FromZero(d.clip), "a finite number from 0 (no clipping)"));
  POSLAB_RETURN_IF_ERROR(CheckNumber("training.beta1", d.beta1, below_one(d.beta1), kBelowOne));
  POSLAB_RETURN_IF_ERROR(CheckNumber("training.beta2", d.beta2, below_one(d.beta2), kBelowOne));
  return CheckNumber("training.epsilon", d.epsilon, std::isfinite(d.epsilon) && d.epsilon > 0,
                     "a finite number above 0");
}

double LearningRate(const OptimizerDescription& d, int64_t step) {
  if (step < d.warmup) return d.learning_rate * static_cast<double>(step + 1) / static_cast<double>(d.warmup);
  const double rest = static_cast<double>(std::max<int64_t>(1, d.steps - d.warmup));
  const double cosine = Cos(kPi * static_cast<double>(step - d.warmup) / rest);
  return d.learning_rate * (kFloor + (1 - kFloor) / 2 * (1 + cosine));
}

Result<AdamW> AdamW::Make(const OptimizerDescription& description, const Model& model) {
  POSLAB_RETURN_IF_ERROR(CheckOptimizer(description));
  AdamW optimizer;
  optimizer.description_ = description;
  POSLAB_RETURN_IF_ERROR(optimizer.first_.Resize("training", model.parameter_count()));
  POSLAB_RETURN_IF_ERROR(optimizer.second_.Resize("training", model.parameter_count()));
  return optimizer;
}

Result<double> AdamW::Step(Model* model) {
  const OptimizerDescription& d = description_;
  if (model->parameter_count() != first_.size())
    return Status::Number(Code::kState, "model", static_cast<double>(model->parameter_count()),
                          "the model that this optimiser was made for, with {0} parameters",
                          static_cast<double>(first_.size()));
  const double norm = std::sqrt(SquaredNorm(model->gradients()));
  if (!std::isfinite(norm))
    return Status::Number(Code::kDiverged, "training", static_cast<double>(step_),
                          "a finite gradient at every step: try a lower learning rate or a longer warm-up");
  const double count = static_cast<double>(step_ + 1), rate = LearningRate(d, step_);
  StepScalars scalars;
  scalars.gradient_scale = static_cast<float>(d.clip > 0 && norm > d.clip ? d.clip / norm : 1);
  scalars.beta1 = static_cast<float>(d.beta1), scalars.one_minus_beta1 = static_cast<float>(1 - d.beta1);
  scalars.beta2 = static_cast<float>(d.beta2), scalars.one_minus_beta2 = static_cast<float>(1 - d.beta2);
  scalars.rate = static_cast<float>(rate / (1 - Pow(d.beta1, count)));
  scalars.inverse_root_correction = static_cast<float>(1 / std::sqrt(1 - Pow(d.beta2, count)));
  scalars.epsilon = static_cast<float>(d.epsilon);
  for (const ParameterInfo& info : model->parameters()) {
    scalars.shrink = static_cast<float>(info.decay ? 1 - rate * d.weight_decay : 1);
    scalars.minimum = info.minimum;
    Update(scalars, info.size, model->gradients().data() + info.offset, model->weights().data() + info.offset,
           first_.data() + info.offset, second_.data() + info.offset);
  }
  ++step_;
  return norm;
}

}  // namespace poslab
