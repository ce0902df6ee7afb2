// SPDX-License-Identifier: MIT
// Runs from beginning to end: what is refused, what is learned, what is measured, and that slices change nothing.
#include "lab/run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "lab/run_support.h"

using namespace poslab;
using namespace poslab::test;

TEST_CASE("A run that cannot work is refused with the argument's name before anything is trained") {
  struct Case {
    const char* argument;
    Code code;
    std::function<void(RunDescription*)> spoil;
  };
  const Case cases[] = {
      {"task.type", Code::kUnknownName, [](RunDescription* d) { d->task.type = "lookbck"; }},
      {"task.text", Code::kMissing, [](RunDescription* d) { d->task.type = "text"; }},
      {"task.distance", Code::kRange, [](RunDescription* d) { d->task.distance = 0; }},
      {"training.length", Code::kRange, [](RunDescription* d) { d->length = 0; }},
      {"training.length", Code::kRange, [](RunDescription* d) { d->length = 2; }},
      {"training.length", Code::kRange, [](RunDescription* d) { d->length = INT64_MAX; }},
      {"training.batch", Code::kRange, [](RunDescription* d) { d->batch = 0; }},
      {"training.batch", Code::kRange, [](RunDescription* d) { d->batch = INT64_MAX; }},
      {"training.steps", Code::kRange, [](RunDescription* d) { d->optimizer.steps = -1; }},
      {"training.steps", Code::kMemory, [](RunDescription* d) { d->optimizer.steps = INT64_MAX / 4; }},
      {"training.learningRate", Code::kRange, [](RunDescription* d) { d->optimizer.learning_rate = NAN; }},
      {"test.lengths", Code::kMissing, [](RunDescription* d) { d->test_lengths.clear(); }},
      {"test.lengths", Code::kRange, [](RunDescription* d) { d->test_lengths = {8, 0}; }},
      {"test.lengths", Code::kRange, [](RunDescription* d) { d->test_lengths = {2}; }},
      {"test.lengths", Code::kRange, [](RunDescription* d) { d->test_lengths = {INT64_MAX}; }},
      {"test.windows", Code::kRange, [](RunDescription* d) { d->windows = 0; }},
      {"test.windows", Code::kRange, [](RunDescription* d) { d->windows = INT64_MAX; }},
      {"model.dim", Code::kRange, [](RunDescription* d) { d->model.dim = 0; }},
      {"model.heads", Code::kRange, [](RunDescription* d) { d->model.heads = 3; }},
      {"position.type", Code::kUnknownName, [](RunDescription* d) { d->position.type = "rpoe"; }},
      {"position.thetta", Code::kUnknownName,
       [](RunDescription* d) { d->position = Position("rope", {{"thetta", 1}}); }},
      {"atTest.window", Code::kRange, [](RunDescription* d) { d->at_test.resize(1), d->at_test[0].window = 0; }},
      {"atTest.shift", Code::kRange, [](RunDescription* d) { d->at_test.resize(1), d->at_test[0].shift = -1; }},
      {"atTest.interpolate", Code::kContradiction,
       [](RunDescription* d) { d->at_test.resize(1), d->at_test[0].interpolate = true; }},
      {"atTest.interpolate", Code::kContradiction,
       [](RunDescription* d) {
         d->position = Position("learned");
         d->at_test.resize(1), d->at_test[0].interpolate = true, d->at_test[0].shift = 1;
       }},
      {"atTest.position.type", Code::kUnknownName,
       [](RunDescription* d) { d->at_test.resize(1), d->at_test[0].position = Position("alibbi"); }},
      {"atTest.position", Code::kNotDefined,
       [](RunDescription* d) { d->at_test.resize(1), d->at_test[0].position = Position("t5"); }},
  };
  for (const Case& bad : cases) {
    CAPTURE(std::string(bad.argument));
    RunDescription description = SmallRun("rope");
    bad.spoil(&description);
    const auto run = Run::Make(description, nullptr);
    REQUIRE(!run.ok());
    CHECK(run.status().argument() == bad.argument);
    CHECK(run.status().code() == bad.code);
  }
}

TEST_CASE("A text that is too short for the test lengths is refused with its length") {
  RunDescription description = SmallRun("rope", "text");
  description.test_lengths = {8, 100000};
  const auto run = Run::Make(description, SmallText());
  REQUIRE(!run.ok());
  CHECK(run.status().argument() == "test.lengths");
  CHECK(run.status().limits()[1] == static_cast<double>(SmallText()->test().size()));
}

TEST_CASE("A run goes from training through measuring to done and reports on its way") {
  RunDescription description = SmallRun("alibi");
  description.at_test.resize(1);
  description.at_test[0].window = 4;
  const auto run = MakeRun(description);
  Run::Progress progress = run->progress();
  CHECK(progress.phase == Run::Phase::kTraining);
  CHECK(progress.step == 0);
  CHECK(progress.steps == 12);
  CHECK(std::isnan(progress.loss));
  CHECK(progress.measured == 0);
  CHECK(progress.to_measure == 2 * 3 * 10);
  CHECK(run->losses().empty());

  REQUIRE(run->Advance(5).ok());
  progress = run->progress();
  CHECK(progress.step == 5);
  CHECK(run->losses().size() == 5);
  CHECK(progress.loss == run->losses()[4]);
  REQUIRE(run->Advance(100).ok());
  CHECK(run->progress().phase == Run::Phase::kMeasuring);
  CHECK(run->progress().step == 12);

  int64_t before = 0;
  while (run->progress().phase == Run::Phase::kMeasuring) {
    REQUIRE(run->Advance(1).ok());
    CHECK(run->progress().measured > before);
    before = run->progress().measured;
  }
  CHECK(before == 60);
  REQUIRE(run->by_length().size() == 3);
  REQUIRE(run->at_test().size() == 1);
  REQUIRE(run->at_test()[0].size() == 3);
  for (size_t n = 0; n < 3; ++n) CHECK(run->by_length()[n].length == description.test_lengths[n]);
  CHECK(run->by_position().bin_width == 1);
  CHECK(run->by_position().loss.size() == 32);
  CHECK(run->Advance(1).ok());
  CHECK(run->Advance(0).code() == Code::kRange);
}

TEST_CASE("A slice of measuring is bounded: one step's worth is not the whole") {
  RunDescription description = SmallRun("none");
  description.test_lengths = {256};
  description.windows = 64;
  description.optimizer.steps = 0;
  const auto run = MakeRun(description);
  REQUIRE(run->Advance(1).ok());
  // A step here costs three passes over 32 tokens; a window has 256: one at a time.
  CHECK(run->progress().measured == 1);
}

TEST_CASE("The same description gives the same bytes, in slices of any size, and another seed gives others") {
  for (const std::string position : {"rope", "shaw", "learned"}) {
    CAPTURE(position);
    const RunDescription description = SmallRun(position);
    const auto one = MakeRun(description), other = MakeRun(description);
    Finish(one.get(), 1), Finish(other.get(), 1000);
    CHECK(WeightBits(*one) == WeightBits(*other));
    CHECK(ResultBits(*one) == ResultBits(*other));
    RunDescription reseeded = description;
    reseeded.seed = 2;
    const auto third = MakeRun(reseeded);
    Finish(third.get());
    CHECK(WeightBits(*one) != WeightBits(*third));
  }
}

TEST_CASE("How evaluation windows are put together changes no bit") {
  for (const std::string position : {"rope", "alibi", "sinusoidal", "shaw", "t5", "transformer-xl"}) {
    CAPTURE(position);
    RunDescription description = SmallRun(position, "text");
    description.optimizer.steps = 0;  // the batch matters to measuring only
    description.test_lengths = {5, 8, 12, 33};
    std::vector<std::vector<uint64_t>> results;
    for (int64_t batch : {1, 3, 64}) {
      description.batch = batch;
      const auto run = MakeRun(description, SmallText());
      Finish(run.get(), batch == 3 ? 1 : 1000);
      results.push_back(ResultBits(*run));
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
  }
}

TEST_CASE("Every task trains and measures under every kind of hook") {
  for (const TaskInfo& info : Tasks())
    for (const std::string position : {"none", "learned", "rope", "t5", "shaw"}) {
      CAPTURE(std::string(info.type));
      CAPTURE(position);
      RunDescription description = SmallRun(position, std::string(info.type));
      description.length = 12;
      description.test_lengths = {12, 16};
      description.optimizer.steps = 3;
      const auto run = MakeRun(description, info.text ? SmallText() : nullptr);
      Finish(run.get());
      REQUIRE(run->by_length().size() == 2);
      const LengthResult& result = run->by_length()[0];
      CHECK(result.defined);
      CHECK(result.loss > 0);
      CHECK(result.loss < 10);
      if (info.text) continue;
      CHECK(result.accuracy >= 0);
      CHECK(result.accuracy <= 1);
    }
}

TEST_CASE("Measured losses are those of the model on the test rows") {
  RunDescription description = SmallRun("rope", "text");
  description.optimizer.steps = 2;
  const auto corpus = SmallText();
  const auto run = MakeRun(description, corpus);
  Finish(run.get());
  const auto task = MakeTask(description.task, corpus, 0);
  REQUIRE(task.ok());
  const int64_t length = 12, end = 2;  // floor(8 / 4) places
  double sum = 0, end_sum = 0;
  for (int64_t window = 0; window < description.windows; ++window) {
    std::vector<int32_t> ids(length), targets(length);
    std::vector<float> losses(length);
    (*task)->TestRow(length, 32, window, description.windows, 8, ids.data(), targets.data());
    REQUIRE(run->model().Score(ids, targets, 1, length, {}, losses.data(), nullptr).ok());
    for (int64_t t = 0; t < length; ++t) sum += losses[t], end_sum += t >= length - end ? losses[t] : 0;
  }
  // Sums of 120 doubles in another order: 1e-13 is a few hundred roundings.
  CHECK(run->by_length()[1].loss == doctest::Approx(sum / (10 * length)).epsilon(1e-13));
  CHECK(run->by_length()[1].loss_at_end == doctest::Approx(end_sum / (10 * end)).epsilon(1e-13));
}

TEST_CASE("Zero steps measure the weights as they were drawn") {
  RunDescription description = SmallRun("alibi", "text");
  description.optimizer.steps = 0;
  const auto run = MakeRun(description, SmallText());
  CHECK(run->progress().phase == Run::Phase::kMeasuring);
  Finish(run.get());
  CHECK(run->losses().empty());
  CHECK(run->by_length().size() == 3);
}

TEST_CASE("A vocabulary of one, one head, one layer and length one work") {
  const std::string text(200, 'x');
  const auto corpus =
      Corpus::Make({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, Corpus::Unit::kCharacters);
  REQUIRE(corpus.ok());
  RunDescription description = SmallRun("rope", "text");
  description.model.heads = 1;
  description.length = 1;
  description.test_lengths = {1, 2, 18};
  description.optimizer.steps = 40;
  const auto run = MakeRun(description, *corpus);
  Finish(run.get());
  CHECK(run->by_length()[0].loss < 0.1);  // there is nothing to be unsure of
}

TEST_CASE("Training on lookback converges under RoPE and Shaw, and stays at chance without positions") {
  for (const std::string position : {"rope", "shaw", "none"}) {
    CAPTURE(position);
    RunDescription description;
    description.task = {.type = "lookback", .distance = 3};
    description.model.dim = 32, description.model.heads = 2, description.model.layers = 1;
    description.model.feed_forward = 64;
    description.optimizer.steps = 400, description.optimizer.warmup = 40, description.optimizer.learning_rate = 0.01;
    description.length = 16, description.batch = 16;
    description.position = Position(position);
    description.test_lengths = {16};
    description.windows = 64;
    const auto run = MakeRun(description);
    Finish(run.get(), 50);
    const LengthResult& result = run->by_length()[0];
    MESSAGE(position << ": loss " << result.loss << ", accuracy " << result.accuracy);
    const double chance = std::log(16.0);
    if (position == "none") {
      CHECK(result.accuracy < 0.5);
    } else {
      CHECK(result.loss < 0.1 * chance);
      CHECK(result.accuracy > 0.98);
    }
  }
}

TEST_CASE("A diverging run says its step, keeps the last good weights and can still be measured") {
  RunDescription description = SmallRun("rope");
  description.optimizer.learning_rate = 1e30;
  description.optimizer.warmup = 0;
  const auto run = MakeRun(description);
  Status status;
  while (status.ok() && run->progress().phase == Run::Phase::kTraining) status = run->Advance(1);
  CHECK(status.code() == Code::kDiverged);
  const int64_t step = run->progress().step;
  CHECK(status.given_number() == static_cast<double>(step));
  CHECK(step < 12);
  CHECK(run->losses().size() == static_cast<size_t>(step));
  for (float weight : run->model().weights()) REQUIRE(std::isfinite(weight));
  CHECK(run->Advance(1).code() == Code::kDiverged);  // again, and nothing changes
  CHECK(run->progress().step == step);

  // The last good weights are those before the update that ruined them: a run that stops there has the same.
  RunDescription shorter = description;
  const auto stopped = MakeRun(shorter);
  while (stopped->progress().step + 1 < step) REQUIRE(stopped->Advance(1).ok());
  CHECK(WeightBits(*stopped) == WeightBits(*run));

  run->SkipToMeasuring();
  Finish(run.get());
  CHECK(run->by_length().size() == 3);
}

TEST_CASE("Training can be ended early and what was learned so far is measured") {
  const auto run = MakeRun(SmallRun("rope"));
  REQUIRE(run->Advance(3).ok());
  run->SkipToMeasuring();
  Finish(run.get());
  CHECK(run->progress().step == 3);
  CHECK(run->losses().size() == 3);
  CHECK(run->by_length().size() == 3);
}
