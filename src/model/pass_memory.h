// SPDX-License-Identifier: MIT
// What a pass keeps: the activations of one block that its backward needs, and scratch for gradients. Buffers grow and
// are reused by later passes; a forward pass without backward uses one block's set for all blocks.
#pragma once

#include <string_view>

#include "base/buffer.h"
#include "model/model.h"

namespace poslab {

// Sizes of one pass. rows = batch * length.
struct PassShape {
  int64_t batch = 0, length = 0, rows = 0;
};

// batch * length and the largest of a pass's buffers fit in 64 bits, or kMemory / kRange naming the argument.
Status CheckPass(const ModelDescription& description, int64_t batch, int64_t length);

// One block; widths per row in brackets. Empty where the shape of the model does not need it.
struct BlockActivations {
  Buffer<float> norm1, norm1_statistics;  // output [dim], [2]
  Buffer<float> query_key_value;          // [(heads + 2 keyValueHeads) headDim]
  Buffer<float> heads;                    // attention's output before the output matrix [heads headDim]
  Buffer<float> log_sum_exp;              // [heads], laid out [batch, heads, length]
  Buffer<float> middle;                   // x + attention(...) [dim]
  Buffer<float> norm2, norm2_statistics;
  Buffer<float> gate, gate_value;  // gated only: derivative of act(gate x) after the forward, its value [feedForward]
  Buffer<float> in;                // in x; not gated: overwritten by the activation's derivative [feedForward]
  Buffer<float> hidden;            // what goes into `out` [feedForward]
  Buffer<float> sum;               // post-norm only: what the last norm gets [dim]

  Status Prepare(const ModelDescription& description, const PassShape& shape, bool backward);
};

// Gradients that live within one block's backward.
struct GradientScratch {
  Buffer<float> query_key_value, heads, hidden, gate, row;  // `row`: [dim]

  Status Prepare(const ModelDescription& description, const PassShape& shape);
};

// Makes room without shrinking or zeroing what is large enough already.
inline Status Grow(int64_t count, Buffer<float>* buffer) {
  return buffer->size() >= count ? Status::Ok() : buffer->ResizeForOverwrite("length", count);
}

}  // namespace poslab
