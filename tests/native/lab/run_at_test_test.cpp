// SPDX-License-Identifier: MIT
// The same weights under other conditions: past a learned table, other schemes and scalings, windows, shifts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lab/run_support.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// Trained for a moment, so that positions matter.
std::unique_ptr<Run> Trained(const std::string& position, const std::string& task = "text") {
  RunDescription description = SmallRun(position, task);
  description.optimizer.steps = 30;
  auto run = MakeRun(description, SmallText());
  while (run->progress().phase == Run::Phase::kTraining) REQUIRE(run->Advance(10).ok());
  return run;
}

LengthResult Measured(Run* run, const AtTest& change, int64_t length) {
  const auto result = run->Measure(change, length, 10, nullptr);
  INFO(Message(result.status()));
  REQUIRE(result.ok());
  REQUIRE(result->defined);
  return *result;
}

AtTest WithPosition(Description position) {
  AtTest change;
  change.position = std::move(position);
  return change;
}

AtTest Shifted(int64_t shift) {
  AtTest change;
  change.shift = shift;
  return change;
}

}  // namespace

TEST_CASE("Past its table a learned encoding is not defined, with the reason, and never a number") {
  RunDescription description = SmallRun("learned");
  description.at_test.resize(2);
  description.at_test[0].shift = 1;
  description.at_test[1].interpolate = true;
  const auto run = MakeRun(description);
  Finish(run.get());
  CHECK(run->by_length()[0].defined);
  for (size_t n : {1, 2}) {
    const LengthResult& result = run->by_length()[n];
    CHECK_FALSE(result.defined);
    CHECK(result.length == description.test_lengths[n]);
    CHECK(result.reason.code() == Code::kNotDefined);
    CHECK(!Message(result.reason).empty());
    CHECK(result.loss == 0);
  }
  // A shift by one leaves the table at its last place already; stretched it goes on.
  for (const LengthResult& result : run->at_test()[0]) CHECK_FALSE(result.defined);
  for (const LengthResult& result : run->at_test()[1]) CHECK(result.defined);
  CHECK(Bits(run->at_test()[1][0]) == Bits(run->by_length()[0]));  // up to L stretching changes nothing
  // By position: as far as it is defined.
  CHECK(run->by_position().loss.size() == 8);

  const auto live = run->Measure({}, 9, 4, nullptr);
  REQUIRE(!live.ok());
  CHECK(live.status().code() == Code::kNotDefined);
}

TEST_CASE("A scaling without a factor takes N / L at every tested length, and 1 up to L") {
  const auto run = Trained("rope");
  for (const std::string type : {"ntk", "linear", "yarn"}) {
    CAPTURE(type);
    for (int64_t length : {4, 8, 12, 32}) {
      const AtTest open = WithPosition(Position("rope", {}, {{"scaling.ropeType", type}}));
      const double factor = length <= 8 ? 1 : static_cast<double>(length) / 8;
      const AtTest given = WithPosition(Position("rope", {{"scaling.factor", factor}}, {{"scaling.ropeType", type}}));
      CHECK(Bits(Measured(run.get(), open, length)) == Bits(Measured(run.get(), given, length)));
    }
    const AtTest open = WithPosition(Position("rope", {}, {{"scaling.ropeType", type}}));
    CHECK(Measured(run.get(), open, 32).loss != Measured(run.get(), {}, 32).loss);
  }
  // With a factor that is given, that factor holds at every length.
  const AtTest fixed = WithPosition(Position("rope", {{"scaling.factor", 4}}, {{"scaling.ropeType", "linear"}}));
  CHECK(Measured(run.get(), fixed, 8).loss != Measured(run.get(), {}, 8).loss);
}

TEST_CASE("Dynamic NTK begins at L and follows the window's length") {
  const auto run = Trained("rope");
  const AtTest dynamic = WithPosition(Position("rope", {{"scaling.factor", 2}}, {{"scaling.ropeType", "dynamic"}}));
  CHECK(Bits(Measured(run.get(), dynamic, 8)) == Bits(Measured(run.get(), {}, 8)));
  const AtTest said = WithPosition(
      Position("rope", {{"scaling.factor", 2}, {"maxPositionEmbeddings", 8}}, {{"scaling.ropeType", "dynamic"}}));
  for (int64_t length : {12, 32}) {
    CHECK(Measured(run.get(), dynamic, length).loss != Measured(run.get(), {}, length).loss);
    CHECK(Bits(Measured(run.get(), dynamic, length)) == Bits(Measured(run.get(), said, length)));
  }
}

TEST_CASE("The same scheme again gives the same numbers, learned tensors and all") {
  for (const std::string position :
       {"none",         "sinusoidal", "learned",    "shaw",    "transformer-xl", "t5",   "rope",
        "alibi",        "kerple",     "xpos",       "fire",    "sandwich",       "tisa", "relative-scalar",
        "dynamic-bias", "cope",       "forgetting", "deberta", "dape",           "pope"}) {
    CAPTURE(position);
    const auto run = Trained(position);
    CHECK(Bits(Measured(run.get(), WithPosition(Position(position)), 8)) == Bits(Measured(run.get(), {}, 8)));
  }
}

TEST_CASE("Another encoding replaces the whole of the trained one, embedding included") {
  const auto run = Trained("sinusoidal");
  const LengthResult none = Measured(run.get(), WithPosition(Position("none")), 8);
  CHECK(none.loss != Measured(run.get(), {}, 8).loss);
  // The same weights in a model that never had an embedding hook.
  RunDescription description = SmallRun("none", "text");
  const auto bare = MakeRun(description, SmallText());
  REQUIRE(bare->model().parameter_count() == run->model().parameter_count());
  std::copy(run->model().weights().begin(), run->model().weights().end(), bare->model().weights().begin());
  CHECK(Bits(Measured(bare.get(), {}, 8)) == Bits(none));
  // And any encoding that learns nothing will do, on weights that learned tensors of their own too.
  for (const std::string trained : {"rope", "learned", "shaw", "t5", "transformer-xl", "kerple"}) {
    CAPTURE(trained);
    const auto other = Trained(trained);
    for (const std::string position : {"none", "alibi", "rope", "sinusoidal"}) {
      CAPTURE(position);
      Measured(other.get(), WithPosition(Position(position)), 32);
    }
  }
}

TEST_CASE("A scheme whose tensors the trained model does not have is not defined") {
  const auto run = Trained("rope");
  for (const std::string position : {"learned", "t5", "shaw", "transformer-xl", "kerple"}) {
    CAPTURE(position);
    const auto result = run->Measure(WithPosition(Position(position)), 8, 4, nullptr);
    REQUIRE(!result.ok());
    CHECK(result.status().code() == Code::kNotDefined);
    CHECK(result.status().argument() == "atTest.position");
    CHECK(result.status().given() == position);
  }
  // Two tables of the same name are not the same tensor: T5's has another shape than the learned one.
  const auto learned = Trained("learned");
  CHECK(learned->Measure(WithPosition(Position("t5")), 8, 4, nullptr).status().code() == Code::kNotDefined);
  const auto shaw = Trained("shaw");
  CHECK(shaw->Measure(WithPosition(Position("shaw", {{"maxDistance", 3}})), 8, 4, nullptr).status().code() ==
        Code::kNotDefined);
}

TEST_CASE("Shifting all positions changes nothing for relative schemes and much for absolute ones") {
  for (const std::string position :
       {"none", "rope", "alibi", "t5", "shaw", "transformer-xl", "kerple", "xpos", "sandwich", "tisa",
        "relative-scalar", "dynamic-bias", "cope", "forgetting", "deberta", "dape", "pope"}) {
    CAPTURE(position);
    const auto run = Trained(position);
    const LengthResult here = Measured(run.get(), {}, 32), there = Measured(run.get(), Shifted(1000), 32);
    // RoPE and xPos turn by other float angles (relative error 2^-24 a cosine), which moves a loss by some 1e-6.
    CHECK(std::fabs(here.loss - there.loss) < 1e-5);
  }
  const auto sinusoidal = Trained("sinusoidal");
  CHECK(std::fabs(Measured(sinusoidal.get(), {}, 32).loss - Measured(sinusoidal.get(), Shifted(1000), 32).loss) > 1e-3);
  const auto learned = Trained("learned");
  CHECK(learned->Measure(Shifted(1), 8, 4, nullptr).status().code() == Code::kNotDefined);
  CHECK(Measured(learned.get(), Shifted(4), 4).loss != Measured(learned.get(), {}, 4).loss);
}

TEST_CASE("A window as long as the text changes nothing, a shorter one does") {
  const auto run = Trained("rope");
  AtTest wide, narrow;
  wide.window = 32, narrow.window = 2;
  CHECK(Bits(Measured(run.get(), wide, 32)) == Bits(Measured(run.get(), {}, 32)));
  CHECK(Measured(run.get(), narrow, 32).loss != Measured(run.get(), {}, 32).loss);
}

TEST_CASE("Clamped distances are those of a table whose far entries are that of the window") {
  RunDescription description = SmallRun("relative-scalar", "text");
  description.position = Position("relative-scalar", {{"maxDistance", 40}});
  description.optimizer.steps = 30;
  const auto run = MakeRun(description, SmallText());
  while (run->progress().phase == Run::Phase::kTraining) REQUIRE(run->Advance(10).ok());
  for (const ParameterInfo& info : run->model().parameters()) {
    if (info.name.find("position.") == std::string::npos) continue;
    // Rows of untrained distances start near 0; far ones must matter here.
    for (int64_t n = 0; n < info.size; ++n)
      run->model().weights()[static_cast<size_t>(info.offset + n)] += std::sin(static_cast<float>(n));
  }
  AtTest clamped;
  clamped.distances = {Distances::Kind::kClamped, 4, 1};
  const LengthResult plain = Measured(run.get(), {}, 32), measured = Measured(run.get(), clamped, 32);
  CHECK(std::fabs(plain.loss - measured.loss) > 1e-3);
  for (const ParameterInfo& info : run->model().parameters()) {
    if (info.name.find("position.") == std::string::npos) continue;
    CAPTURE(info.name);
    REQUIRE(info.shape.front() == 81);  // by distance j - i, from -40 to 40
    const int64_t heads = info.shape.back();
    float* table = run->model().weights().data() + info.offset;
    for (int64_t row = 0; row < 40 - 4; ++row) std::copy_n(table + (40 - 4) * heads, heads, table + row * heads);
  }
  // Two softmaxes merged by their sums instead of one: some 1e-7 a logit.
  CHECK(std::fabs(Measured(run.get(), {}, 32).loss - measured.loss) < 1e-5);
}

TEST_CASE("Distances without a group take the smallest that keeps them below L, and change nothing up to L") {
  const auto run = Trained("rope");  // L = 8
  const auto under = [&](int64_t group, int64_t length, int64_t shift) {
    AtTest change = Shifted(shift);
    change.distances = {Distances::Kind::kGrouped, 4, group};
    return Bits(Measured(run.get(), change, length));
  };
  // floor(11 / 2) + 4 - floor(4 / 2) = 7 < 8, and 31 / 8 of a window of 4; from 3 on, places 3 and 14 are 6 pairs apart.
  CHECK(under(0, 12, 0) == under(2, 12, 0));
  CHECK(under(0, 32, 0) == under(8, 32, 0));
  CHECK(under(0, 12, 3) == under(3, 12, 3));
  CHECK(under(0, 12, 0) != under(3, 12, 0));
  CHECK(under(0, 8, 0) == Bits(Measured(run.get(), {}, 8)));
  CHECK(under(0, 32, 0) != Bits(Measured(run.get(), {}, 32)));
  // A window of L keys or more reaches too far by itself; nothing is far in one as long as the text.
  AtTest wide;
  wide.distances = {Distances::Kind::kGrouped, 32, 0};
  CHECK(Bits(Measured(run.get(), wide, 32)) == Bits(Measured(run.get(), {}, 32)));
}

TEST_CASE("Distances go with what changes the scheme and the mask") {
  const auto run = Trained("rope");
  AtTest change = WithPosition(Position("alibi"));
  change.distances = {Distances::Kind::kClamped, 4, 1};
  const LengthResult alibi = Measured(run.get(), change, 32);
  change.position.reset();
  CHECK(alibi.loss != Measured(run.get(), change, 32).loss);
  change.window = 4;  // which leaves no far key
  AtTest window;
  window.window = 4;
  CHECK(std::fabs(Measured(run.get(), change, 32).loss - Measured(run.get(), window, 32).loss) < 1e-5);
}

TEST_CASE("Distances are refused by name for schemes that do nothing in attention or count along the keys") {
  for (const std::string position : {"none", "sinusoidal", "learned", "cope", "forgetting"}) {
    CAPTURE(position);
    RunDescription description = SmallRun(position, "text");
    description.at_test.resize(1);
    description.at_test[0].distances = {Distances::Kind::kGrouped, 4, 2};
    const auto refused = Run::Make(description, SmallText());
    REQUIRE(!refused.ok());
    CHECK(refused.status().code() == Code::kContradiction);
    CHECK(refused.status().argument() == "atTest.distances");
    CHECK(refused.status().given() == position);
    description.at_test.clear();
    const auto run = MakeRun(description, SmallText());
    AtTest change;
    change.distances = {Distances::Kind::kClamped, 4, 1};
    CHECK(run->Measure(change, 8, 4, nullptr).status().argument() == "atTest.distances");
  }
  for (const std::string position :
       {"shaw", "transformer-xl", "t5", "rope", "alibi", "kerple", "xpos", "fire", "sandwich", "tisa",
        "relative-scalar", "dynamic-bias", "deberta", "dape", "pope"}) {
    CAPTURE(position);
    RunDescription description = SmallRun(position, "text");
    description.at_test.resize(2);
    description.at_test[0].distances = {Distances::Kind::kGrouped, 4, 0};
    description.at_test[1].distances = {Distances::Kind::kClamped, 4, 1};
    const auto run = MakeRun(description, SmallText());
    for (const AtTest& change : description.at_test) Measured(run.get(), change, 32);
    description.at_test[1].distances->window = 0;
    CHECK(Run::Make(description, SmallText()).status().argument() == "atTest.distances.window");
  }
}

TEST_CASE("What is measured on the way equals what the run measures") {
  RunDescription description = SmallRun("rope", "text");
  description.at_test.resize(1);
  description.at_test[0] = WithPosition(Position("rope", {}, {{"scaling.ropeType", "ntk"}}));
  const auto run = MakeRun(description, SmallText());
  Finish(run.get());
  for (size_t n = 0; n < 3; ++n) {
    const int64_t length = description.test_lengths[n];
    CHECK(Bits(run->by_length()[n]) == Bits(Measured(run.get(), {}, length)));
    CHECK(Bits(run->at_test()[0][n]) == Bits(Measured(run.get(), description.at_test[0], length)));
  }
  PositionResult by_position;
  REQUIRE(run->Measure({}, 32, 10, &by_position).ok());
  CHECK(Bits(by_position.loss) == Bits(run->by_position().loss));
}

TEST_CASE("Measuring refuses lengths and numbers of windows that make no sense") {
  const auto run = Trained("rope");
  CHECK(run->Measure({}, 0, 4, nullptr).status().argument() == "length");
  CHECK(run->Measure({}, INT64_MAX, 4, nullptr).status().code() == Code::kRange);
  CHECK(run->Measure({}, 8, 0, nullptr).status().argument() == "windows");
  CHECK(run->Measure({}, 100000, 4, nullptr).status().argument() == "test.lengths");
}
