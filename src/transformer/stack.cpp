// SPDX-License-Identifier: MIT
#include "transformer/stack.h"

#include <algorithm>
#include <cstring>

#include "model/activation.h"
#include "model/pass_memory.h"
#include "position/turn.h"

namespace poslab {
namespace {

// Rows of the feed-forward part that are worked on together.
constexpr int64_t kRowsAtATime = 64;

// Turns the heads of rows that lie `stride` apart.
void TurnHeads(const Rotation& rotation, int64_t rows, int64_t heads, int64_t head_dim, float* x, int64_t stride) {
  for (int64_t n = 0; n < rows; ++n, x += stride) {
    const Turn turn = QueryTurn(rotation, n);
    for (int64_t head = 0; head < heads; ++head)
      TurnRow(rotation.layout, rotation.pairs, turn.cos, turn.sin, x + head * head_dim);
  }
}

}  // namespace

void Stack::Start(const Architecture* architecture, const StackDescription* description, const StackTensors* tensors,
                  const Weights* weights) {
  architecture_ = architecture, d_ = description, tensors_ = tensors, weights_ = weights;
}

void Stack::Norm(const NormTensors& norm, int64_t rows, const float* x, float* y) const {
  NormArguments arguments;
  arguments.kind = d_->norm;
  arguments.rows = rows, arguments.width = architecture_->dim;
  arguments.x = x;
  arguments.gain = weights_->numbers(norm.gain), arguments.bias = weights_->numbers(norm.bias);
  arguments.epsilon = static_cast<float>(d_->epsilon);
  NormForward(arguments, y, nullptr);
}

void Stack::Linear(const LinearTensors& linear, int64_t rows, const float* x, float* y, int64_t y_stride,
                   bool accumulate) const {
  const Weight& matrix = (*weights_)[linear.weight];
  Product(matrix, {rows, x, matrix.inputs(), weights_->numbers(linear.bias), y, y_stride, accumulate});
}

// RMSNorm of `width` floats at a time over `count` heads of a row, or of the row.
void Stack::NormHeads(int gain, int64_t count, int64_t width, float* rows, int64_t stride) const {
  if (gain == Weights::kNone) return;
  NormArguments arguments;
  arguments.kind = NormKind::kRms;
  arguments.width = (*weights_)[gain].size();
  arguments.rows = width / arguments.width;
  arguments.gain = weights_->numbers(gain);
  arguments.epsilon = static_cast<float>(d_->epsilon);
  for (int64_t n = 0; n < count; ++n, rows += stride) {
    arguments.x = rows;
    NormForward(arguments, rows, nullptr);
  }
}

void Stack::KeysAndValues(const AttentionTensors& attention, int64_t count, const float* source, float* rows) const {
  const int64_t width = d_->key_width();
  Linear(attention.key, count, source, rows, 2 * width, false);
  Linear(attention.value, count, source, rows + width, 2 * width, false);
  NormHeads(attention.key_norm, count, width, rows, 2 * width);
}

Status Stack::PrepareMemory(const StackPass& pass) {
  const int64_t rows = pass.rows, few = std::min(rows, kRowsAtATime);
  POSLAB_RETURN_IF_ERROR(Grow(rows * architecture_->dim, &normed_));
  POSLAB_RETURN_IF_ERROR(Grow(rows * d_->query_width(), &query_));
  POSLAB_RETURN_IF_ERROR(Grow(rows * d_->query_width(), &heads_));
  POSLAB_RETURN_IF_ERROR(Grow((pass.memory_rows + rows) * 2 * d_->key_width(), &key_value_));
  POSLAB_RETURN_IF_ERROR(Grow(few * architecture_->dim, &few_normed_));
  POSLAB_RETURN_IF_ERROR(Grow(few * d_->feed_forward, &hidden_));
  if (d_->gated) POSLAB_RETURN_IF_ERROR(Grow(few * d_->feed_forward, &gate_));
  if (d_->sinks == ModelDescription::Sinks::kZero) POSLAB_RETURN_IF_ERROR(zero_sinks_.Resize("heads", d_->heads));
  if (pass.memory_rows > 0) {
    POSLAB_RETURN_IF_ERROR(Grow(pass.memory_rows * architecture_->dim, &memory_normed_));
    if (pass.key_mask) {  // memory is seen
      POSLAB_RETURN_IF_ERROR(mask_.ResizeForOverwrite("attentionMask", pass.memory_rows + rows));
      std::fill_n(mask_.data(), pass.memory_rows, uint8_t{1});
      std::copy_n(pass.key_mask, rows, mask_.data() + pass.memory_rows);
    }
  }
  if (!pass.cache) return Status::Ok();
  caches_.resize(static_cast<size_t>(d_->layers));
  for (size_t layer = 0; layer < caches_.size(); ++layer) {
    const int64_t gate_heads = positions_->gated(static_cast<int64_t>(layer)) ? d_->heads : 0;
    POSLAB_RETURN_IF_ERROR(
        caches_[layer].Reserve(d_->key_value_heads, d_->head_dim, gate_heads, cached_ + rows, cached_));
  }
  return Status::Ok();
}

Status Stack::Run(const StackPass& pass, StackPositions* positions, float* x) {
  positions_ = positions;
  POSLAB_RETURN_IF_ERROR(PrepareMemory(pass));
  POSLAB_RETURN_IF_ERROR(positions->Bind(pass.positions, pass.key_positions, pass.cache));
  const int64_t size = pass.rows * architecture_->dim;
  if (tensors_->embedding_norm.present()) Norm(tensors_->embedding_norm, pass.rows, x, x);
  for (int64_t layer = 0; layer < pass.layers; ++layer) {
    if (pass.hidden_states) std::copy_n(x, size, pass.hidden_states + layer * size);
    POSLAB_RETURN_IF_ERROR(RunBlock(pass, layer, x));
  }
  if (pass.cache) cached_ += pass.rows;
  if (pass.layers == d_->layers && tensors_->norm.present()) Norm(tensors_->norm, pass.rows, x, x);
  return Status::Ok();
}

Status Stack::RunBlock(const StackPass& pass, int64_t layer, float* x) {
  const BlockTensors& block = tensors_->blocks[static_cast<size_t>(layer)];
  const bool pre = d_->pre_norm(), parallel = d_->parallel != StackDescription::Parallel::kNo;
  if (pre) Norm(block.norm1, pass.rows, x, normed_.data());
  if (parallel) {
    // First, because attention has its norm of x already.
    const bool two_norms = d_->parallel == StackDescription::Parallel::kTwoNorms;
    FeedForward(block, pass.rows, two_norms, two_norms ? x : normed_.data(), x);
  }
  POSLAB_RETURN_IF_ERROR(SelfAttention(pass, layer, pre ? normed_.data() : x, x));
  if (!pre) Norm(block.norm1, pass.rows, x, x);
  if (block.cross_norm.present()) {
    if (pre) Norm(block.cross_norm, pass.rows, x, normed_.data());
    POSLAB_RETURN_IF_ERROR(CrossAttention(pass, layer, pre ? normed_.data() : x, x));
    if (!pre) Norm(block.cross_norm, pass.rows, x, x);
  }
  if (parallel) return Status::Ok();
  FeedForward(block, pass.rows, pre, x, x);
  if (!pre) Norm(block.norm2, pass.rows, x, x);
  return Status::Ok();
}

void Stack::FeedForward(const BlockTensors& block, int64_t rows, bool norm, const float* source, float* x) {
  const int64_t dim = architecture_->dim, width = d_->feed_forward;
  for (int64_t first = 0; first < rows; first += kRowsAtATime) {
    const int64_t few = std::min(kRowsAtATime, rows - first);
    const float* in = source + first * dim;
    if (norm) {
      Norm(block.norm2, few, in, few_normed_.data());
      in = few_normed_.data();
    }
    Linear(block.in, few, in, hidden_.data(), width, false);
    if (d_->gated) {
      Linear(block.gate, few, in, gate_.data(), width, false);
      ActivationForward(d_->activation, few * width, gate_.data(), gate_.data(), nullptr);
      MultiplyInto(few * width, gate_.data(), hidden_.data());
    } else {
      ActivationForward(d_->activation, few * width, hidden_.data(), hidden_.data(), nullptr);
    }
    Linear(block.out, few, hidden_.data(), x + first * dim, dim, true);
  }
}

AttentionArguments Stack::QueryArguments(int64_t rows) const {
  AttentionArguments arguments;
  arguments.query = {query_.data(), d_->heads, rows, d_->head_dim, d_->head_dim, d_->query_width()};
  if (d_->scale) arguments.scale = static_cast<float>(*d_->scale);
  return arguments;
}

// x += output(attention(...)).
Status Stack::Attend(const AttentionTensors& attention, const AttentionArguments& arguments, float* weights, float* x) {
  const int64_t rows = arguments.query.length;
  AttentionResults results;
  results.output = {heads_.data(), d_->heads, rows, d_->head_dim, d_->head_dim, d_->query_width()};
  results.weights = weights;
  POSLAB_RETURN_IF_ERROR(Attention(arguments, &results, &workspace_));
  Linear(attention.output, rows, heads_.data(), x, architecture_->dim, true);
  return Status::Ok();
}

Status Stack::SelfAttention(const StackPass& pass, int64_t layer, const float* source, float* x) {
  const BlockTensors& block = tensors_->blocks[static_cast<size_t>(layer)];
  const int64_t rows = pass.rows, dim = architecture_->dim, width = d_->key_width();
  const int64_t before = pass.cache ? cached_ : pass.memory_rows;
  Linear(block.self.query, rows, source, query_.data(), d_->query_width(), false);
  NormHeads(block.self.query_norm, rows, d_->query_width(), query_.data(), d_->query_width());
  float* fresh = key_value_.data() + pass.memory_rows * 2 * width;
  KeysAndValues(block.self, rows, source, fresh);
  const float* memory = nullptr;
  if (pass.memory_rows > 0) {
    memory = pass.memory + layer * pass.memory_rows * dim;
    if (d_->pre_norm()) Norm(block.norm1, pass.memory_rows, memory, memory_normed_.data());
    if (d_->pre_norm()) memory = memory_normed_.data();
    KeysAndValues(block.self, pass.memory_rows, memory, key_value_.data());
  }
  if (const Rotation* turn = positions_->turn(layer)) {
    TurnHeads(*turn, rows, d_->heads, d_->head_dim, query_.data(), d_->query_width());
    TurnHeads(*turn, rows, d_->key_value_heads, d_->head_dim, fresh, 2 * width);
  }

  AttentionArguments arguments = QueryArguments(rows);
  if (pass.cache) {
    KeyValueCache& cache = caches_[static_cast<size_t>(layer)];
    cache.Append(cached_, rows, fresh, 2 * width);
    arguments.key = cache.keys(before + rows), arguments.value = cache.values(before + rows);
  } else {
    arguments.key = {key_value_.data(), d_->key_value_heads, before + rows, d_->head_dim, d_->head_dim, 2 * width};
    arguments.value = arguments.key;
    arguments.value.data += width;
  }
  if (positions_->gated(layer)) POSLAB_RETURN_IF_ERROR(Gates(pass, layer, memory, source, &arguments.gates));
  arguments.hooks = positions_->hooks(layer);
  arguments.sinks = zero_sinks_.empty() ? weights_->numbers(block.self.sinks) : zero_sinks_.data();
  arguments.query_positions = pass.positions, arguments.key_positions = pass.key_positions;
  arguments.mask.causal = d_->causal;
  const int64_t window = d_->causal ? pass.window.value_or(d_->windows[static_cast<size_t>(layer)]) : 0;
  if (window > 0) arguments.mask.window = window;
  if (pass.key_mask) arguments.mask.key_mask = pass.memory_rows > 0 ? mask_.data() : pass.key_mask;
  return Attend(block.self, arguments, layer == pass.layers - 1 ? pass.weights : nullptr, x);
}

Status Stack::Gates(const StackPass& pass, int64_t layer, const float* memory, const float* source,
                    const float** gates) {
  const int64_t rows = pass.rows, before = pass.cache ? cached_ : pass.memory_rows;
  POSLAB_RETURN_IF_ERROR(Grow(CheckedProduct({d_->heads, before + rows}), &gates_));
  *gates = gates_.data();
  if (before == 0 && !pass.cache) return positions_->MakeGates(layer, source, rows, gates_.data());
  POSLAB_RETURN_IF_ERROR(Grow(CheckedProduct({d_->heads, std::max(before, rows)}), &few_gates_));
  if (!pass.cache) {
    POSLAB_RETURN_IF_ERROR(positions_->MakeGates(layer, memory, before, few_gates_.data()));
    for (int64_t head = 0; head < d_->heads; ++head)
      std::copy_n(few_gates_.data() + head * before, before, gates_.data() + head * (before + rows));
  }
  POSLAB_RETURN_IF_ERROR(positions_->MakeGates(layer, source, rows, few_gates_.data()));
  if (pass.cache) {
    caches_[static_cast<size_t>(layer)].AppendGates(before, rows, few_gates_.data(), gates_.data());
    return Status::Ok();
  }
  for (int64_t head = 0; head < d_->heads; ++head)
    std::copy_n(few_gates_.data() + head * rows, rows, gates_.data() + head * (before + rows) + before);
  return Status::Ok();
}

Status Stack::CrossAttention(const StackPass& pass, int64_t layer, const float* source, float* x) {
  const BlockTensors& block = tensors_->blocks[static_cast<size_t>(layer)];
  const int64_t width = d_->key_width();
  Linear(block.cross.query, pass.rows, source, query_.data(), d_->query_width(), false);
  NormHeads(block.cross.query_norm, pass.rows, d_->query_width(), query_.data(), d_->query_width());
  AttentionArguments arguments = QueryArguments(pass.rows);
  const float* rows = encoded_keys_[static_cast<size_t>(layer)].data();
  arguments.key = {rows, d_->key_value_heads, encoded_, d_->head_dim, d_->head_dim, 2 * width};
  arguments.value = arguments.key;
  arguments.value.data += width;
  arguments.query_positions = pass.positions;
  arguments.key_positions = {0, encoded_, nullptr};
  if (!encoded_mask_.empty()) arguments.mask.key_mask = encoded_mask_.data();
  return Attend(block.cross, arguments, layer == pass.layers - 1 ? pass.cross_weights : nullptr, x);
}

Status Stack::SetEncoded(const float* rows, int64_t count, const uint8_t* mask) {
  encoded_ = 0;
  encoded_keys_.resize(static_cast<size_t>(d_->layers));
  POSLAB_RETURN_IF_ERROR(encoded_mask_.ResizeForOverwrite("attentionMask", mask ? count : 0));
  if (mask) std::copy_n(mask, count, encoded_mask_.data());
  for (size_t layer = 0; layer < encoded_keys_.size(); ++layer) {
    POSLAB_RETURN_IF_ERROR(Grow(count * 2 * d_->key_width(), &encoded_keys_[layer]));
    KeysAndValues(tensors_->blocks[layer].cross, count, rows, encoded_keys_[layer].data());
  }
  encoded_ = count;
  return Status::Ok();
}

}  // namespace poslab
