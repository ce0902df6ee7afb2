// SPDX-License-Identifier: MIT
// What the modules that train offer beyond encodings and attention (embind.cpp): tasks, runs and trainers.
#include "embind/calls.h"
#include "embind/lab.h"

namespace {

using namespace poslab::border;  // NOLINT: this file is a table of that namespace

constexpr CallEntry kCalls[] = {
    // tasks and corpora
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

EMSCRIPTEN_BINDINGS(lab) { Register(kCalls); }
