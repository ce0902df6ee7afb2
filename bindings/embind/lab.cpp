// SPDX-License-Identifier: MIT
// Calls into the lab, one by one; see lab.h.
#include "lab.h"

#include <algorithm>

#include "border.h"
#include "corpus.h"
#include "lab/live.h"
#include "lab/run.h"
#include "lab_descriptions.h"
#include "position/registry.h"

namespace poslab::border {
namespace {

// What has a model. Handles of both kinds are addresses of this part of them.
struct ModelObject {
  virtual ~ModelObject() = default;
  virtual Model& model() = 0;
};

struct RunObject : ModelObject {
  explicit RunObject(std::unique_ptr<Run> made) : run(std::move(made)) {}
  Model& model() override { return run->model(); }
  std::unique_ptr<Run> run;
  std::unique_ptr<LiveMeasurement> measuring;
};

struct TrainerObject : ModelObject {
  TrainerObject(std::unique_ptr<Model> given_model, AdamW given_optimizer)
      : trained(std::move(given_model)), optimizer(std::move(given_optimizer)) {}
  Model& model() override { return *trained; }
  std::unique_ptr<Model> trained;
  AdamW optimizer;
};

ModelObject& NextModel(Arguments* in) { return in->Next().object<ModelObject>(); }
RunObject& NextRun(Arguments* in) { return static_cast<RunObject&>(NextModel(in)); }
TrainerObject& NextTrainer(Arguments* in) { return static_cast<TrainerObject&>(NextModel(in)); }
void AnswerNumberField(const char* name, double number) {
  TheAnswer().Object();
  TheAnswer().Field(name).Number(number);
  TheAnswer().End();
}

void AnswerLength(const LengthResult& result) {
  Answer& answer = TheAnswer();
  answer.Object();
  answer.Field("length").Number(static_cast<double>(result.length));
  answer.Field("reason");
  result.defined ? answer.Null() : AnswerFailure(result.reason);
  answer.Field("loss").Number(result.loss);
  answer.Field("lossError").Number(result.loss_error);
  answer.Field("lossAtEnd").Number(result.loss_at_end);
  answer.Field("lossAtEndError").Number(result.loss_at_end_error);
  answer.Field("accuracy").Number(result.accuracy);
  answer.Field("accuracyAtEnd").Number(result.accuracy_at_end);
  answer.End();
}

void AnswerLengths(std::span<const LengthResult> results) {
  TheAnswer().List();
  for (const LengthResult& result : results) AnswerLength(result);
  TheAnswer().End();
}

void AnswerPositions(const PositionResult& result) {
  TheAnswer().Object();
  TheAnswer().Field("binWidth").Number(static_cast<double>(result.bin_width));
  TheAnswer().Field("loss").List();
  for (double loss : result.loss) TheAnswer().Number(loss);
  TheAnswer().End();
  TheAnswer().End();
}

}  // namespace

void ModelDelete(double message) {
  Arguments in(message);
  delete &NextModel(&in);
  TheAnswer().Null();
}

void ModelParameters(double message) {
  Arguments in(message);
  Answer& answer = TheAnswer();
  answer.List();
  for (const ParameterInfo& info : NextModel(&in).model().parameters()) {
    answer.Object();
    answer.Field("name").Text(info.name);
    answer.Field("shape");
    AnswerShape(info.shape);
    answer.Field("offset").Number(static_cast<double>(info.offset));
    answer.Field("size").Number(static_cast<double>(info.size));
    answer.End();
  }
  answer.End();
}

void ModelWeights(double message) {
  Arguments in(message);
  TheAnswer().Array(std::span<const float>(NextModel(&in).model().weights()));
}

void ModelSetWeights(double message) {
  Arguments in(message);
  const std::span<float> weights = NextModel(&in).model().weights();
  const Value numbers = in.Next();
  for (size_t n = 0; n < weights.size(); ++n)
    weights[n] = static_cast<float>(numbers.NumberAt(static_cast<int64_t>(n)));
  DoneOr(Status::Ok());
}

void MakeRun(double message) {
  Arguments in(message);
  const Value description = in.Next();
  Result<std::unique_ptr<Run>> run = Run::Make(RunOf(description), NextMaybeCorpus(&in));
  if (!run.ok()) return Failed(run.status());
  AnswerHandle<ModelObject>("Run", new RunObject(std::move(*run)));
}

void RunProgress(double message) {
  Arguments in(message);
  static constexpr const char* kPhases[] = {"training", "measuring", "done"};
  const Run::Progress at = NextRun(&in).run->progress();
  Answer& answer = TheAnswer();
  answer.Object();
  answer.Field("phase").Text(kPhases[static_cast<int>(at.phase)]);
  answer.Field("step").Number(static_cast<double>(at.step));
  answer.Field("steps").Number(static_cast<double>(at.steps));
  answer.Field("loss").Number(at.loss);
  answer.Field("measured").Number(static_cast<double>(at.measured));
  answer.Field("toMeasure").Number(static_cast<double>(at.to_measure));
  answer.End();
}

void RunAdvance(double message) {
  Arguments in(message);
  Run& run = *NextRun(&in).run;
  DoneOr(run.Advance(in.NextCount()));
}

void RunSkipToMeasuring(double message) {
  Arguments in(message);
  NextRun(&in).run->SkipToMeasuring();
  TheAnswer().Null();
}

void RunLosses(double message) {
  Arguments in(message);
  const std::span<const double> losses = NextRun(&in).run->losses();
  TheAnswer().Array(losses.subspan(std::min(static_cast<size_t>(in.NextNumber()), losses.size())));
}

void RunResults(double message) {
  Arguments in(message);
  const Run& run = *NextRun(&in).run;
  TheAnswer().Object();
  TheAnswer().Field("byLength");
  AnswerLengths(run.by_length());
  TheAnswer().Field("byPosition");
  AnswerPositions(run.by_position());
  TheAnswer().Field("atTest").List();
  for (const std::vector<LengthResult>& entry : run.at_test()) AnswerLengths(entry);
  TheAnswer().End();
  TheAnswer().End();
}

void RunStartMeasuring(double message) {
  Arguments in(message);
  RunObject& object = NextRun(&in);
  const Value change = in.Next();
  const int64_t length = in.NextCount(), windows = in.NextCount();
  Result<std::unique_ptr<LiveMeasurement>> measuring =
      LiveMeasurement::Start(object.run.get(), ChangeOf(change), length, windows);
  if (measuring.ok()) object.measuring = std::move(*measuring);
  DoneOr(measuring.status());
}

void RunAdvanceMeasuring(double message) {
  Arguments in(message);
  std::unique_ptr<LiveMeasurement>& measuring = NextRun(&in).measuring;
  if (!measuring) return Failed(Status::Text(Code::kState, "measure", "", "startMeasuring comes first"));
  POSLAB_FAIL_IF_ERROR(measuring->Advance(in.NextCount()));
  const bool done = measuring->done();
  TheAnswer().Object();
  TheAnswer().Field("done").Truth(done);
  if (done) {
    TheAnswer().Field("result");
    AnswerLength(measuring->Finish());
    TheAnswer().Field("byPosition");
    AnswerPositions(measuring->FinishPositions());
    measuring.reset();
  }
  TheAnswer().End();
}

void RunGenerate(double message) {
  Arguments in(message);
  Run& run = *NextRun(&in).run;
  const Result<Buffer<int32_t>> ids = CopyTokens(in.Next(), "prompt");
  if (!ids.ok()) return Failed(ids.status());
  const int64_t count = in.NextCount();
  const double temperature = in.NextNumber(), seed = in.NextNumber();
  Buffer<int32_t> made;
  Buffer<float> losses;
  POSLAB_FAIL_IF_ERROR(made.Resize("count", count));
  POSLAB_FAIL_IF_ERROR(losses.Resize("count", count));
  POSLAB_FAIL_IF_ERROR(run.Generate(ids->span(), count, temperature, static_cast<uint64_t>(seed), ChangeOf(in.Next()),
                                    made.data(), losses.data()));
  TheAnswer().Object();
  TheAnswer().Field("ids").Array(std::move(made));
  TheAnswer().Field("losses").Array(std::move(losses));
  TheAnswer().End();
}

void RunAttentionWeights(double message) {
  Arguments in(message);
  Run& run = *NextRun(&in).run;
  const Result<Buffer<int32_t>> ids = CopyTokens(in.Next(), "text");
  if (!ids.ok()) return Failed(ids.status());
  const int64_t layer = in.NextCount();
  const int64_t heads = run.model().description().heads, length = ids->size();
  Buffer<float> weights;
  POSLAB_FAIL_IF_ERROR(weights.Resize("weights", CheckedProduct({heads, length, length})));
  POSLAB_FAIL_IF_ERROR(LiveAttentionWeights(&run, ids->span(), layer, ChangeOf(in.Next()), weights.data()));
  AnswerTensor(std::move(weights), {heads, length, length});
}

void RunQueryKeyValue(double message) {
  Arguments in(message);
  Run& run = *NextRun(&in).run;
  const Result<Buffer<int32_t>> ids = CopyTokens(in.Next(), "text");
  if (!ids.ok()) return Failed(ids.status());
  const int64_t layer = in.NextCount();
  const Result<std::span<const float>> rows = LiveQueryKeyValue(&run, ids->span(), layer, ChangeOf(in.Next()));
  if (!rows.ok()) return Failed(rows.status());
  const int64_t length = ids->size();
  TheAnswer().Object();
  TheAnswer().Field("rows");
  AnswerTensor(*rows, {length, static_cast<int64_t>(rows->size()) / std::max<int64_t>(1, length)});
  if (const std::span<const float> gates = run.model().Gates(layer); length > 0 && !gates.empty()) {
    TheAnswer().Field("gates");
    AnswerTensor(gates, {run.model().description().heads, length});
  }
  TheAnswer().End();
}

void RunSaveState(double message) {
  Arguments in(message);
  Result<Buffer<uint8_t>> state = NextRun(&in).run->SaveState();
  if (!state.ok()) return Failed(state.status());
  TheAnswer().Object();
  TheAnswer().Field("bytes").Array(std::move(*state));
  TheAnswer().End();
}

void RunLoadState(double message) {
  Arguments in(message);
  Run& run = *NextRun(&in).run;
  const Result<Buffer<uint8_t>> copied = CopyBytes(in.Next(), "state");
  DoneOr(copied.ok() ? run.LoadState(copied->span()) : copied.status());
}

void MakeTrainer(double message) {
  Arguments in(message);
  const ModelDescription description = ModelOf(in.Next());
  const Value position = in.Next();
  const OptimizerDescription optimizer_description = OptimizerOf(in.Next());
  POSLAB_FAIL_IF_ERROR(CheckModel(description));
  POSLAB_FAIL_IF_ERROR(CheckOptimizer(optimizer_description));
  Result<std::unique_ptr<Scheme>> scheme = MakeScheme(DescriptionOf(position));
  if (!scheme.ok()) return Failed(scheme.status());
  Result<std::unique_ptr<Model>> model = Model::Make(description, {std::shared_ptr<const Scheme>(std::move(*scheme))});
  if (!model.ok()) return Failed(model.status());
  Result<AdamW> optimizer = AdamW::Make(optimizer_description, **model);
  if (!optimizer.ok()) return Failed(optimizer.status());
  AnswerHandle<ModelObject>("Trainer", new TrainerObject(std::move(*model), std::move(*optimizer)));
}

void TrainerLoss(double message) {
  Arguments in(message);
  Model& model = NextTrainer(&in).model();
  const Result<Buffer<int32_t>> ids = CopyTokens(in.Next(), "batches"), targets = CopyTokens(in.Next(), "batches");
  if (!ids.ok()) return Failed(ids.status());
  if (!targets.ok()) return Failed(targets.status());
  const int64_t batch = in.NextCount(), length = in.NextCount();
  const Result<Model::LossResult> result = model.Loss(ids->span(), targets->span(), batch, length, true);
  if (!result.ok()) return Failed(result.status());
  AnswerNumberField("loss", result->loss);
}

void TrainerGradients(double message) {
  Arguments in(message);
  TheAnswer().Array(std::span<const float>(NextTrainer(&in).model().gradients()));
}

void TrainerUpdate(double message) {
  Arguments in(message);
  TrainerObject& trainer = NextTrainer(&in);
  const Result<double> norm = trainer.optimizer.Step(trainer.trained.get());
  if (!norm.ok()) return Failed(norm.status());
  AnswerNumberField("gradientNorm", *norm);
}

void TrainerScore(double message) {
  Arguments in(message);
  Model& model = NextTrainer(&in).model();
  const Result<Buffer<int32_t>> ids = CopyTokens(in.Next(), "test"), targets = CopyTokens(in.Next(), "test");
  if (!ids.ok()) return Failed(ids.status());
  if (!targets.ok()) return Failed(targets.status());
  const int64_t batch = in.NextCount(), length = in.NextCount();
  Buffer<float> losses;
  POSLAB_FAIL_IF_ERROR(losses.Resize("test", ids->size()));
  POSLAB_FAIL_IF_ERROR(model.Score(ids->span(), targets->span(), batch, length, {}, losses.data(), nullptr));
  TheAnswer().Object();
  TheAnswer().Field("losses").Array(std::move(losses));
  TheAnswer().End();
}

}  // namespace poslab::border
