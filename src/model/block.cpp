// SPDX-License-Identifier: MIT
#include "model/block.h"

#include <cstring>

#include "model/linear.h"
#include "model/norm.h"

namespace poslab {
namespace {

NormArguments ArgumentsOf(const BlockContext& context, const NormPlace& place, const float* x) {
  NormArguments arguments;
  arguments.kind = context.description->norm == ModelDescription::Norm::kRms ? NormKind::kRms : NormKind::kLayer;
  arguments.rows = context.shape.rows, arguments.width = context.description->dim;
  arguments.x = x;
  arguments.gain = context.weights + place.gain;
  arguments.bias = place.bias == kAbsent ? nullptr : context.weights + place.bias;
  return arguments;
}

void PlacedNormForward(const BlockContext& context, const NormPlace& place, const float* x, float* y,
                       Buffer<float>* statistics) {
  NormForward(ArgumentsOf(context, place, x), y, context.gradients ? statistics->data() : nullptr);
}

void PlacedNormBackward(const BlockContext& context, const NormPlace& place, const float* x,
                        const Buffer<float>& statistics, const float* y_gradient, bool accumulate_x,
                        float* x_gradient) {
  NormBackward(ArgumentsOf(context, place, x), statistics.data(), y_gradient, accumulate_x, x_gradient,
               context.gradients + place.gain, place.bias == kAbsent ? nullptr : context.gradients + place.bias);
}

void CopyRows(const BlockContext& context, const float* from, float* to) {
  std::memcpy(to, from, static_cast<size_t>(context.shape.rows * context.description->dim) * sizeof(float));
}

Status PreNormForward(const BlockContext& context, const float* x, float* out) {
  BlockActivations& kept = *context.kept;
  PlacedNormForward(context, context.place->norm1, x, kept.norm1.data(), &kept.norm1_statistics);
  if (context.description->parallel) {
    CopyRows(context, x, out);
    POSLAB_RETURN_IF_ERROR(AttentionPartForward(context, kept.norm1.data(), out));
    FeedForwardPartForward(context, kept.norm1.data(), out);
    return Status::Ok();
  }
  float* middle = kept.middle.data();
  CopyRows(context, x, middle);
  POSLAB_RETURN_IF_ERROR(AttentionPartForward(context, kept.norm1.data(), middle));
  PlacedNormForward(context, context.place->norm2, middle, kept.norm2.data(), &kept.norm2_statistics);
  CopyRows(context, middle, out);
  FeedForwardPartForward(context, kept.norm2.data(), out);
  return Status::Ok();
}

// `gradient` runs along the residual stream from out back to x; every part adds its share.
Status PreNormBackward(const BlockContext& context, const float* x, float* gradient) {
  BlockActivations& kept = *context.kept;
  float* row = context.scratch->row.data();
  if (context.description->parallel) {
    FeedForwardPartBackward(context, kept.norm1.data(), gradient, false, row);
    POSLAB_RETURN_IF_ERROR(AttentionPartBackward(context, kept.norm1.data(), gradient, true, row));
    PlacedNormBackward(context, context.place->norm1, x, kept.norm1_statistics, row, true, gradient);
    return Status::Ok();
  }
  FeedForwardPartBackward(context, kept.norm2.data(), gradient, false, row);
  PlacedNormBackward(context, context.place->norm2, kept.middle.data(), kept.norm2_statistics, row, true, gradient);
  POSLAB_RETURN_IF_ERROR(AttentionPartBackward(context, kept.norm1.data(), gradient, false, row));
  PlacedNormBackward(context, context.place->norm1, x, kept.norm1_statistics, row, true, gradient);
  return Status::Ok();
}

Status PostNormForward(const BlockContext& context, const float* x, float* out) {
  BlockActivations& kept = *context.kept;
  float* middle = kept.middle.data();
  CopyRows(context, x, middle);
  POSLAB_RETURN_IF_ERROR(AttentionPartForward(context, x, middle));
  if (context.description->parallel) {
    FeedForwardPartForward(context, x, middle);
    PlacedNormForward(context, context.place->norm1, middle, out, &kept.norm1_statistics);
    return Status::Ok();
  }
  PlacedNormForward(context, context.place->norm1, middle, kept.norm1.data(), &kept.norm1_statistics);
  CopyRows(context, kept.norm1.data(), kept.sum.data());
  FeedForwardPartForward(context, kept.norm1.data(), kept.sum.data());
  PlacedNormForward(context, context.place->norm2, kept.sum.data(), out, &kept.norm2_statistics);
  return Status::Ok();
}

Status PostNormBackward(const BlockContext& context, const float* x, float* gradient) {
  BlockActivations& kept = *context.kept;
  float* row = context.scratch->row.data();
  if (context.description->parallel) {
    PlacedNormBackward(context, context.place->norm1, kept.middle.data(), kept.norm1_statistics, gradient, false, row);
    CopyRows(context, row, gradient);
    FeedForwardPartBackward(context, x, row, true, gradient);
    return AttentionPartBackward(context, x, row, true, gradient);
  }
  PlacedNormBackward(context, context.place->norm2, kept.sum.data(), kept.norm2_statistics, gradient, false, row);
  CopyRows(context, row, gradient);
  FeedForwardPartBackward(context, kept.norm1.data(), row, true, gradient);
  PlacedNormBackward(context, context.place->norm1, kept.middle.data(), kept.norm1_statistics, gradient, false, row);
  CopyRows(context, row, gradient);
  return AttentionPartBackward(context, x, row, true, gradient);
}

}  // namespace

Status BlockForward(const BlockContext& context, const float* x, float* out) {
  return context.description->norm_placement == ModelDescription::NormPlacement::kPre
             ? PreNormForward(context, x, out)
             : PostNormForward(context, x, out);
}

Status BlockBackward(const BlockContext& context, const float* x, float* gradient) {
  return context.description->norm_placement == ModelDescription::NormPlacement::kPre
             ? PreNormBackward(context, x, gradient)
             : PostNormBackward(context, x, gradient);
}

void PlacedLinearForward(const BlockContext& context, const LinearPlace& place, const float* x, bool accumulate,
                         float* y) {
  LinearForwardArguments arguments;
  arguments.rows = context.shape.rows, arguments.inputs = place.inputs, arguments.outputs = place.outputs;
  arguments.x = x;
  arguments.transposed_weight = context.transposed + place.weight;
  arguments.bias = place.bias == kAbsent ? nullptr : context.weights + place.bias;
  arguments.y = y;
  arguments.accumulate = accumulate;
  LinearForward(arguments);
}

void PlacedLinearBackward(const BlockContext& context, const LinearPlace& place, const float* x,
                          const float* y_gradient, bool accumulate_x, float* x_gradient) {
  LinearBackwardArguments arguments;
  arguments.rows = context.shape.rows, arguments.inputs = place.inputs, arguments.outputs = place.outputs;
  arguments.x = x;
  arguments.weight = context.weights + place.weight;
  arguments.y_gradient = y_gradient;
  arguments.x_gradient = x_gradient;
  arguments.accumulate_x = accumulate_x;
  arguments.weight_gradient = context.gradients + place.weight;
  arguments.bias_gradient = place.bias == kAbsent ? nullptr : context.gradients + place.bias;
  LinearBackward(arguments);
}

}  // namespace poslab
