// SPDX-License-Identifier: MIT
// One transformer block and its two parts, attention (with the layer's positional hooks) and feed-forward.
//   pre-norm   y = x + attention(norm1 x), out = y + feedForward(norm2 y)     (Xiong et al. 2020)
//   parallel   out = x + attention(norm1 x) + feedForward(norm1 x)            (Wang & Komatsuzaki 2021)
//   post-norm  y = norm1(x + attention(x)), out = norm2(y + feedForward(y))   (Vaswani et al. 2017)
//   both       out = norm1(x + attention(x) + feedForward(x))
#pragma once

#include "attention/distances.h"
#include "model/bound_positions.h"
#include "model/layout.h"
#include "model/pass_memory.h"

namespace poslab {

// Everything that a block reads besides its input. Pointers are to the flat arrays of the whole model.
struct BlockContext {
  const ModelDescription* description = nullptr;  // filled in
  const BlockPlace* place = nullptr;
  PassShape shape;
  Mask mask;
  const Distances* distances = nullptr;  // of far keys, where they are others than they are
  const float* weights = nullptr;
  const float* transposed = nullptr;  // same offsets: every matrix [inputs, outputs]
  float* gradients = nullptr;         // null in a forward pass without backward
  BlockActivations* kept = nullptr;
  BoundPositions* positions = nullptr;
  AttentionWorkspace* workspace = nullptr;
  GradientScratch* scratch = nullptr;
  const float* zero_sinks = nullptr;   // [heads], where sinks are that
  float* attention_weights = nullptr;  // [heads, length, length] of the only sequence, when asked for
};

// x, out: [rows, dim]; they must not overlap.
Status BlockForward(const BlockContext& context, const float* x, float* out);
// On entry `gradient` is that of out, on return that of x. Parameter gradients are accumulated into, those of the
// scheme too.
Status BlockBackward(const BlockContext& context, const float* x, float* gradient);

// y += output(attention(x)), and its twin: x_gradient (set, or added to).
Status AttentionPartForward(const BlockContext& context, const float* x, float* y);
Status AttentionPartBackward(const BlockContext& context, const float* x, const float* y_gradient, bool accumulate_x,
                             float* x_gradient);

// y += out(act(in x)), or out(act(gate x) * in x), and its twin.
void FeedForwardPartForward(const BlockContext& context, const float* x, float* y);
void FeedForwardPartBackward(const BlockContext& context, const float* x, const float* y_gradient, bool accumulate_x,
                             float* x_gradient);

// A linear layer of the block by its place.
void PlacedLinearForward(const BlockContext& context, const LinearPlace& place, const float* x, bool accumulate,
                         float* y);
void PlacedLinearBackward(const BlockContext& context, const LinearPlace& place, const float* x,
                          const float* y_gradient, bool accumulate_x, float* x_gradient);

}  // namespace poslab
