// SPDX-License-Identifier: MIT
// The feed-forward part of a block: plain, or gated as in GLU variants (Shazeer 2020).
#include "model/activation.h"
#include "model/block.h"

namespace poslab {

void FeedForwardPartForward(const BlockContext& context, const float* x, float* y) {
  const ModelDescription& d = *context.description;
  BlockActivations& kept = *context.kept;
  const int64_t count = context.shape.rows * d.feed_forward;
  const bool backward = context.gradients != nullptr;
  PlacedLinearForward(context, context.place->in, x, false, kept.in.data());
  if (d.gated) {
    PlacedLinearForward(context, context.place->gate, x, false, kept.gate.data());
    ActivationForward(d.activation, count, kept.gate.data(), kept.gate_value.data(),
                      backward ? kept.gate.data() : nullptr);
    Multiply(count, kept.gate_value.data(), kept.in.data(), kept.hidden.data());
  } else {
    ActivationForward(d.activation, count, kept.in.data(), kept.hidden.data(), backward ? kept.in.data() : nullptr);
  }
  PlacedLinearForward(context, context.place->out, kept.hidden.data(), true, y);
}

void FeedForwardPartBackward(const BlockContext& context, const float* x, const float* y_gradient, bool accumulate_x,
                             float* x_gradient) {
  const ModelDescription& d = *context.description;
  BlockActivations& kept = *context.kept;
  const int64_t count = context.shape.rows * d.feed_forward;
  float* hidden = context.scratch->hidden.data();
  PlacedLinearBackward(context, context.place->out, kept.hidden.data(), y_gradient, false, hidden);
  if (d.gated) {
    float* gate = context.scratch->gate.data();
    Multiply(count, hidden, kept.in.data(), gate);
    MultiplyInto(count, kept.gate.data(), gate);  // the derivative that the forward left there
    MultiplyInto(count, kept.gate_value.data(), hidden);
    PlacedLinearBackward(context, context.place->gate, x, gate, accumulate_x, x_gradient);
    accumulate_x = true;
  } else {
    MultiplyInto(count, kept.in.data(), hidden);
  }
  PlacedLinearBackward(context, context.place->in, x, hidden, accumulate_x, x_gradient);
}

}  // namespace poslab
