// SPDX-License-Identifier: MIT
// Text that a model writes: its choices and its own losses, checked against the model's scores.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "lab/run_support.h"

using namespace poslab;
using namespace poslab::test;

namespace {

std::unique_ptr<Run> Trained(const char* position) {
  RunDescription description = SmallRun(position, "text");
  description.optimizer.steps = 60;
  auto run = MakeRun(description, SmallText());
  while (run->progress().phase == Run::Phase::kTraining) REQUIRE(run->Advance(10).ok());
  return run;
}

}  // namespace

TEST_CASE("Greedy text takes the likeliest id each time and reports the loss that scoring gives") {
  const auto run = Trained("rope");
  const std::vector<int32_t> prompt{3, 1, 4};
  std::vector<int32_t> text(20);
  std::vector<float> losses(20);
  REQUIRE(run->Generate(prompt, 20, 0, 1, {}, text.data(), losses.data()).ok());
  std::vector<int32_t> ids = prompt;
  ids.insert(ids.end(), text.begin(), text.end());
  const int64_t length = static_cast<int64_t>(ids.size()) - 1;
  std::vector<int32_t> targets(ids.begin() + 1, ids.end());
  std::vector<float> scores(length);
  std::vector<uint8_t> correct(length);
  REQUIRE(run->model().Score({ids.data(), ids.size() - 1}, targets, 1, length, {}, scores.data(), correct.data()).ok());
  for (size_t n = 0; n < text.size(); ++n) {
    CHECK(correct[2 + n] == 1);
    // A float loss of a few nats, from logits of passes of other lengths: some 2^-20.
    CHECK(std::fabs(scores[2 + n] - losses[n]) < 1e-5);
  }
}

TEST_CASE("Sampled text depends on its seed alone, and a higher temperature makes it more varied") {
  const auto run = Trained("alibi");
  const int32_t prompt[] = {2};
  std::vector<int32_t> one(60), same(60), other(60), hot(60);
  REQUIRE(run->Generate(prompt, 60, 0.5, 1, {}, one.data(), nullptr).ok());
  REQUIRE(run->Generate(prompt, 60, 0.5, 1, {}, same.data(), nullptr).ok());
  REQUIRE(run->Generate(prompt, 60, 0.5, 2, {}, other.data(), nullptr).ok());
  CHECK(one == same);
  CHECK(one != other);
  std::vector<float> cold_losses(60), hot_losses(60);
  REQUIRE(run->Generate(prompt, 60, 0.5, 3, {}, hot.data(), cold_losses.data()).ok());
  REQUIRE(run->Generate(prompt, 60, 50, 3, {}, hot.data(), hot_losses.data()).ok());
  double cold_sum = 0, hot_sum = 0;
  for (int n = 0; n < 60; ++n) cold_sum += cold_losses[n], hot_sum += hot_losses[n];
  CHECK(cold_sum < hot_sum);
  for (int32_t id : hot) {
    CHECK(id >= 0);
    CHECK(id < run->model().description().vocabulary);
  }
  // Nearly uniform at temperature 50: nearly every id comes up.
  CHECK(std::set<int32_t>(hot.begin(), hot.end()).size() > 8);
}

TEST_CASE("A learned table ends the text, and says where before anything is written") {
  const auto run = Trained("learned");
  const int32_t prompt[] = {1, 2, 3};
  int32_t ids[64] = {-5};
  REQUIRE(run->Generate(prompt, 6, 0, 1, {}, ids, nullptr).ok());  // reads 8 places, L
  ids[0] = -5;
  const Status status = run->Generate(prompt, 7, 0, 1, {}, ids, nullptr);
  CHECK(status.code() == Code::kNotDefined);
  CHECK(status.limits()[0] == 6);
  CHECK(ids[0] == -5);
  AtTest stretched;
  stretched.interpolate = true;
  CHECK(run->Generate(prompt, 40, 0, 1, stretched, ids, nullptr).ok());
  AtTest replaced;
  replaced.position = Position("none");
  CHECK(run->Generate(prompt, 40, 0, 1, replaced, ids, nullptr).ok());
}

TEST_CASE("Generating refuses empty prompts, unknown ids and temperatures that make no sense") {
  const auto run = Trained("rope");
  const int32_t prompt[] = {1}, unknown[] = {1000}, negative[] = {-1};
  int32_t ids[4];
  CHECK(run->Generate({}, 4, 1, 1, {}, ids, nullptr).argument() == "prompt");
  CHECK(run->Generate(unknown, 4, 1, 1, {}, ids, nullptr).code() == Code::kRange);
  CHECK(run->Generate(negative, 4, 1, 1, {}, ids, nullptr).code() == Code::kRange);
  CHECK(run->Generate(prompt, -1, 1, 1, {}, ids, nullptr).argument() == "count");
  CHECK(run->Generate(prompt, 0, 1, 1, {}, ids, nullptr).ok());
  for (double temperature : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    CHECK(run->Generate(prompt, 4, temperature, 1, {}, ids, nullptr).argument() == "temperature");
}
