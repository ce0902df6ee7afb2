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
Status Read(Value object, const char* name, Result<Buffer<T>> (*copy)(Value, std::string_view), Buffer<T>* storage,
            std::span<const T>* span) {
  if (!IsGiven(object[name])) return Status::Ok();
  Result<Buffer<T>> copied = copy(object[name], name);
  if (!copied.ok()) return copied.status();
  *storage = std::move(*copied);
  *span = storage->span();
  return Status::Ok();
}

Status ReadTensor(Value object, const char* name, Tensor* storage, std::span<const float>* span) {
  if (!IsGiven(object[name])) return Status::Ok();
  Result<Tensor> read = TensorOf(object[name], name);
  if (!read.ok()) return read.status();
  *storage = std::move(*read);
  *span = storage->data;
  return Status::Ok();
}

Status ReadInput(Value object, GivenInput* given) {
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

AttentionKind KindOf(std::string_view kind) {
  if (kind == "encoder") return AttentionKind::kEncoder;
  if (kind == "decoder") return AttentionKind::kDecoder;
  return kind == "cross" ? AttentionKind::kCross : AttentionKind::kSelf;
}

Transformer& NextModel(Arguments* in) { return in->Next().object<Transformer>(); }

Result<OtherScheme> OtherSchemeOf(Value flat, const Architecture& architecture,
                                  const std::optional<StackDescription>& stack) {
  OtherScheme other;
  if (!IsGiven(flat) || !stack) return other;
  Result<GivenScheme> given = SchemeOf(flat, StackDimensions(architecture, *stack));
  if (!given.ok()) return given.status();
  const auto kept = std::make_shared<GivenScheme>(std::move(*given));
  other.values = kept->parameters;
  other.scheme = std::shared_ptr<const Scheme>(kept, kept->scheme.get());
  return other;
}

}  // namespace

void MakeTransformer(double message) {
  Result<std::unique_ptr<Transformer>> transformer = Transformer::Make(ArchitectureOf(Arguments(message).Next()));
  if (!transformer.ok()) return Failed(transformer.status());
  TheAnswer().Object();
  TheAnswer().Field("Transformer").Handle(transformer->release());
  TheAnswer().End();
}

void EstimateTransformer(double message) {
  Arguments in(message);
  const Architecture architecture = ArchitectureOf(in.Next());
  const Result<MemoryEstimate> estimate = Transformer::Estimate(architecture, in.NextCount());
  if (!estimate.ok()) return Failed(estimate.status());
  TheAnswer().Object();
  TheAnswer().Field("weights").Number(estimate->weights);
  TheAnswer().Field("pass").Number(estimate->pass);
  TheAnswer().Field("cachePerToken").Number(estimate->cache_per_token);
  TheAnswer().End();
}

void TransformerDelete(double message) {
  Arguments in(message);
  delete &NextModel(&in);
  TheAnswer().Null();
}

void TransformerTensors(double message) {
  Arguments in(message);
  TheAnswer().List();
  for (const Weight& weight : NextModel(&in).weights().list()) {
    TheAnswer().Object();
    TheAnswer().Field("name").Text(weight.name);
    TheAnswer().Field("shape");
    AnswerShape(weight.shape);
    TheAnswer().End();
  }
  TheAnswer().End();
}

void TransformerMissing(double message) {
  Arguments in(message);
  TheAnswer().List();
  for (const Weight& weight : NextModel(&in).weights().list())
    if (weight.filled != weight.size()) TheAnswer().Text(weight.name);
  TheAnswer().End();
}

void TransformerSetTensor(double message) {
  Arguments in(message);
  Transformer& model = NextModel(&in);
  const std::string name(in.Next().text());
  const Result<Buffer<float>> copied = CopyFloats(in.Next(), name);
  if (!copied.ok()) return Failed(copied.status());
  const int64_t from = in.NextCount();
  DoneOr(model.weights().Set(name, copied->span(), from, in.Next().truth()));
}

void TransformerChange(double message) {
  Arguments in(message);
  Transformer& model = NextModel(&in);
  const Value object = in.Next();
  const Architecture& architecture = model.architecture();
  PositionChange change;
  Result<OtherScheme> encoder = OtherSchemeOf(object["position"], architecture, architecture.encoder);
  if (!encoder.ok()) return Failed(encoder.status());
  const Value of_decoder = IsGiven(object["decoderPosition"]) ? object["decoderPosition"] : object["position"];
  Result<OtherScheme> decoder = OtherSchemeOf(of_decoder, architecture, architecture.decoder);
  if (!decoder.ok()) return Failed(decoder.status());
  change.encoder = std::move(*encoder), change.decoder = std::move(*decoder);
  change.window = MaybeCount(object, "window");
  change.shift = CountOf(object, "shift");
  DoneOr(model.Change(std::move(change)));
}

void TransformerLogits(double message) {
  Arguments in(message);
  Transformer& model = NextModel(&in);
  GivenInput given;
  POSLAB_FAIL_IF_ERROR(ReadInput(in.Next(), &given));
  Result<Buffer<float>> logits = model.Logits(given.input);
  if (!logits.ok()) return Failed(logits.status());
  const int64_t outputs = model.architecture().outputs(), rows = logits->size() / outputs;
  AnswerTensor(std::move(*logits), {rows, outputs});
}

void TransformerLosses(double message) {
  Arguments in(message);
  Transformer& model = NextModel(&in);
  GivenInput given;
  POSLAB_FAIL_IF_ERROR(ReadInput(in.Next(), &given));
  const Result<Buffer<int32_t>> targets = CopyTokens(in.Next(), "targets");
  if (!targets.ok()) return Failed(targets.status());
  Result<Buffer<float>> losses = model.Losses(given.input, targets->span());
  if (!losses.ok()) return Failed(losses.status());
  TheAnswer().Object();
  TheAnswer().Field("losses").Array(std::move(*losses));
  TheAnswer().End();
}

void TransformerAttention(double message) {
  Arguments in(message);
  Transformer& model = NextModel(&in);
  GivenInput given;
  POSLAB_FAIL_IF_ERROR(ReadInput(in.Next(), &given));
  const int64_t layer = in.NextCount();
  Result<AttentionPicture> picture = model.Attention(given.input, layer, KindOf(in.Next().text()));
  if (!picture.ok()) return Failed(picture.status());
  AnswerTensor(std::move(picture->weights), {picture->heads, picture->queries, picture->keys});
}

void TransformerHiddenStates(double message) {
  Arguments in(message);
  const Transformer& model = NextModel(&in);
  const Architecture& architecture = model.architecture();
  AnswerTensor(model.hidden_states(), {architecture.last().layers, model.hidden_rows(), architecture.dim});
}

void TransformerEncode(double message) {
  Arguments in(message);
  Transformer& model = NextModel(&in);
  GivenInput given;
  POSLAB_FAIL_IF_ERROR(ReadInput(in.Next(), &given));
  DoneOr(model.Encode(given.input));
}

void TransformerAppend(double message) {
  Arguments in(message);
  Transformer& model = NextModel(&in);
  const Result<Buffer<int32_t>> ids = CopyTokens(in.Next(), "ids");
  if (!ids.ok()) return Failed(ids.status());
  const Result<std::span<const float>> logits = model.Append(ids->span());
  if (!logits.ok()) return Failed(logits.status());
  TheAnswer().Object();
  TheAnswer().Field("logits").Array(*logits);
  TheAnswer().End();
}

void TransformerCached(double message) {
  Arguments in(message);
  TheAnswer().Number(static_cast<double>(NextModel(&in).cached()));
}

void TransformerTruncate(double message) {
  Arguments in(message);
  Transformer& model = NextModel(&in);
  DoneOr(model.Truncate(in.NextCount()));
}

}  // namespace poslab::border
