// SPDX-License-Identifier: MIT
// An attention problem that owns its data, made-up hooks of every form, and the two comparisons that all tests of the
// engine rest on: results against the reference in double, gradients against finite differences of that reference.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attention/attention.h"
#include "attention/reference.h"

namespace poslab_test {

// Whole multiples of 2^-10 in [-1, 1): a step of a power of two is exact in float.
class Values {
 public:
  explicit Values(uint32_t seed = 7) : state_(seed * 2654435761u + 1) {}
  float Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int32_t>(state_) >> 21) / 1024.0f;
  }
  uint32_t Below(uint32_t bound) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % bound;
  }
  std::vector<float> Fill(int64_t count, float scale = 1) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = scale * Next();
    return values;
  }

 private:
  uint32_t state_;
};

struct Shape {
  int64_t heads = 2, key_value_heads = 2, queries = 0, keys = 0, dim = 8, value_dim = 8;
};

// A numbers that a hook learns: where it is, and where its gradient was collected.
struct Learned {
  std::string name;
  float* data;
  int64_t count;
  std::function<double(int64_t)> gradient;
};

class Problem {
 public:
  explicit Problem(Shape shape, uint32_t seed = 7);
  Problem(const Problem&) = delete;

  // [length, heads * dim + pad] behind `shift` floats instead of packed.
  void Interleave(int64_t pad, int64_t shift);
  void SetPositions(std::vector<int64_t> queries, std::vector<int64_t> keys);
  void SetKeyMask(std::vector<uint8_t> mask);
  void SetGates();
  // An own layout of angles p / 3^k; `shared` keeps one table for both sides.
  void AddRotation(poslab::Rotation::Layout layout, int64_t pairs, bool shared);
  void AddScoreBand(poslab::Band::Side side, int64_t first, int64_t rows, bool per_head, bool bias);
  void AddValueBand(int64_t first, int64_t rows, bool per_head);
  void AddQueryBias();
  void AddKeyBand(int64_t first, int64_t rows);  // beside a score band that meets the query
  void AddTemperature(bool by_head);
  void SetSinks();

  poslab::AttentionArguments arguments() const;
  const Shape& shape() const { return shape_; }

  poslab::Mask mask;
  std::optional<float> scale;
  poslab::Hooks hooks;
  std::vector<float> query, key, value, gates, gate_gradients;
  std::vector<float> score_table, score_bias, key_table, value_table, query_bias, temperatures, sinks, sink_gradients;
  // What slices and tile hooks learn; bands and biases are known to the comparison itself.
  std::vector<Learned> learned;
  // Binds the hooks anew once a tensor that they learn has changed; empty: they look at it in every call.
  std::function<void()> rebind;
  // How far the scores' terms reach beyond scale * D, for tolerances.
  double bias_magnitude = 0;
  bool float_hook = false;

  int64_t Place(const Shape& shape, bool is_key, int64_t dim, int64_t head, int64_t row, int64_t d) const;
  poslab::HeadsView<float> View(std::vector<float>& data, int64_t heads, int64_t length, int64_t dim) const;

 private:
  Shape shape_;
  bool interleaved_ = false;
  int64_t pad_ = 0, shift_ = 0;
  std::vector<int64_t> query_ids_, key_ids_;
  std::vector<uint8_t> key_mask_;
};

// Runs both and compares output, log_sum_exp, weights and scores.
void CheckForward(const Problem& problem);
// Runs the backward pass and compares up to `samples` entries of every gradient with central differences.
void CheckBackward(Problem& problem, int samples = 24);

// ---- slices

// Per head a table by distance, clipped to [-reach, reach]; learns.
class TableSlice : public poslab::Slice {
 public:
  TableSlice(Problem* problem, int64_t reach, uint32_t seed = 3);
  void Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const override;
  void Accumulate(int64_t head, int64_t first, int64_t count, const double* gradient) override;
  int64_t lowest() const override { return -reach_; }
  int64_t highest() const override { return reach_; }
  bool learns() const override { return true; }

 private:
  int64_t Row(int64_t head, int64_t distance) const;
  int64_t reach_;
  std::vector<float> table_;
  std::vector<double> gradients_;
};

// -weight_h * ln(1 + |distance|) without an end; learns its weights.
class LogSlice : public poslab::Slice {
 public:
  explicit LogSlice(Problem* problem);
  void Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const override;
  void Accumulate(int64_t head, int64_t first, int64_t count, const double* gradient) override;
  bool learns() const override { return true; }

 private:
  std::vector<float> weights_;
  std::vector<double> gradients_;
};

class SlopeSlice : public poslab::Slice {
 public:
  SlopeSlice(Problem* problem, std::vector<float> slopes);
  std::span<const float> slopes() const override { return slopes_; }
  void Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const override;

 private:
  std::vector<float> slopes_;
};

// ---- tile hooks

// logit -> (1 + weight_h f(i, j)) logit + weight_h f(i, j), f of both positions and not of their difference; learns.
class FormulaHook : public poslab::TileHook {
 public:
  explicit FormulaHook(Problem* problem);
  poslab::Status Forward(const poslab::TileArguments& tile) const override;
  poslab::Status Backward(const poslab::TileArguments& tile, const poslab::TileGradients& gradients) override;

 private:
  std::vector<float> weights_;
  std::vector<double> gradients_;
};

// logit += sum of the gates of the keys after j up to i: the forgetting transformer's bias, carried from right to left.
class ForgettingHook : public poslab::TileHook {
 public:
  explicit ForgettingHook(Problem* problem) { problem->float_hook = true; }
  bool descending() const override { return true; }
  int64_t state_size() const override { return 1; }
  poslab::Status Forward(const poslab::TileArguments& tile) const override;
  poslab::Status Backward(const poslab::TileArguments& tile, const poslab::TileGradients& gradients) override;
};

// logit_j += 0.1 * sum of the logits of keys up to j: a state carried from left to right that depends on the content.
class RunningHook : public poslab::TileHook {
 public:
  explicit RunningHook(Problem* problem) { problem->float_hook = true; }
  int64_t state_size() const override { return 1; }
  poslab::Status Forward(const poslab::TileArguments& tile) const override;
  poslab::Status Backward(const poslab::TileArguments& tile, const poslab::TileGradients& gradients) override;
};

// logit_h = sum over g of mix_hg logit_g: needs all heads; learns.
class MixHook : public poslab::TileHook {
 public:
  explicit MixHook(Problem* problem);
  bool all_heads() const override { return true; }
  poslab::Status Forward(const poslab::TileArguments& tile) const override;
  poslab::Status Backward(const poslab::TileArguments& tile, const poslab::TileGradients& gradients) override;

 private:
  std::vector<float> mix_;
  std::vector<double> gradients_;
};

// logit = scale * cos(0.1 (i - j)) q . k, computed by the hook itself.
class DampedHook : public poslab::TileHook {
 public:
  explicit DampedHook(Problem* problem, bool all_heads = false) : all_(all_heads) { problem->float_hook = true; }
  bool all_heads() const override { return all_; }
  bool replaces_content() const override { return true; }
  bool uses_vectors() const override { return true; }
  poslab::Status Forward(const poslab::TileArguments& tile) const override;
  poslab::Status Backward(const poslab::TileArguments& tile, const poslab::TileGradients& gradients) override;

 private:
  bool all_;
};

}  // namespace poslab_test
