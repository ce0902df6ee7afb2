// SPDX-License-Identifier: MIT
#include "transformer/transformer.h"

#include <algorithm>

#include "attention/attention.h"
#include "model/cross_entropy.h"
#include "model/pass_memory.h"
#include "transformer/transformer_parts.h"

namespace poslab {
namespace {

// Rows whose logits are held together where only their losses are wanted.
constexpr int64_t kRowsAtATime = 64;

Status CheckLayer(int64_t layer, int64_t layers) {
  if (layer >= 0 && layer < layers) return Status::Ok();
  return Status::Number(Code::kRange, "layer", static_cast<double>(layer), "a whole number from 0 to {0}",
                        static_cast<double>(layers - 1));
}

double PassBytes(const Architecture& a, const StackDescription& s, double length) {
  const double rows = 3 * static_cast<double>(a.dim) + 2 * static_cast<double>(s.query_width() + s.key_width());
  const double states = a.memory_length > 0 ? static_cast<double>(s.layers * a.dim) : 0;
  const double few = std::min(length, static_cast<double>(kRowsAtATime)) * 2 * static_cast<double>(s.feed_forward);
  return (length * (rows + states) + few) * sizeof(float);
}

}  // namespace

Transformer::Transformer() = default;
Transformer::~Transformer() = default;

Status Transformer::Parts::Start() {
  struct Side {
    const std::optional<StackDescription>& description;
    const StackTensors& tensors;
    Half* half;
    LayerSchemes schemes;
  } sides[] = {{architecture.encoder, tensors.encoder, &encoder, {}},
               {architecture.decoder, tensors.decoder, &decoder, {}}};
  for (Side& side : sides) {
    if (!side.description) continue;
    Result<LayerSchemes> schemes = MakeLayerSchemes(*side.description);
    if (!schemes.ok()) return schemes.status();
    side.schemes = std::move(*schemes);
  }
  Result<ModelTensors> plan = PlanTensors(architecture, sides[0].schemes, sides[1].schemes, &weights);
  if (!plan.ok()) return plan.status();
  tensors = std::move(*plan);
  for (Side& side : sides) {
    if (!side.description) continue;
    side.half->description = &*side.description, side.half->tensors = &side.tensors;
    side.half->stack.Start(&architecture, &*side.description, &side.tensors, &weights);
    POSLAB_RETURN_IF_ERROR(
        side.half->positions.Start(architecture, *side.description, std::move(side.schemes), side.tensors, &weights));
  }
  return Status::Ok();
}

Result<std::unique_ptr<Transformer>> Transformer::Make(Architecture architecture) {
  POSLAB_RETURN_IF_ERROR(CheckArchitecture(architecture));
  std::unique_ptr<Transformer> transformer(new Transformer());
  transformer->parts_ = std::make_unique<Parts>();
  transformer->parts_->architecture = std::move(architecture);
  POSLAB_RETURN_IF_ERROR(transformer->parts_->Start());
  return transformer;
}

Result<MemoryEstimate> Transformer::Estimate(const Architecture& architecture, int64_t length) {
  POSLAB_RETURN_IF_ERROR(CheckArchitecture(architecture));
  LayerSchemes schemes[2];
  MemoryEstimate estimate;
  const std::optional<StackDescription>* stacks[] = {&architecture.encoder, &architecture.decoder};
  for (int n = 0; n < 2; ++n) {
    if (!*stacks[n]) continue;
    const StackDescription& stack = **stacks[n];
    Result<LayerSchemes> made = MakeLayerSchemes(stack);
    if (!made.ok()) return made.status();
    schemes[n] = std::move(*made);
    estimate.pass += PassBytes(architecture, stack, static_cast<double>(length));
    if (stack.causal)
      estimate.cache_per_token = static_cast<double>(stack.layers * 2 * stack.key_width()) * sizeof(float);
  }
  Weights weights;
  const Result<ModelTensors> plan = PlanTensors(architecture, schemes[0], schemes[1], &weights);
  if (!plan.ok()) return plan.status();
  estimate.weights = weights.bytes();
  const bool one_row = architecture.head && architecture.head->first_row;
  estimate.pass +=
      (one_row ? 1 : static_cast<double>(length)) * static_cast<double>(architecture.outputs()) * sizeof(float);
  return estimate;
}

const Architecture& Transformer::architecture() const { return parts_->architecture; }
Weights& Transformer::weights() { return parts_->weights; }

Status Transformer::Change(PositionChange change) {
  Parts& p = *parts_;
  if (change.window && *change.window < 0)
    return Status::Number(Code::kRange, "window", static_cast<double>(*change.window), "a whole number from 0 (none)");
  POSLAB_RETURN_IF_ERROR(Truncate(0));
  if (p.architecture.encoder) POSLAB_RETURN_IF_ERROR(p.encoder.positions.Change(change.encoder));
  Status status = p.architecture.decoder ? p.decoder.positions.Change(change.decoder) : Status::Ok();
  if (status.ok())
    p.change = std::move(change);
  else if (p.architecture.encoder)
    POSLAB_RETURN_IF_ERROR(p.encoder.positions.Change(p.change.encoder));
  return status;
}

// ------------------------------------------------------------------------------------------------------ passes

Result<Positions> Transformer::Parts::PositionsOf(const ModelInput& input, int64_t count, Half* half) {
  if (input.positions.empty()) return Positions{input.memory_rows + change.shift, count, nullptr};
  POSLAB_RETURN_IF_ERROR(half->ids.ResizeForOverwrite("positions", count));
  for (int64_t n = 0; n < count; ++n) half->ids[n] = input.positions[static_cast<size_t>(n)] + change.shift;
  return Positions{0, count, half->ids.data()};
}

Status Transformer::Parts::RunInput(const ModelInput& input, const Wanted& wanted) {
  Half& half = architecture.encoder ? encoder : decoder;
  StackPass pass;
  pass.rows = InputRows(input);
  const Result<Positions> positions = PositionsOf(input, pass.rows, &half);
  if (!positions.ok()) return positions.status();
  pass.positions = pass.key_positions = *positions;
  if (input.memory_rows > 0) pass.key_positions = {change.shift, input.memory_rows + pass.rows, nullptr};
  if (!input.mask.empty()) pass.key_mask = input.mask.data();
  pass.memory = input.memory.data(), pass.memory_rows = input.memory_rows;
  pass.layers = wanted.layers ? wanted.layers : half.description->layers;
  pass.window = change.window;
  pass.weights = wanted.weights;
  if (wanted.hidden_states) {
    POSLAB_RETURN_IF_ERROR(Grow(CheckedProduct({pass.layers, pass.rows, architecture.dim}), &states));
    pass.hidden_states = states.data();
  }
  POSLAB_RETURN_IF_ERROR(architecture.image ? EmbedImage(input)
                                            : EmbedTokens(&half, input.ids, input.token_types, *positions));
  return half.stack.Run(pass, &half.positions, half.rows.data());
}

Status Transformer::Parts::RunDecoder(std::span<const int32_t> ids, bool cache, const Wanted& wanted) {
  StackPass pass;
  pass.rows = static_cast<int64_t>(ids.size());
  pass.cache = cache;
  const int64_t before = cache ? decoder.stack.cached() : 0;
  pass.positions = {before + change.shift, pass.rows, nullptr};
  pass.key_positions = {change.shift, before + pass.rows, nullptr};
  pass.layers = wanted.layers ? wanted.layers : decoder.description->layers;
  pass.window = change.window;
  pass.weights = wanted.weights, pass.cross_weights = wanted.cross_weights;
  POSLAB_RETURN_IF_ERROR(EmbedTokens(&decoder, ids, {}, pass.positions));
  return decoder.stack.Run(pass, &decoder.positions, decoder.rows.data());
}

Result<int64_t> Transformer::Parts::RunCached(std::span<const int32_t> ids) {
  const int64_t before = decoder.stack.cached(), length = before + static_cast<int64_t>(ids.size());
  if (length > cached_ids.size()) {
    Buffer<int32_t> larger;
    POSLAB_RETURN_IF_ERROR(larger.ResizeForOverwrite("cache", 2 * length));
    std::copy_n(cached_ids.data(), before, larger.data());
    cached_ids = std::move(larger);
  }
  std::copy(ids.begin(), ids.end(), cached_ids.data() + before);
  const int64_t running_length = std::max<int64_t>(0, length + change.shift);
  const bool stale = before > 0 && !decoder.positions.SameAngles(angles_length, running_length);
  if (stale) {
    decoder.stack.Truncate(0);
    ids = {cached_ids.data(), static_cast<size_t>(length)};
  }
  POSLAB_RETURN_IF_ERROR(RunDecoder(ids, true, {}));
  angles_length = running_length;
  return static_cast<int64_t>(ids.size());
}

Status Transformer::Parts::RunEncoder(const ModelInput& input, const Wanted& wanted) {
  decoder.stack.Truncate(0);
  POSLAB_RETURN_IF_ERROR(RunInput(input, wanted));
  return decoder.stack.SetEncoded(encoder.rows.data(), InputRows(input),
                                  input.mask.empty() ? nullptr : input.mask.data());
}

Result<int64_t> Transformer::Parts::RunAll(const ModelInput& input) {
  POSLAB_RETURN_IF_ERROR(CheckInput(input));
  if (architecture.two_stacks()) {
    POSLAB_RETURN_IF_ERROR(RunEncoder(input, {}));
    POSLAB_RETURN_IF_ERROR(RunDecoder(input.decoder_ids, false, {}));
    return static_cast<int64_t>(input.decoder_ids.size());
  }
  Wanted wanted;
  wanted.hidden_states = architecture.memory_length > 0;
  POSLAB_RETURN_IF_ERROR(RunInput(input, wanted));
  const int64_t rows = InputRows(input);
  if (wanted.hidden_states) POSLAB_RETURN_IF_ERROR(KeepMemory(input, rows));
  return rows;
}

// The last memory_length of what was remembered and what came now.
Status Transformer::Parts::KeepMemory(const ModelInput& input, int64_t rows) {
  const int64_t dim = architecture.dim, layers = last().description->layers;
  const int64_t kept = std::min(architecture.memory_length, input.memory_rows + rows);
  const int64_t fresh = std::min(kept, rows), old = kept - fresh;
  Buffer<float> next;
  POSLAB_RETURN_IF_ERROR(next.ResizeForOverwrite("memory", CheckedProduct({layers, kept, dim})));
  for (int64_t layer = 0; layer < layers; ++layer) {
    float* to = next.data() + layer * kept * dim;
    if (old > 0) std::copy_n(input.memory.data() + ((layer + 1) * input.memory_rows - old) * dim, old * dim, to);
    std::copy_n(states.data() + ((layer + 1) * rows - fresh) * dim, fresh * dim, to + old * dim);
  }
  memory = std::move(next);
  memory_rows = kept;
  return Status::Ok();
}

// ------------------------------------------------------------------------------------------------------ calls

Result<Buffer<float>> Transformer::Logits(const ModelInput& input) {
  Parts& p = *parts_;
  const Result<int64_t> rows = p.RunAll(input);
  if (!rows.ok()) return rows.status();
  const bool first_row = p.architecture.head && p.architecture.head->first_row;
  const int64_t count = first_row ? std::min<int64_t>(1, *rows) : *rows;
  Buffer<float> logits;
  POSLAB_RETURN_IF_ERROR(logits.ResizeForOverwrite("logits", CheckedProduct({count, p.architecture.outputs()})));
  POSLAB_RETURN_IF_ERROR(p.RunHead(p.last().rows.data(), count, logits.data()));
  return logits;
}

Result<Buffer<float>> Transformer::Losses(const ModelInput& input, std::span<const int32_t> targets) {
  Parts& p = *parts_;
  if (!p.architecture.head || p.architecture.head->first_row)
    return Status::Text(Code::kContradiction, "losses", "a model without logits for each token", "a language model");
  const int64_t expected =
      p.architecture.two_stacks() ? static_cast<int64_t>(input.decoder_ids.size()) : p.InputRows(input);
  const int64_t outputs = p.architecture.head->outputs, dim = p.architecture.dim;
  if (static_cast<int64_t>(targets.size()) != expected)
    return Status::Number(Code::kShape, "targets", static_cast<double>(targets.size()), "{0} ids, one a token",
                          static_cast<double>(expected));
  for (int32_t target : targets)
    if (target < -1 || target >= outputs)
      return Status::Number(Code::kRange, "targets", target, "ids from 0 to {0}, or -1 where a place is not scored",
                            static_cast<double>(outputs - 1));
  const Result<int64_t> rows = p.RunAll(input);
  if (!rows.ok()) return rows.status();
  Buffer<float> losses;
  POSLAB_RETURN_IF_ERROR(losses.ResizeForOverwrite("losses", *rows));
  POSLAB_RETURN_IF_ERROR(Grow(CheckedProduct({std::min(*rows, kRowsAtATime), outputs}), &p.logits));
  for (int64_t first = 0; first < *rows; first += kRowsAtATime) {
    const int64_t few = std::min(kRowsAtATime, *rows - first);
    POSLAB_RETURN_IF_ERROR(p.RunHead(p.last().rows.data() + first * dim, few, p.logits.data()));
    ScoreRows(few, outputs, targets.data() + first, p.logits.data(), losses.data() + first, nullptr);
  }
  return losses;
}

Result<AttentionPicture> Transformer::Attention(const ModelInput& input, int64_t layer, AttentionKind kind) {
  Parts& p = *parts_;
  POSLAB_RETURN_IF_ERROR(p.CheckInput(input));
  if ((kind == AttentionKind::kSelf) == p.architecture.two_stacks())
    return Status::Text(Code::kContradiction, "kind", kind == AttentionKind::kSelf ? "self" : "of two stacks",
                        p.architecture.two_stacks() ? "encoder, decoder or cross" : "self");
  const bool of_input = kind == AttentionKind::kSelf || kind == AttentionKind::kEncoder;
  const StackDescription& stack =
      of_input && p.architecture.encoder ? *p.architecture.encoder : *p.architecture.decoder;
  POSLAB_RETURN_IF_ERROR(CheckLayer(layer, stack.layers));
  const int64_t rows = p.InputRows(input), decoded = static_cast<int64_t>(input.decoder_ids.size());
  AttentionPicture picture;
  picture.heads = stack.heads;
  picture.queries = of_input ? rows : decoded;
  picture.keys = kind == AttentionKind::kDecoder ? decoded : input.memory_rows + rows;
  const Result<int64_t> size = WeightsSize("weights", picture.heads, picture.queries, picture.keys);
  if (!size.ok()) return size.status();
  POSLAB_RETURN_IF_ERROR(picture.weights.Resize("weights", *size));
  Parts::Wanted wanted;
  wanted.layers = layer + 1;
  (kind == AttentionKind::kCross ? wanted.cross_weights : wanted.weights) = picture.weights.data();
  if (of_input) {
    POSLAB_RETURN_IF_ERROR(p.RunInput(input, wanted));
  } else {
    POSLAB_RETURN_IF_ERROR(p.RunEncoder(input, {}));
    POSLAB_RETURN_IF_ERROR(p.RunDecoder(input.decoder_ids, false, wanted));
  }
  return picture;
}

std::span<const float> Transformer::hidden_states() const { return parts_->memory.span(); }
int64_t Transformer::hidden_rows() const { return parts_->memory_rows; }

Status Transformer::Encode(const ModelInput& input) {
  Parts& p = *parts_;
  if (!p.architecture.two_stacks())
    return Status::Text(Code::kContradiction, "encode", "a model of one stack", "an encoder-decoder");
  POSLAB_RETURN_IF_ERROR(p.CheckInput(input));
  return p.RunEncoder(input, {});
}

Result<std::span<const float>> Transformer::Append(std::span<const int32_t> ids) {
  Parts& p = *parts_;
  if (!p.architecture.decoder)
    return Status::Text(Code::kContradiction, "append", "an encoder", "a model with a decoder");
  if (p.architecture.two_stacks() && p.decoder.stack.encoded() == 0)
    return Status::Text(Code::kState, "append", "", "encode comes first");
  if (ids.empty()) return Status::Text(Code::kMissing, "ids", "", "at least one id");
  ModelInput checked;
  (p.architecture.two_stacks() ? checked.decoder_ids : checked.ids) = ids;
  POSLAB_RETURN_IF_ERROR(p.CheckInput(checked));
  const Result<int64_t> rows = p.RunCached(ids);
  if (!rows.ok()) return rows.status();
  const int64_t outputs = p.architecture.outputs();
  POSLAB_RETURN_IF_ERROR(Grow(outputs, &p.logits));
  float* row = p.decoder.rows.data() + (*rows - 1) * p.architecture.dim;
  POSLAB_RETURN_IF_ERROR(p.RunHead(row, 1, p.logits.data()));
  return std::span<const float>(p.logits.data(), static_cast<size_t>(outputs));
}

int64_t Transformer::cached() const { return parts_->architecture.decoder ? parts_->decoder.stack.cached() : 0; }

Status Transformer::Truncate(int64_t length) {
  if (length < 0 || length > cached())
    return Status::Number(Code::kRange, "length", static_cast<double>(length),
                          "a whole number from 0 to {0}, the cached", static_cast<double>(cached()));
  parts_->decoder.stack.Truncate(length);
  return Status::Ok();
}

}  // namespace poslab
