// SPDX-License-Identifier: MIT
// Calls into loaded models, one by one; see models.h.
#include "models.h"

#include "border.h"

namespace poslab::border {
namespace {

// What a ModelInput's spans point into.
struct GivenInput {
  Buffer<int32_t> ids, token_types, decoder_ids;
  Buffer<int64_t> positions;
  Buffer<uint8_t> mask;
  Tensor pixels, memory;
  ModelInput input;
};

template <typename T>
Status Read(const val& object, const char* name, Result<Buffer<T>> (*copy)(const val&, std::string_view),
            Buffer<T>* storage, std::span<const T>* span) {
  if (!IsGiven(object[name])) return Status::Ok();
  Result<Buffer<T>> copied = copy(object[name], name);
  if (!copied.ok()) return copied.status();
  *storage = std::move(*copied);
  *span = storage->span();
  return Status::Ok();
}

Status ReadTensor(const val& object, const char* name, Tensor* storage, std::span<const float>* span) {
  if (!IsGiven(object[name])) return Status::Ok();
  Result<Tensor> read = TensorOf(object[name], name);
  if (!read.ok()) return read.status();
  *storage = std::move(*read);
  *span = storage->data.span();
  return Status::Ok();
}

Status ReadInput(const val& object, GivenInput* given) {
  ModelInput& input = given->input;
  POSLAB_RETURN_IF_ERROR(Read(object, "ids", CopyTokens, &given->ids, &input.ids));
  POSLAB_RETURN_IF_ERROR(Read(object, "attentionMask", CopyBytes, &given->mask, &input.mask));
  POSLAB_RETURN_IF_ERROR(Read(object, "positions", CopyIds, &given->positions, &input.positions));
  POSLAB_RETURN_IF_ERROR(Read(object, "tokenTypes", CopyTokens, &given->token_types, &input.token_types));
  POSLAB_RETURN_IF_ERROR(Read(object, "decoderIds", CopyTokens, &given->decoder_ids, &input.decoder_ids));
  POSLAB_RETURN_IF_ERROR(ReadTensor(object, "pixels", &given->pixels, &input.pixels));
  POSLAB_RETURN_IF_ERROR(ReadTensor(object, "memory", &given->memory, &input.memory));
  if (!input.pixels.empty()) input.height = given->pixels.shape[1], input.width = given->pixels.shape[2];
  if (!input.memory.empty()) input.memory_rows = given->memory.shape[1];
  return Status::Ok();
}

AttentionKind KindOf(const std::string& kind) {
  if (kind == "encoder") return AttentionKind::kEncoder;
  if (kind == "decoder") return AttentionKind::kDecoder;
  return kind == "cross" ? AttentionKind::kCross : AttentionKind::kSelf;
}

val DoneOr(const Status& status) { return status.ok() ? val::object() : Failed(status); }

}  // namespace

val TransformerObject::Tensors() const {
  val list = val::array();
  for (const Weight& weight : transformer_->weights().list()) {
    val item = val::object();
    item.set("name", weight.name);
    item.set("shape", ShapeValue(weight.shape));
    list.call<void>("push", item);
  }
  return list;
}

val TransformerObject::Missing() const {
  val list = val::array();
  for (const Weight& weight : transformer_->weights().list())
    if (weight.filled != weight.size()) list.call<void>("push", weight.name);
  return list;
}

val TransformerObject::SetTensor(const std::string& name, const val& numbers, double from, bool transposed) {
  const Result<Buffer<float>> copied = CopyFloats(numbers, name);
  if (!copied.ok()) return Failed(copied.status());
  return DoneOr(transformer_->weights().Set(name, copied->span(), static_cast<int64_t>(from), transposed));
}

Result<OtherScheme> TransformerObject::OtherSchemeOf(const val& flat,
                                                     const std::optional<StackDescription>& stack) const {
  OtherScheme other;
  if (!IsGiven(flat) || !stack) return other;
  Result<GivenScheme> given = SchemeOf(flat, StackDimensions(transformer_->architecture(), *stack));
  if (!given.ok()) return given.status();
  const auto kept = std::make_shared<GivenScheme>(std::move(*given));
  other.values = kept->parameters;
  other.scheme = std::shared_ptr<const Scheme>(kept, kept->scheme.get());
  return other;
}

val TransformerObject::Change(const val& object) {
  const Architecture& architecture = transformer_->architecture();
  PositionChange change;
  Result<OtherScheme> encoder = OtherSchemeOf(object["position"], architecture.encoder);
  if (!encoder.ok()) return Failed(encoder.status());
  const val of_decoder = IsGiven(object["decoderPosition"]) ? object["decoderPosition"] : object["position"];
  Result<OtherScheme> decoder = OtherSchemeOf(of_decoder, architecture.decoder);
  if (!decoder.ok()) return Failed(decoder.status());
  change.encoder = std::move(*encoder), change.decoder = std::move(*decoder);
  change.window = MaybeCount(object, "window");
  change.shift = CountOf(object, "shift");
  return DoneOr(transformer_->Change(std::move(change)));
}

val TransformerObject::Logits(const val& object) {
  GivenInput given;
  POSLAB_FAIL_IF_ERROR(ReadInput(object, &given));
  const Result<Buffer<float>> logits = transformer_->Logits(given.input);
  if (!logits.ok()) return Failed(logits.status());
  const int64_t outputs = transformer_->architecture().outputs();
  return TensorValue(logits->span(), {logits->size() / outputs, outputs});
}

val TransformerObject::Losses(const val& object, const val& target_ids) {
  GivenInput given;
  POSLAB_FAIL_IF_ERROR(ReadInput(object, &given));
  const Result<Buffer<int32_t>> targets = CopyTokens(target_ids, "targets");
  if (!targets.ok()) return Failed(targets.status());
  const Result<Buffer<float>> losses = transformer_->Losses(given.input, targets->span());
  if (!losses.ok()) return Failed(losses.status());
  val result = val::object();
  result.set("losses", FloatsValue(losses->span()));
  return result;
}

val TransformerObject::Attention(const val& object, double layer, const std::string& kind) {
  GivenInput given;
  POSLAB_FAIL_IF_ERROR(ReadInput(object, &given));
  const Result<AttentionPicture> picture =
      transformer_->Attention(given.input, static_cast<int64_t>(layer), KindOf(kind));
  if (!picture.ok()) return Failed(picture.status());
  return TensorValue(picture->weights.span(), {picture->heads, picture->queries, picture->keys});
}

val TransformerObject::HiddenStates() const {
  const Architecture& architecture = transformer_->architecture();
  return TensorValue(transformer_->hidden_states(),
                     {architecture.last().layers, transformer_->hidden_rows(), architecture.dim});
}

val TransformerObject::Encode(const val& object) {
  GivenInput given;
  POSLAB_FAIL_IF_ERROR(ReadInput(object, &given));
  return DoneOr(transformer_->Encode(given.input));
}

val TransformerObject::Append(const val& tokens) {
  const Result<Buffer<int32_t>> ids = CopyTokens(tokens, "ids");
  if (!ids.ok()) return Failed(ids.status());
  const Result<std::span<const float>> logits = transformer_->Append(ids->span());
  if (!logits.ok()) return Failed(logits.status());
  val result = val::object();
  result.set("logits", FloatsValue(*logits));
  return result;
}

val TransformerObject::Truncate(double length) { return DoneOr(transformer_->Truncate(static_cast<int64_t>(length))); }

val MakeTransformer(const val& architecture) {
  Result<std::unique_ptr<Transformer>> transformer = Transformer::Make(ArchitectureOf(architecture));
  if (!transformer.ok()) return Failed(transformer.status());
  val result = val::object();
  result.set("model", std::make_shared<TransformerObject>(std::move(*transformer)));
  return result;
}

val EstimateTransformer(const val& architecture, double length) {
  const Result<MemoryEstimate> estimate =
      Transformer::Estimate(ArchitectureOf(architecture), static_cast<int64_t>(length));
  if (!estimate.ok()) return Failed(estimate.status());
  val result = val::object();
  result.set("weights", estimate->weights);
  result.set("pass", estimate->pass);
  result.set("cachePerToken", estimate->cache_per_token);
  return result;
}

}  // namespace poslab::border
