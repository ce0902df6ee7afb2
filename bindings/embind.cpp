// SPDX-License-Identifier: MIT
// What the WebAssembly module offers to the TypeScript layer, as one table. Every call reads its arguments, checks and
// calls the core (its parts are in bindings/embind), and puts its answer together; js/core-calls.ts is the other side,
// js/core-interface.ts says in types what each takes and gives. No call throws. Whole architectures are a table of their
// own, embind_models.cpp.
#include <cstdlib>

#include "embind/attention.h"
#include "embind/calls.h"
#include "embind/encodings.h"
#include "embind/lab.h"
#include "embind/message.h"

namespace {

using namespace poslab::border;  // NOLINT: this file is a table of that namespace

// Room for the arguments of a call: its address, or 0 when there is none.
double Reserve(double bytes) {
  return static_cast<double>(reinterpret_cast<uintptr_t>(std::aligned_alloc(16, static_cast<size_t>(bytes))));
}
// Where the answer of the last call is.
double AnswerAddress() { return static_cast<double>(reinterpret_cast<uintptr_t>(TheAnswer().bytes())); }
// The answer was read: gives back what it and the arguments took.
void Release(double message) {
  TheAnswer().Clear();
  std::free(reinterpret_cast<void*>(static_cast<uintptr_t>(message)));
}

void Version(double) { TheAnswer().Text(POSLAB_VERSION); }

constexpr CallEntry kCalls[] = {
    {"version", Version},
    // encodings
    {"schemes", SchemesList},
    {"startParameters", StartParametersCall},
    {"table", TableCall},
    {"frequencies", FrequenciesCall},
    {"rotate", RotateCall},
    {"drawPositions", DrawPositionsCall},
    {"slopes", SlopesCall},
    {"buckets", BucketsCall},
    {"bias", BiasCall},
    // attention
    {"attention", AttentionCall},
    {"attentionGradients", AttentionGradientsCall},
    // the lab
    {"tasks", TasksCall},
    {"sample", SampleCall},
    {"makeCorpus", MakeCorpus},
    {"Corpus_delete", CorpusDelete},
    {"Corpus_vocabulary", CorpusVocabulary},
    {"Corpus_trainingSize", CorpusTrainingSize},
    {"Corpus_testSize", CorpusTestSize},
    {"Corpus_symbols", CorpusSymbols},
    {"Corpus_testIds", CorpusTestIds},
    // runs
    {"makeRun", MakeRun},
    {"Run_delete", ModelDelete},
    {"Run_parameters", ModelParameters},
    {"Run_weights", ModelWeights},
    {"Run_setWeights", ModelSetWeights},
    {"Run_progress", RunProgress},
    {"Run_advance", RunAdvance},
    {"Run_skipToMeasuring", RunSkipToMeasuring},
    {"Run_losses", RunLosses},
    {"Run_results", RunResults},
    {"Run_startMeasuring", RunStartMeasuring},
    {"Run_advanceMeasuring", RunAdvanceMeasuring},
    {"Run_generate", RunGenerate},
    {"Run_attentionWeights", RunAttentionWeights},
    {"Run_queryKeyValue", RunQueryKeyValue},
    {"Run_saveState", RunSaveState},
    {"Run_loadState", RunLoadState},
    // trainers
    {"makeTrainer", MakeTrainer},
    {"Trainer_delete", ModelDelete},
    {"Trainer_parameters", ModelParameters},
    {"Trainer_weights", ModelWeights},
    {"Trainer_setWeights", ModelSetWeights},
    {"Trainer_loss", TrainerLoss},
    {"Trainer_gradients", TrainerGradients},
    {"Trainer_update", TrainerUpdate},
    {"Trainer_score", TrainerScore},
};

}  // namespace

EMSCRIPTEN_BINDINGS(poslab) {
  emscripten::function("reserve", Reserve);
  emscripten::function("answer", AnswerAddress);
  emscripten::function("release", Release);
  Register(kCalls);
}
