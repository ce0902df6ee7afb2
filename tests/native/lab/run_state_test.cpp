// SPDX-License-Identifier: MIT
// Saving and resuming: the same bytes at the end wherever a run was interrupted; and states that are not states.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lab/run_support.h"

using namespace poslab;
using namespace poslab::test;

namespace {

std::vector<uint8_t> Saved(const Run& run) {
  auto state = run.SaveState();
  REQUIRE(state.ok());
  return {state->begin(), state->end()};
}

// A new run that goes on from the weights and the state of another.
std::unique_ptr<Run> Resumed(const RunDescription& description, std::shared_ptr<const Corpus> corpus, Run& from) {
  auto run = MakeRun(description, std::move(corpus));
  std::copy(from.model().weights().begin(), from.model().weights().end(), run->model().weights().begin());
  const Status status = run->LoadState(Saved(from));
  INFO(Message(status));
  REQUIRE(status.ok());
  return run;
}

RunDescription WithEverything(const std::string& position, const std::string& task) {
  RunDescription description = SmallRun(position, task);
  description.at_test.resize(3);
  description.at_test[0].window = 4;
  description.at_test[1].shift = 3;
  description.at_test[2].position = Position("alibi");
  return description;
}

}  // namespace

TEST_CASE("A run that was interrupted anywhere ends with the same bytes") {
  for (const std::string task : {"text", "majority"})
    for (const std::string position : {"rope", "learned", "transformer-xl"}) {
      CAPTURE(task);
      CAPTURE(position);
      const RunDescription description = WithEverything(position, task);
      const auto corpus = SmallText();
      const auto whole = MakeRun(description, corpus);
      Finish(whole.get());
      const std::vector<uint8_t> last = Saved(*whole);

      // Interrupted after every slice: each run does one slice and hands over to the next.
      auto run = MakeRun(description, corpus);
      int handovers = 0;
      while (run->progress().phase != Run::Phase::kDone) {
        REQUIRE(run->Advance(1).ok());
        auto next = Resumed(description, corpus, *run);
        CHECK(Saved(*next) == Saved(*run));
        CHECK(next->progress().measured == run->progress().measured);
        run = std::move(next);
        ++handovers;
      }
      CHECK(handovers > 15);
      CHECK(WeightBits(*run) == WeightBits(*whole));
      CHECK(ResultBits(*run) == ResultBits(*whole));
      CHECK(Saved(*run) == last);
    }
}

TEST_CASE("Reasons survive saving") {
  RunDescription description = SmallRun("learned");
  const auto run = MakeRun(description);
  Finish(run.get());
  REQUIRE(!run->by_length()[1].defined);
  const auto resumed = Resumed(description, nullptr, *run);
  REQUIRE(!resumed->by_length()[1].defined);
  CHECK(Message(resumed->by_length()[1].reason) == Message(run->by_length()[1].reason));
}

TEST_CASE("A diverged run is diverged after resuming, with the last good weights at hand") {
  RunDescription description = SmallRun("rope");
  description.optimizer.learning_rate = 1e30;
  description.optimizer.warmup = 0;
  const auto run = MakeRun(description);
  std::unique_ptr<Run> before;  // resumed just before every step
  Status status;
  while (status.ok()) {
    before = Resumed(description, nullptr, *run);
    status = run->Advance(1);
  }
  REQUIRE(status.code() == Code::kDiverged);
  CHECK(before->Advance(1).code() == Code::kDiverged);
  CHECK(WeightBits(*before) == WeightBits(*run));
  const auto after = Resumed(description, nullptr, *run);
  CHECK(after->Advance(1).code() == Code::kDiverged);
  CHECK(after->progress().step == run->progress().step);
}

TEST_CASE("The state of another run is refused and leaves the run as it was") {
  const RunDescription description = SmallRun("rope", "text");
  const auto run = MakeRun(description, SmallText());
  REQUIRE(run->Advance(3).ok());
  const std::vector<uint8_t> state = Saved(*run);
  const auto check_refused = [&](const RunDescription& other, std::shared_ptr<const Corpus> corpus) {
    const auto target = MakeRun(other, std::move(corpus));
    const std::vector<uint8_t> before = Saved(*target);
    const Status status = target->LoadState(state);
    CHECK(status.code() == Code::kContradiction);
    CHECK(status.argument() == "state");
    CHECK(Saved(*target) == before);
  };
  RunDescription other = description;
  other.seed = 2;
  check_refused(other, SmallText());
  other = description, other.position = Position("rope", {{"theta", 500}});
  check_refused(other, SmallText());
  other = description, other.test_lengths = {8, 12};
  check_refused(other, SmallText());
  other = description, other.optimizer.learning_rate *= 2;
  check_refused(other, SmallText());
  other = description, other.at_test.resize(1);
  check_refused(other, SmallText());
  const std::string text(4000, 'x');
  const auto corpus = Corpus::Make({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, Corpus::Unit::kBytes);
  REQUIRE(corpus.ok());
  check_refused(description, *corpus);
}

TEST_CASE("Bytes that are not a state are refused, wherever they stop or change, and leave the run as it was") {
  RunDescription description = SmallRun("learned");
  description.model.dim = 4, description.model.feed_forward = 4;
  description.optimizer.steps = 2;
  description.windows = 4;
  const auto run = MakeRun(description);
  const auto target = MakeRun(description);
  const std::vector<uint8_t> before = Saved(*target);
  while (run->progress().phase == Run::Phase::kTraining) REQUIRE(run->Advance(1).ok());
  for (int slice = 0; slice < 4 && run->progress().phase == Run::Phase::kMeasuring; ++slice) {
    REQUIRE(run->Advance(1).ok());
    const std::vector<uint8_t> state = Saved(*run);
    for (size_t size = 0; size < state.size(); size += size < 64 || size + 400 > state.size() ? 1 : 37) {
      const Status status = target->LoadState({state.data(), size});
      REQUIRE(status.code() == Code::kFormat);
      REQUIRE(status.argument() == "state");
    }
    std::vector<uint8_t> longer = state;
    longer.push_back(0);
    CHECK(target->LoadState(longer).code() == Code::kFormat);
    CHECK(Saved(*target) == before);
    // A changed byte is refused or changes a number; it never crashes or asks for more memory than a state needs.
    for (size_t place = 0; place < state.size(); place += place < 64 || place + 400 > state.size() ? 1 : 53)
      for (int change : {0x01, 0x80, 0xff}) {
        std::vector<uint8_t> changed = state;
        changed[place] ^= static_cast<uint8_t>(change);
        const auto victim = MakeRun(description);
        const Status status = victim->LoadState(changed);
        if (!status.ok()) {
          CHECK(Saved(*victim) == before);
          continue;
        }
        const Run::Progress progress = victim->progress();
        REQUIRE(progress.step >= 0);
        REQUIRE(progress.step <= progress.steps);
        REQUIRE(progress.measured <= progress.to_measure);
        REQUIRE(Saved(*victim).size() == state.size());
      }
  }
}

TEST_CASE("Looking at a run in the middle of training or measuring changes nothing") {
  const RunDescription description = WithEverything("rope", "text");
  const auto corpus = SmallText();
  const auto plain = MakeRun(description, corpus), watched = MakeRun(description, corpus);
  Finish(plain.get());
  while (watched->progress().phase != Run::Phase::kDone) {
    REQUIRE(watched->Advance(1).ok());
    AtTest change;
    change.position = Position("rope", {}, {{"scaling.ropeType", "ntk"}});
    PositionResult by_position;
    REQUIRE(watched->Measure(change, 20, 3, &by_position).ok());
    const int32_t prompt[] = {1, 2};
    int32_t ids[5];
    REQUIRE(watched->Generate(prompt, 5, 1, 7, {}, ids, nullptr).ok());
    REQUIRE(watched->SaveState().ok());
  }
  CHECK(WeightBits(*watched) == WeightBits(*plain));
  CHECK(ResultBits(*watched) == ResultBits(*plain));
}
