// SPDX-License-Identifier: MIT
// The lab's objects as seen from JavaScript: corpora, runs, and a trainer that follows given batches step by step. The
// arguments and answers of each call are declared in js/core-interface.ts; those that begin with the name of an object
// take it first.
#pragma once

namespace poslab::border {

void TasksCall(double message);
void SampleCall(double message);

void MakeCorpus(double message);
void CorpusDelete(double message);
void CorpusVocabulary(double message);
void CorpusTrainingSize(double message);
void CorpusTestSize(double message);
void CorpusSymbols(double message);
void CorpusTestIds(double message);

// Of runs and of trainers.
void ModelDelete(double message);
void ModelParameters(double message);
void ModelWeights(double message);
void ModelSetWeights(double message);

void MakeRun(double message);
void RunProgress(double message);
void RunAdvance(double message);
void RunSkipToMeasuring(double message);
void RunLosses(double message);
void RunResults(double message);
void RunStartMeasuring(double message);
void RunAdvanceMeasuring(double message);
void RunGenerate(double message);
void RunAttentionWeights(double message);
void RunQueryKeyValue(double message);
void RunSaveState(double message);
void RunLoadState(double message);

void MakeTrainer(double message);
void TrainerLoss(double message);
void TrainerGradients(double message);
void TrainerUpdate(double message);
void TrainerScore(double message);

}  // namespace poslab::border
