// SPDX-License-Identifier: MIT
// What schemes share whose bias is a function of the head and the distance j - i: the distances of a call are worked
// out once, for all heads together, and gradients go through the function once a distance.
#pragma once

#include <memory>
#include <vector>

#include "position/learned_tensors.h"
#include "position/positions.h"

namespace poslab {

class DistanceSlice : public Slice {
 public:
  // bias[h] of every head at one distance.
  virtual void Values(int64_t distance, double* bias) const = 0;
  // Its backward twin: adds to the gradients of `tensors`. gradient: [heads].
  virtual void ValuesBackward(int64_t distance, const double* gradient) { (void)distance, (void)gradient; }

  // Works out the biases of a range of distances, unless it is longer than texts are.
  Status Tabulate(DistanceRange range);
  // Takes what was collected in the table through ValuesBackward.
  void Finish();

  void Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const final;
  void Accumulate(int64_t head, int64_t first, int64_t count, const double* gradient) final;
  bool learns() const final { return !tensors.empty(); }

  int64_t heads = 0;
  LearnedTensors tensors;

 private:
  int64_t first_ = 0, rows_ = 0;
  Buffer<float> biases_;        // [heads, rows]
  Buffer<double> gradients_;    // [rows, heads]
  mutable Buffer<double> one_;  // [heads], of a distance outside the table
};

class DistanceScheme : public Scheme {
 public:
  bool acts_on_attention() const final { return true; }
  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const final;
  Status Bind(const BindArguments& arguments, Hooks* hooks) const final;
  Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients& hook_gradients,
              ParameterGradients gradients) const final;

 protected:
  // Appends what is learned.
  virtual void AddTensors(int64_t heads, std::vector<ParameterSpec>* specs) const { (void)heads, (void)specs; }
  virtual std::unique_ptr<DistanceSlice> MakeSlice() const = 0;
};

}  // namespace poslab
