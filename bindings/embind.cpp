// SPDX-License-Identifier: MIT
// What the WebAssembly module offers to the TypeScript layer, as one table. Every call converts, checks and calls the
// core (its parts are in bindings/embind); plain objects cross the border in the forms of js/core-types.ts. No call
// throws. Whole architectures are a table of their own, embind_models.cpp.
#include <emscripten/bind.h>

#include "embind/attention.h"
#include "embind/border_types.h"
#include "embind/encodings.h"
#include "embind/lab.h"

namespace {

using namespace poslab::border;  // NOLINT: this file is a table of that namespace
using emscripten::class_;
using emscripten::function;
using CorpusPointer = std::shared_ptr<CorpusObject>;
using RunPointer = std::shared_ptr<RunObject>;
using TrainerPointer = std::shared_ptr<TrainerObject>;

std::string Version() { return POSLAB_VERSION; }

}  // namespace

EMSCRIPTEN_BINDINGS(types){
#define POSLAB_REGISTER_TYPE(name, type) emscripten::register_type<name>(type);
    POSLAB_BORDER_TYPES(POSLAB_REGISTER_TYPE)
#undef POSLAB_REGISTER_TYPE
}

EMSCRIPTEN_BINDINGS(encodings) {
  function("version", &Version);
  function("schemes", +[] { return SchemeList(SchemesList()); });
  function(
      "startParameters", +[](const FlatScheme& scheme, const Sizes& sizes, double seed) {
        return TensorsOutcome(StartParametersCall(scheme, sizes, seed));
      });
  function(
      "table", +[](const FlatScheme& scheme, double length, double dim, double start) {
        return TensorOutcome(TableCall(scheme, length, dim, start));
      });
  function(
      "frequencies", +[](const FlatScheme& scheme, double head_dim, double length) {
        return FrequenciesOutcome(FrequenciesCall(scheme, head_dim, length));
      });
  function(
      "rotate", +[](const FlatScheme& scheme, const CoreInput& x, const MaybeIds& positions, double start) {
        return TensorOutcome(RotateCall(scheme, x, positions, start));
      });
  function("slopes", +[](const FlatScheme& scheme, double heads) { return TensorOutcome(SlopesCall(scheme, heads)); });
  function(
      "buckets",
      +[](const FlatScheme& scheme, const Ids& distances) { return BytesOutcome(BucketsCall(scheme, distances)); });
  function(
      "bias", +[](const FlatScheme& scheme, double heads, double query_length, double key_length,
                  const MaybeIds& query_positions, const MaybeIds& key_positions) {
        return TensorOutcome(BiasCall(scheme, heads, query_length, key_length, query_positions, key_positions));
      });
}

EMSCRIPTEN_BINDINGS(attention) {
  function(
      "attention", +[](const FlatScheme& scheme, const AttentionOptions& options) {
        return AttentionOutcome(AttentionCall(scheme, options));
      });
  function(
      "attentionGradients", +[](const FlatScheme& scheme, const AttentionOptions& options) {
        return GradientsOutcome(AttentionGradientsCall(scheme, options));
      });
}

EMSCRIPTEN_BINDINGS(lab) {
  function("tasks", +[] { return TaskList(TasksList()); });
  function("makeCorpus", +[](const Bytes& utf8, bool bytes) { return CorpusOutcome(MakeCorpus(utf8, bytes)); });
  class_<CorpusObject>("Corpus")
      .smart_ptr<CorpusPointer>("CorpusPointer")
      .function("vocabulary", &CorpusObject::vocabulary)
      .function("trainingSize", &CorpusObject::training_size)
      .function("testSize", &CorpusObject::test_size)
      .function(
          "symbols", +[](const CorpusObject& corpus) { return Symbols(corpus.SymbolList()); })
      .function(
          "testIds",
          +[](const CorpusObject& corpus, double from, double count) { return Tokens(corpus.TestIds(from, count)); });
  function(
      "toySample", +[](const TaskOptions& task, double length, double seed) {
        return RowOutcome(SampleRowCall(task, nullptr, length, seed));
      });
  function(
      "textSample", +[](const TaskOptions& task, CorpusPointer corpus, double length, double seed) {
        return RowOutcome(SampleRowCall(task, std::move(corpus), length, seed));
      });
}

EMSCRIPTEN_BINDINGS(runs) {
  function("makeToyRun", +[](const RunOptions& description) { return RunOutcome(MakeRun(description, nullptr)); });
  function(
      "makeTextRun", +[](const RunOptions& description, CorpusPointer corpus) {
        return RunOutcome(MakeRun(description, std::move(corpus)));
      });
  class_<RunObject>("Run")
      .smart_ptr<RunPointer>("RunPointer")
      .function(
          "progress", +[](const RunObject& run) { return RunProgress(run.Progress()); })
      .function(
          "advance", +[](RunObject& run, double steps) { return DoneOutcome(run.Advance(steps)); })
      .function("skipToMeasuring", &RunObject::SkipToMeasuring)
      .function(
          "losses", +[](const RunObject& run, double from) { return Doubles(run.Losses(from)); })
      .function(
          "results", +[](const RunObject& run) { return RunResults(run.Results()); })
      .function(
          "startMeasuring", +[](RunObject& run, const Change& change, double length,
                                double windows) { return DoneOutcome(run.StartMeasuring(change, length, windows)); })
      .function(
          "advanceMeasuring",
          +[](RunObject& run, double windows) { return MeasuringOutcome(run.AdvanceMeasuring(windows)); })
      .function(
          "generate",
          +[](RunObject& run, const Numbers& prompt, double count, double temperature, double seed,
              const Change& change) {
            return GeneratedOutcome(run.Generate(prompt, count, temperature, seed, change));
          })
      .function(
          "attentionWeights",
          +[](RunObject& run, const Numbers& ids, double layer, const Change& change) {
            return TensorOutcome(run.AttentionWeights(ids, layer, change));
          })
      .function(
          "queryKeyValue", +[](RunObject& run, const Numbers& ids, double layer,
                               const Change& change) { return TensorOutcome(run.QueryKeyValue(ids, layer, change)); })
      .function(
          "parameters", +[](RunObject& run) { return ParameterList(run.Parameters()); })
      .function(
          "weights", +[](RunObject& run) { return Floats(run.Weights()); })
      .function(
          "setWeights", +[](RunObject& run, const Numbers& weights) { return DoneOutcome(run.SetWeights(weights)); })
      .function(
          "saveState", +[](const RunObject& run) { return BytesOutcome(run.SaveState()); })
      .function("loadState", +[](RunObject& run, const Bytes& state) { return DoneOutcome(run.LoadState(state)); });
}

EMSCRIPTEN_BINDINGS(trainer) {
  function(
      "makeTrainer", +[](const ModelOptions& model, const FlatScheme& position, const OptimizerOptions& optimizer) {
        return TrainerOutcome(MakeTrainer(model, position, optimizer));
      });
  class_<TrainerObject>("Trainer")
      .smart_ptr<TrainerPointer>("TrainerPointer")
      .function(
          "loss", +[](TrainerObject& trainer, const Numbers& ids, const Numbers& targets, double batch,
                      double length) { return LossOutcome(trainer.Loss(ids, targets, batch, length)); })
      .function(
          "update", +[](TrainerObject& trainer) { return NormOutcome(trainer.Update()); })
      .function(
          "score", +[](TrainerObject& trainer, const Numbers& ids, const Numbers& targets, double batch,
                       double length) { return LossesOutcome(trainer.Score(ids, targets, batch, length)); })
      .function(
          "gradients", +[](TrainerObject& trainer) { return Floats(trainer.Gradients()); })
      .function(
          "parameters", +[](TrainerObject& trainer) { return ParameterList(trainer.Parameters()); })
      .function(
          "weights", +[](TrainerObject& trainer) { return Floats(trainer.Weights()); })
      .function(
          "setWeights",
          +[](TrainerObject& trainer, const Numbers& weights) { return DoneOutcome(trainer.SetWeights(weights)); });
}
