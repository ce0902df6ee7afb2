// SPDX-License-Identifier: MIT
// What is measured, natively and as WebAssembly from one source: kernels of the core on inputs that lie ready in memory.
// A workload owns its inputs, outputs and scratch, so that a timed call is the kernel and nothing else; inputs are
// uniform in [-1, 1) with a fixed seed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/attention.h"
#include "position/scheme.h"

namespace poslab_bench {

using poslab::Buffer;
using poslab::Positions;
using poslab::Result;
using poslab::Scheme;
using poslab::Status;

// Types of all schemes of the registry that can be made for attention without further description.
std::vector<std::string> SchemeTypes();

// Fills with uniform numbers in [-1, 1); the same for the same seed on every machine.
void FillUniform(uint64_t seed, std::span<float> numbers);

struct AttentionShape {
  int64_t heads = 8, key_value_heads = 8;
  int64_t queries = 0, keys = 0;
  int64_t dim = 64;
  bool causal = false;
  int64_t window = 0;  // 0: none
};

// A scheme with made-up values for what it learns.
class BoundScheme {
 public:
  Status Make(std::string_view type, const AttentionShape& shape, Positions queries, Positions keys);
  // Hooks from positions and parameters: tables of angles, projected sinusoids.
  Status Bind();
  // Room for the gradients of the parameters.
  Status MakeGradients();
  // Those gradients from the ones of the hooks.
  Status Pull(const poslab::HookGradients& hook_gradients);

  const Scheme& scheme() const { return *scheme_; }
  const poslab::Hooks& hooks() const { return hooks_; }
  poslab::ParameterValues values() const { return values_; }
  poslab::ParameterGradients gradients() const { return gradients_; }

 private:
  std::unique_ptr<Scheme> scheme_;
  std::vector<poslab::ParameterSpec> specs_;
  std::vector<Buffer<float>> numbers_, number_gradients_;
  std::vector<poslab::TensorView<const float>> values_;
  std::vector<poslab::TensorView<float>> gradients_;
  poslab::BindArguments arguments_;
  poslab::Hooks hooks_;
};

// Attention with one scheme. A scheme of the embedding hook adds its rows to the tokens' vectors [queries, heads * dim]
// in each call, and its attention is the plain one.
class AttentionWorkload {
 public:
  Status Make(std::string_view type, const AttentionShape& shape);
  // output = attention(query, key, value); hooks are bound already.
  Status Forward();
  // Room for the gradients, and a forward pass that keeps what the backward pass needs.
  Status PrepareBackward();
  // Gradients of query, key, value and hooks from that of the output (which stands for any).
  Status Backward();
  // The rest of a training step's work: gradients of the scheme's parameters.
  Status Pull() { return scheme_.Pull(hook_gradients_); }
  // Hooks for the same positions once more, as a call without a cache makes them.
  Status Bind() { return scheme_.Bind(); }

  std::span<float> query() { return query_.span(); }
  std::span<float> key() { return key_.span(); }
  std::span<float> value() { return value_.span(); }
  std::span<float> output() { return output_.span(); }
  // What peers are given instead of the scheme. The biases of a slice by distance, from -(queries - 1) to keys - 1
  // [heads, queries + keys - 1], empty when the scheme is no slice alone; cosines and sines [keys, pairs] of half-split
  // pairs, empty when it is no such rotation alone.
  std::vector<float> BiasByDistance() const;
  std::span<const float> cosines() const;
  std::span<const float> sines() const;
  // 4 D a pair of query and key that is seen; half the square when causal.
  double forward_flops() const;
  double backward_flops() const { return 2.5 * forward_flops(); }
  // Inputs and outputs of a forward pass, and of both passes with all gradients.
  double forward_bytes() const;
  double backward_bytes() const;

 private:
  const poslab::Rotation* PlainRotation() const;

  AttentionShape shape_;
  BoundScheme scheme_;
  poslab::AttentionArguments arguments_;
  poslab::AttentionResults results_;
  poslab::AttentionWorkspace workspace_;
  Buffer<float> query_, key_, value_, output_, gates_, tokens_;
  Buffer<float> log_sum_exp_, output_gradient_;
  Buffer<float> query_gradient_, key_gradient_, value_gradient_, gate_gradient_, token_gradient_;
  poslab::HookGradients hook_gradients_;
};

// RoPE on query and key [heads, length, dim], in place, with the table of cosines and sines at hand.
class RotationWorkload {
 public:
  Status Make(int64_t heads, int64_t length, int64_t dim);
  void Run();
  std::span<float> query() { return query_.span(); }
  double bytes() const { return 4.0 * sizeof(float) * static_cast<double>(query_.size()); }

 private:
  int64_t heads_ = 0, length_ = 0, dim_ = 0;
  poslab::Hooks hooks_;
  Buffer<float> query_, key_;
};

// The sinusoidal table [length, dim].
class TableWorkload {
 public:
  Status Make(int64_t length, int64_t dim);
  Status Run();
  std::span<float> result() { return result_.span(); }
  double bytes() const { return sizeof(float) * static_cast<double>(length_ * dim_); }

 private:
  int64_t length_ = 0, dim_ = 0;
  std::unique_ptr<Scheme> scheme_;
  Buffer<float> result_;
};

// The T5 bias matrix [heads, length, length] of 32 bidirectional buckets.
class BiasWorkload {
 public:
  Status Make(int64_t heads, int64_t length);
  Status Run();
  std::span<float> table() { return table_.span(); }
  std::span<float> result() { return result_.span(); }
  double bytes() const { return sizeof(float) * static_cast<double>(heads_ * length_ * length_); }

 private:
  int64_t heads_ = 0, length_ = 0;
  std::unique_ptr<Scheme> scheme_;
  Buffer<float> table_, result_;
  std::vector<poslab::TensorView<const float>> values_;
};

// C [m, n] = A [m, k] B [k, n].
class MatMulWorkload {
 public:
  Status Make(int64_t m, int64_t n, int64_t k);
  void Run();
  double flops() const { return 2.0 * static_cast<double>(m_ * n_ * k_); }

 private:
  int64_t m_ = 0, n_ = 0, k_ = 0;
  Buffer<float> a_, b_, c_;
};

}  // namespace poslab_bench
