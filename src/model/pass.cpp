// SPDX-License-Identifier: MIT
// A pass through the model: preparation, forward, backward.
#include <cstring>

#include "base/transpose.h"
#include "model/embedding.h"
#include "model/linear.h"
#include "model/model_parts.h"
#include "model/norm.h"

namespace poslab {
namespace {

// Position ids are turned into angles in double, which holds whole numbers up to here.
constexpr int64_t kLargestPosition = int64_t{1} << 53;

size_t Bytes(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

}  // namespace

Status Model::Parts::CheckIds(std::span<const int32_t> ids, std::span<const int32_t>* targets, int64_t batch,
                              int64_t length) const {
  POSLAB_RETURN_IF_ERROR(CheckPass(description, batch, length));
  const auto rows = static_cast<size_t>(batch * length);
  if (ids.size() != rows)
    return Status::Number(Code::kShape, "ids", static_cast<double>(ids.size()), "batch times length ids, which is {0}",
                          static_cast<double>(rows));
  for (int32_t id : ids)
    if (id < 0 || id >= description.vocabulary)
      return Status::Number(Code::kRange, "ids", id, "ids from 0 to {0}",
                            static_cast<double>(description.vocabulary - 1));
  if (!targets) return Status::Ok();
  if (targets->size() != rows)
    return Status::Number(Code::kShape, "targets", static_cast<double>(targets->size()),
                          "batch times length ids, which is {0}", static_cast<double>(rows));
  for (int32_t target : *targets)
    if (target < -1 || target >= description.vocabulary)
      return Status::Number(Code::kRange, "targets", target, "ids from 0 to {0}, or -1 where a place is not scored",
                            static_cast<double>(description.vocabulary - 1));
  return Status::Ok();
}

Status Model::Parts::Begin(int64_t batch, int64_t length, bool with_backward, const RunOptions& options) {
  if (options.position_offset < 0 || options.position_offset > kLargestPosition - length)
    return Status::Number(Code::kRange, "positionOffset", static_cast<double>(options.position_offset),
                          "a whole number from 0 to {0}", static_cast<double>(kLargestPosition - length));
  if (options.window && *options.window < 1)
    return Status::Number(Code::kRange, "window", static_cast<double>(*options.window), "a whole number from 1");
  if (options.distances && with_backward)
    return Status::Text(Code::kContradiction, "distances", "given", "left out of a pass with backward");
  shape = {batch, length, batch * length};
  backward = with_backward;
  mask = Mask();
  mask.causal = true;
  mask.window = options.window;
  distances = options.distances;
  POSLAB_RETURN_IF_ERROR(PrepareMemory());
  POSLAB_RETURN_IF_ERROR(BindPositions(options));
  TransposeMatrices();
  if (backward) std::memset(gradients.data(), 0, Bytes(gradients.size()));
  return Status::Ok();
}

Status Model::Parts::PrepareMemory() {
  const ModelDescription& d = description;
  const size_t sets = backward ? static_cast<size_t>(d.layers) : 1, rows_sets = backward ? sets + 1 : 2;
  if (kept.size() < sets) kept.resize(sets);
  if (streams.size() < rows_sets) streams.resize(rows_sets);
  for (size_t n = 0; n < sets; ++n) POSLAB_RETURN_IF_ERROR(kept[n].Prepare(d, shape, backward));
  for (size_t n = 0; n < rows_sets; ++n) POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.dim, &streams[n]));
  if (layout.norm.present()) {
    POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.dim, &final_norm));
    POSLAB_RETURN_IF_ERROR(Grow(shape.rows * 2, &final_statistics));
  }
  if (d.sinks == ModelDescription::Sinks::kZero) POSLAB_RETURN_IF_ERROR(zero_sinks.Resize("model.heads", d.heads));
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.vocabulary, &logits));
  if (!backward) return Status::Ok();
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.dim, &stream_gradient));
  return scratch.Prepare(d, shape);
}

Status Model::Parts::BindPositions(const RunOptions& options) {
  const Positions ids{options.position_offset, shape.length, options.position_ids};
  const int64_t running_length = ids.Largest() + 1;
  Dimensions dimensions = SchemeDimensions(description);
  for (size_t layer = 0; layer < positions.size(); ++layer) {
    const bool own = options.scheme == nullptr;
    const Scheme& scheme = own ? *schemes[layer] : *options.scheme;
    dimensions.layer = static_cast<int64_t>(layer);
    POSLAB_RETURN_IF_ERROR(positions[layer].Bind(scheme, own, dimensions, ids, running_length));
  }
  return PrepareEmbedding(options, ids);
}

Status Model::Parts::PrepareEmbedding(const RunOptions& options, Positions ids) {
  const Scheme* wanted = options.scheme;
  embedding_layer = 0;
  if (!wanted && layout.embedding_layer != kAbsent) {
    embedding_layer = static_cast<size_t>(layout.embedding_layer);
    wanted = schemes[embedding_layer].get();
  }
  if (options.table_override || !wanted || !wanted->embeds()) {
    added_rows = options.table_override;
    embedding_scheme = nullptr;
    positional_reusable = false;
    return Status::Ok();
  }
  const bool same = positional_of.start == ids.start && positional_of.count == ids.count && ids.contiguous() &&
                    positional_of.contiguous();
  const bool reuse = positional_reusable && same && embedding_scheme == wanted;
  embedding_scheme = wanted;
  positional_of = ids;
  if (!reuse) {
    positional_reusable = false;
    const int64_t count = shape.length * description.dim;
    POSLAB_RETURN_IF_ERROR(Grow(count, &positional));
    if (backward) POSLAB_RETURN_IF_ERROR(Grow(count, &positional_gradient));
    std::memset(positional.data(), 0, Bytes(count));
    const ParameterValues values = positions[embedding_layer].values();
    POSLAB_RETURN_IF_ERROR(wanted->AddEmbedding(ids, description.dim, values, positional.data()));
    // A scheme given for this call may be gone at the next, and another one be at its address.
    positional_reusable = options.scheme == nullptr && values.empty();
  }
  added_rows = positional.data();
  return Status::Ok();
}

// Weights may have been changed through the span since the last pass.
void Model::Parts::TransposeMatrices() {
  const auto transpose = [this](const LinearPlace& place) {
    if (place.present())
      Transpose(weights.data() + place.weight, place.inputs, place.outputs, place.inputs,
                transposed.data() + place.weight, place.outputs);
  };
  for (const BlockPlace& block : layout.blocks)
    for (const LinearPlace* place :
         {&block.query_key_value, &block.attention_output, &block.gate, &block.in, &block.out})
      transpose(*place);
  transpose(layout.head);
}

BlockContext Model::Parts::Context(int64_t layer) {
  const auto index = static_cast<size_t>(layer);
  BlockContext context;
  context.description = &description;
  context.place = &layout.blocks[index];
  context.shape = shape;
  context.mask = mask;
  context.distances = distances ? &*distances : nullptr;
  context.weights = weights.data();
  context.transposed = transposed.data();
  context.gradients = backward ? gradients.data() : nullptr;
  context.kept = &kept[backward ? index : 0];
  context.positions = &positions[index];
  context.workspace = &workspace;
  context.scratch = &scratch;
  context.zero_sinks = zero_sinks.data();
  return context;
}

void Model::Parts::Embed(const int32_t* ids) {
  EmbeddingForward(shape.batch, shape.length, description.dim, ids, weights.data() + layout.embedding, added_rows,
                   stream(0));
}

Status Model::Parts::RunBlocks(int64_t count) {
  for (int64_t layer = 0; layer < count; ++layer)
    POSLAB_RETURN_IF_ERROR(BlockForward(Context(layer), stream(layer), stream(layer + 1)));
  return Status::Ok();
}

namespace {

NormArguments FinalNorm(const ModelDescription& d, const Layout& layout, const float* weights, int64_t rows,
                        const float* x) {
  NormArguments arguments;
  arguments.kind = d.norm == ModelDescription::Norm::kRms ? NormKind::kRms : NormKind::kLayer;
  arguments.rows = rows, arguments.width = d.dim, arguments.x = x;
  arguments.gain = weights + layout.norm.gain;
  arguments.bias = layout.norm.bias == kAbsent ? nullptr : weights + layout.norm.bias;
  return arguments;
}

}  // namespace

void Model::Parts::RunHead() {
  const float* x = stream(description.layers);
  if (layout.norm.present()) {
    NormForward(FinalNorm(description, layout, weights.data(), shape.rows, x), final_norm.data(),
                final_statistics.data());
    x = final_norm.data();
  }
  PlacedLinearForward(Context(0), layout.head, x, false, logits.data());
}

Status Model::Parts::RunForward(const int32_t* ids, int64_t batch, int64_t length, bool with_backward,
                                const RunOptions& options) {
  POSLAB_RETURN_IF_ERROR(Begin(batch, length, with_backward, options));
  Embed(ids);
  POSLAB_RETURN_IF_ERROR(RunBlocks(description.layers));
  RunHead();
  return Status::Ok();
}

Status Model::Parts::RunToLayer(std::span<const int32_t> ids, int64_t layer, const RunOptions& options,
                                float* weights) {
  if (layer < 0 || layer >= description.layers)
    return Status::Number(Code::kRange, "layer", static_cast<double>(layer), "a whole number from 0 to {0}",
                          static_cast<double>(description.layers - 1));
  POSLAB_RETURN_IF_ERROR(CheckIds(ids, nullptr, 1, static_cast<int64_t>(ids.size())));
  if (ids.empty()) return Status::Ok();
  POSLAB_RETURN_IF_ERROR(Begin(1, static_cast<int64_t>(ids.size()), false, options));
  Embed(ids.data());
  POSLAB_RETURN_IF_ERROR(RunBlocks(layer));
  BlockContext context = Context(layer);
  context.attention_weights = weights;
  return BlockForward(context, stream(layer), stream(layer + 1));
}

Status Model::Parts::RunBackward(const int32_t* ids) {
  const ModelDescription& d = description;
  const float* last = stream(d.layers);
  float* gradient = stream_gradient.data();
  if (layout.norm.present()) {
    PlacedLinearBackward(Context(0), layout.head, final_norm.data(), logits.data(), false, scratch.row.data());
    NormBackward(FinalNorm(d, layout, weights.data(), shape.rows, last), final_statistics.data(), scratch.row.data(),
                 false, gradient, gradients.data() + layout.norm.gain,
                 layout.norm.bias == kAbsent ? nullptr : gradients.data() + layout.norm.bias);
  } else {
    PlacedLinearBackward(Context(0), layout.head, last, logits.data(), false, gradient);
  }
  for (int64_t layer = d.layers - 1; layer >= 0; --layer)
    POSLAB_RETURN_IF_ERROR(BlockBackward(Context(layer), stream(layer), gradient));
  const ParameterGradients learnable = positions[embedding_layer].gradients();
  const bool pull = embedding_scheme && !learnable.empty();
  if (pull) std::memset(positional_gradient.data(), 0, Bytes(shape.length * d.dim));
  EmbeddingBackward(shape.batch, shape.length, d.dim, ids, gradient, gradients.data() + layout.embedding,
                    pull ? positional_gradient.data() : nullptr);
  if (!pull) return Status::Ok();
  return embedding_scheme->EmbeddingBackward(positional_of, d.dim, positional_gradient.data(), learnable);
}

}  // namespace poslab
