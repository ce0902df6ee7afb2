// SPDX-License-Identifier: MIT
// AdamW (Loshchilov & Hutter 2019) with linear warm-up, cosine decay to a tenth and clipping of the global norm.
#pragma once

#include "base/buffer.h"
#include "base/status.h"
#include "model/model.h"

namespace poslab {

struct OptimizerDescription {
  double learning_rate = 0.006;
  int64_t warmup = 100;
  int64_t steps = 976;
  double weight_decay = 0.1;
  double clip = 1;  // largest global norm; 0 = no clipping
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-8;
};
Status CheckOptimizer(const OptimizerDescription& description);  // argument names "training.<field>"

// peak * (s + 1) / warmup while s < warmup, then peak * (0.1 + 0.45 (1 + cos(pi (s - warmup) / max(1, steps - warmup)))).
double LearningRate(const OptimizerDescription& description, int64_t step);

class AdamW {
 public:
  static Result<AdamW> Make(const OptimizerDescription& description, const Model& model);
  // Clips, updates the weights, advances the step. Returns the gradient norm before clipping; kDiverged (with the step)
  // when it is not finite, and then leaves weights and moments as they were.
  Result<double> Step(Model* model);
  int64_t step() const { return step_; }
  // For saving and resuming: moments in the layout of Model::weights().
  std::span<float> first_moment() { return first_.span(); }
  std::span<float> second_moment() { return second_.span(); }
  void set_step(int64_t step) { step_ = step; }

 private:
  OptimizerDescription description_;
  Buffer<float> first_, second_;
  int64_t step_ = 0;
};

}  // namespace poslab
