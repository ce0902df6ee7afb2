// SPDX-License-Identifier: MIT
// Calls into the lab, one by one; see lab.h.
#include "lab.h"

#include <algorithm>

#include "border.h"
#include "lab_descriptions.h"
#include "position/registry.h"

namespace poslab::border {
namespace {

int64_t Whole(double number) { return static_cast<int64_t>(number); }

val TokensValue(std::span<const int32_t> ids) {
  return val(emscripten::typed_memory_view(ids.size(), ids.data())).call<val>("slice");
}

val Done() { return val::object(); }
val DoneOr(const Status& status) { return status.ok() ? Done() : Failed(status); }

val RowValue(const Buffer<int32_t>& ids, const Buffer<int32_t>& targets) {
  val row = val::object();
  row.set("ids", TokensValue(ids.span()));
  row.set("targets", TokensValue(targets.span()));
  return row;
}

val LengthValue(const LengthResult& result) {
  val entry = val::object();
  entry.set("length", static_cast<double>(result.length));
  entry.set("reason", result.defined ? val::null() : FailureValue(result.reason));
  entry.set("loss", result.loss);
  entry.set("lossError", result.loss_error);
  entry.set("lossAtEnd", result.loss_at_end);
  entry.set("lossAtEndError", result.loss_at_end_error);
  entry.set("accuracy", result.accuracy);
  entry.set("accuracyAtEnd", result.accuracy_at_end);
  return entry;
}

val LengthsValue(std::span<const LengthResult> results) {
  val list = val::array();
  for (const LengthResult& result : results) list.call<void>("push", LengthValue(result));
  return list;
}

val PositionsValue(const PositionResult& result) {
  val by_position = val::object();
  by_position.set("binWidth", static_cast<double>(result.bin_width));
  by_position.set("loss", DoublesValue(result.loss));
  return by_position;
}

}  // namespace

val TasksList() {
  val list = val::array();
  for (const TaskInfo& info : Tasks()) {
    val item = val::object();
    item.set("type", std::string(info.type));
    item.set("text", info.text);
    item.set("vocabulary", static_cast<double>(info.vocabulary));
    item.set("guessAccuracy", info.guess_accuracy);
    item.set("symbols", std::string(info.symbols));
    list.call<void>("push", item);
  }
  return list;
}

val SampleRowCall(const val& description, std::shared_ptr<CorpusObject> corpus, double length, double seed) {
  Result<std::unique_ptr<Task>> task = MakeTask(TaskOf(description), corpus ? corpus->get() : nullptr, 0);
  if (!task.ok()) return Failed(task.status());
  POSLAB_FAIL_IF_ERROR((*task)->CheckLength(Whole(length), /*training=*/true));
  Buffer<int32_t> ids, targets;
  POSLAB_FAIL_IF_ERROR(ids.Resize("length", Whole(length)));
  POSLAB_FAIL_IF_ERROR(targets.Resize("length", Whole(length)));
  POSLAB_FAIL_IF_ERROR(SampleRow(**task, Whole(length), static_cast<uint64_t>(seed), ids.data(), targets.data()));
  return RowValue(ids, targets);
}

val CorpusObject::SymbolList() const {
  return val(emscripten::typed_memory_view(corpus_->symbols().size(), corpus_->symbols().data())).call<val>("slice");
}

val CorpusObject::TestIds(double from, double count) const {
  const std::span<const int32_t> ids = corpus_->test();
  const size_t first = std::min(static_cast<size_t>(from), ids.size());
  return TokensValue(ids.subspan(first, std::min(static_cast<size_t>(count), ids.size() - first)));
}

val MakeCorpus(const val& utf8, bool as_bytes) {
  Result<Buffer<uint8_t>> bytes = CopyBytes(utf8, "task.text");
  if (!bytes.ok()) return Failed(bytes.status());
  Result<std::shared_ptr<const Corpus>> corpus =
      Corpus::Make(bytes->span(), as_bytes ? Corpus::Unit::kBytes : Corpus::Unit::kCharacters);
  if (!corpus.ok()) return Failed(corpus.status());
  val result = val::object();
  result.set("corpus", std::make_shared<CorpusObject>(*corpus));
  return result;
}

val ModelObject::Parameters() {
  val list = val::array();
  for (const ParameterInfo& info : model().parameters()) {
    val item = val::object();
    item.set("name", info.name);
    item.set("shape", ShapeValue(info.shape));
    item.set("offset", static_cast<double>(info.offset));
    item.set("size", static_cast<double>(info.size));
    list.call<void>("push", item);
  }
  return list;
}

val ModelObject::Weights() { return FloatsValue(model().weights()); }

val ModelObject::SetWeights(const val& numbers) {
  const std::span<float> weights = model().weights();
  val(emscripten::typed_memory_view(weights.size(), weights.data())).call<void>("set", numbers);
  return Done();
}

val RunObject::Progress() const {
  static constexpr const char* kPhases[] = {"training", "measuring", "done"};
  const Run::Progress at = run_->progress();
  val progress = val::object();
  progress.set("phase", std::string(kPhases[static_cast<int>(at.phase)]));
  progress.set("step", static_cast<double>(at.step));
  progress.set("steps", static_cast<double>(at.steps));
  progress.set("loss", at.loss);
  progress.set("measured", static_cast<double>(at.measured));
  progress.set("toMeasure", static_cast<double>(at.to_measure));
  return progress;
}

val RunObject::Advance(double steps) { return DoneOr(run_->Advance(Whole(steps))); }

val RunObject::Losses(double from) const {
  const std::span<const double> losses = run_->losses();
  return DoublesValue(losses.subspan(std::min(static_cast<size_t>(from), losses.size())));
}

val RunObject::Results() const {
  val at_test = val::array();
  for (const std::vector<LengthResult>& entry : run_->at_test()) at_test.call<void>("push", LengthsValue(entry));
  val results = val::object();
  results.set("byLength", LengthsValue(run_->by_length()));
  results.set("byPosition", PositionsValue(run_->by_position()));
  results.set("atTest", at_test);
  return results;
}

val RunObject::StartMeasuring(const val& change, double length, double windows) {
  Result<std::unique_ptr<LiveMeasurement>> measuring =
      LiveMeasurement::Start(run_.get(), ChangeOf(change), Whole(length), Whole(windows));
  if (!measuring.ok()) return Failed(measuring.status());
  measuring_ = std::move(*measuring);
  return Done();
}

val RunObject::AdvanceMeasuring(double windows) {
  if (!measuring_) return Failed(Status::Text(Code::kState, "measure", "", "startMeasuring comes first"));
  POSLAB_FAIL_IF_ERROR(measuring_->Advance(Whole(windows)));
  val result = val::object();
  const bool done = measuring_->done();
  result.set("done", done);
  if (!done) return result;
  result.set("result", LengthValue(measuring_->Finish()));
  result.set("byPosition", PositionsValue(measuring_->FinishPositions()));
  measuring_.reset();
  return result;
}

val RunObject::Generate(const val& prompt, double count, double temperature, double seed, const val& change) {
  Result<Buffer<int32_t>> ids = CopyTokens(prompt, "prompt");
  if (!ids.ok()) return Failed(ids.status());
  Buffer<int32_t> made;
  Buffer<float> losses;
  POSLAB_FAIL_IF_ERROR(made.Resize("count", Whole(count)));
  POSLAB_FAIL_IF_ERROR(losses.Resize("count", Whole(count)));
  POSLAB_FAIL_IF_ERROR(run_->Generate(ids->span(), Whole(count), temperature, static_cast<uint64_t>(seed),
                                      ChangeOf(change), made.data(), losses.data()));
  val result = val::object();
  result.set("ids", TokensValue(made.span()));
  result.set("losses", FloatsValue(losses.span()));
  return result;
}

val RunObject::AttentionWeights(const val& tokens, double layer, const val& change) {
  Result<Buffer<int32_t>> ids = CopyTokens(tokens, "text");
  if (!ids.ok()) return Failed(ids.status());
  const int64_t heads = model().description().heads, length = ids->size();
  Buffer<float> weights;
  POSLAB_FAIL_IF_ERROR(weights.Resize("weights", CheckedProduct({heads, length, length})));
  POSLAB_FAIL_IF_ERROR(LiveAttentionWeights(run_.get(), ids->span(), Whole(layer), ChangeOf(change), weights.data()));
  return TensorValue(weights.span(), {heads, length, length});
}

val RunObject::QueryKeyValue(const val& tokens, double layer, const val& change) {
  Result<Buffer<int32_t>> ids = CopyTokens(tokens, "text");
  if (!ids.ok()) return Failed(ids.status());
  const Result<std::span<const float>> rows =
      LiveQueryKeyValue(run_.get(), ids->span(), Whole(layer), ChangeOf(change));
  if (!rows.ok()) return Failed(rows.status());
  const int64_t length = ids->size();
  return TensorValue(*rows, {length, static_cast<int64_t>(rows->size()) / std::max<int64_t>(1, length)});
}

val RunObject::SaveState() const {
  const Result<Buffer<uint8_t>> state = run_->SaveState();
  if (!state.ok()) return Failed(state.status());
  val result = val::object();
  result.set("bytes", BytesValue(state->span()));
  return result;
}

val RunObject::LoadState(const val& bytes) {
  Result<Buffer<uint8_t>> copied = CopyBytes(bytes, "state");
  return DoneOr(copied.ok() ? run_->LoadState(copied->span()) : copied.status());
}

val MakeRun(const val& description, std::shared_ptr<CorpusObject> corpus) {
  Result<std::unique_ptr<Run>> run = Run::Make(RunOf(description), corpus ? corpus->get() : nullptr);
  if (!run.ok()) return Failed(run.status());
  val result = val::object();
  result.set("run", std::make_shared<RunObject>(std::move(*run)));
  return result;
}

val TrainerObject::Loss(const val& ids, const val& targets, double batch, double length) {
  Result<Buffer<int32_t>> in = CopyTokens(ids, "batches"), out = CopyTokens(targets, "batches");
  if (!in.ok()) return Failed(in.status());
  if (!out.ok()) return Failed(out.status());
  const Result<Model::LossResult> result = model_->Loss(in->span(), out->span(), Whole(batch), Whole(length), true);
  if (!result.ok()) return Failed(result.status());
  val value = val::object();
  value.set("loss", result->loss);
  return value;
}

val TrainerObject::Gradients() { return FloatsValue(model_->gradients()); }

val TrainerObject::Update() {
  const Result<double> norm = optimizer_.Step(model_.get());
  if (!norm.ok()) return Failed(norm.status());
  val value = val::object();
  value.set("gradientNorm", *norm);
  return value;
}

val TrainerObject::Score(const val& ids, const val& targets, double batch, double length) {
  Result<Buffer<int32_t>> in = CopyTokens(ids, "test"), out = CopyTokens(targets, "test");
  if (!in.ok()) return Failed(in.status());
  if (!out.ok()) return Failed(out.status());
  Buffer<float> losses;
  POSLAB_FAIL_IF_ERROR(losses.Resize("test", in->size()));
  POSLAB_FAIL_IF_ERROR(model_->Score(in->span(), out->span(), Whole(batch), Whole(length), {}, losses.data(), nullptr));
  val value = val::object();
  value.set("losses", FloatsValue(losses.span()));
  return value;
}

val MakeTrainer(const val& shape, const val& position, const val& optimizer_object) {
  const ModelDescription description = ModelOf(shape);
  const OptimizerDescription optimizer_description = OptimizerOf(optimizer_object);
  POSLAB_FAIL_IF_ERROR(CheckModel(description));
  POSLAB_FAIL_IF_ERROR(CheckOptimizer(optimizer_description));
  Result<std::unique_ptr<Scheme>> scheme = MakeScheme(DescriptionOf(position));
  if (!scheme.ok()) return Failed(scheme.status());
  Result<std::unique_ptr<Model>> model = Model::Make(description, {std::shared_ptr<const Scheme>(std::move(*scheme))});
  if (!model.ok()) return Failed(model.status());
  Result<AdamW> optimizer = AdamW::Make(optimizer_description, **model);
  if (!optimizer.ok()) return Failed(optimizer.status());
  val result = val::object();
  result.set("trainer", std::make_shared<TrainerObject>(std::move(*model), std::move(*optimizer)));
  return result;
}

}  // namespace poslab::border
