// SPDX-License-Identifier: MIT
// The lab's objects as seen from JavaScript: corpora, runs, and a trainer that follows given batches step by step.
#pragma once

#include <emscripten/val.h>

#include <memory>

#include "lab/live.h"
#include "lab/run.h"

namespace poslab::border {

using emscripten::val;

val TasksList();  // [{ type, text, vocabulary, guessAccuracy, symbols }]
// A row such as training draws: { ids, targets } (target -1: not scored). `corpus` may be null for toy tasks.
val SampleRowCall(const val& task, std::shared_ptr<class CorpusObject> corpus, double length, double seed);

class CorpusObject {
 public:
  explicit CorpusObject(std::shared_ptr<const Corpus> corpus) : corpus_(std::move(corpus)) {}
  double vocabulary() const { return static_cast<double>(corpus_->vocabulary()); }
  double training_size() const { return static_cast<double>(corpus_->training().size()); }
  double test_size() const { return static_cast<double>(corpus_->test().size()); }
  val SymbolList() const;                        // code points or bytes by id, without the spare id
  val TestIds(double from, double count) const;  // ids of the test part
  const std::shared_ptr<const Corpus>& get() const { return corpus_; }

 private:
  std::shared_ptr<const Corpus> corpus_;
};
val MakeCorpus(const val& utf8, bool bytes);  // { corpus }

// Names, shapes and numbers of a model's parameters, shared by runs and trainers.
class ModelObject {
 public:
  virtual ~ModelObject() = default;
  val Parameters();  // [{ name, shape, offset, size }]
  val Weights();     // all, one after the other
  val SetWeights(const val& numbers);
  virtual Model& model() = 0;
};

class RunObject : public ModelObject {
 public:
  explicit RunObject(std::unique_ptr<Run> run) : run_(std::move(run)) {}
  Model& model() override { return run_->model(); }
  val Progress() const;
  val Advance(double steps);
  void SkipToMeasuring() { run_->SkipToMeasuring(); }
  val Losses(double from) const;  // one a step, from this step on
  val Results() const;            // { byLength, byPosition, atTest }
  val StartMeasuring(const val& change, double length, double windows);
  val AdvanceMeasuring(double windows);  // { done, result?, byPosition? }
  val Generate(const val& prompt, double count, double temperature, double seed, const val& change);
  val AttentionWeights(const val& ids, double layer, const val& change);
  val QueryKeyValue(const val& ids, double layer, const val& change);  // [length, all heads of q | k | v]
  val SaveState() const;
  val LoadState(const val& bytes);

 private:
  std::unique_ptr<Run> run_;
  std::unique_ptr<LiveMeasurement> measuring_;
};
val MakeRun(const val& description, std::shared_ptr<CorpusObject> corpus);  // { run }

class TrainerObject : public ModelObject {
 public:
  TrainerObject(std::unique_ptr<Model> model, AdamW optimizer)
      : model_(std::move(model)), optimizer_(std::move(optimizer)) {}
  Model& model() override { return *model_; }
  // Mean loss of a batch and its gradients, which Gradients() then has. { loss }
  val Loss(const val& ids, const val& targets, double batch, double length);
  val Gradients();
  val Update();  // one step of the optimiser; { gradientNorm } before clipping
  // Losses by place, NaN where not scored; { losses }
  val Score(const val& ids, const val& targets, double batch, double length);

 private:
  std::unique_ptr<Model> model_;
  AdamW optimizer_;
};
val MakeTrainer(const val& model, const val& position, const val& optimizer);  // { trainer }

}  // namespace poslab::border
