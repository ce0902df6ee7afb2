// SPDX-License-Identifier: MIT
// Small runs for tests: descriptions, a text with some order in it, and comparison to the bit.
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "base/status_message.h"
#include "lab/run.h"

namespace poslab::test {

inline Description Position(std::string type, std::vector<std::pair<std::string, double>> numbers = {},
                            std::vector<std::pair<std::string, std::string>> texts = {}) {
  Description description;
  description.type = std::move(type);
  for (auto& [name, number] : numbers) {
    Field field;
    field.name = name, field.number = number;
    description.fields.push_back(field);
  }
  for (auto& [name, text] : texts) {
    Field field;
    field.name = name, field.kind = Field::Kind::kText, field.text = text;
    description.fields.push_back(field);
  }
  return description;
}

// One layer, 16 wide, trained on rows of 8.
inline RunDescription SmallRun(std::string position, std::string task = "lookback") {
  RunDescription description;
  description.task.type = std::move(task);
  description.task.distance = 2, description.task.position = 2;
  description.model.dim = 16, description.model.heads = 2, description.model.layers = 1;
  description.model.feed_forward = 32;
  description.optimizer.steps = 12, description.optimizer.warmup = 4;
  description.length = 8, description.batch = 4;
  description.position = Position(std::move(position));
  description.test_lengths = {8, 12, 32};
  description.windows = 10;
  return description;
}

inline std::shared_ptr<const Corpus> SmallText() {
  std::string text;
  for (int n = 0; n < 400; ++n) text += n % 3 ? "the sea, " : n % 7 ? "the ship. " : "a whale! ";
  auto corpus = Corpus::Make({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, Corpus::Unit::kCharacters);
  REQUIRE(corpus.ok());
  return *corpus;
}

inline std::unique_ptr<Run> MakeRun(const RunDescription& description, std::shared_ptr<const Corpus> corpus = nullptr) {
  auto run = Run::Make(description, std::move(corpus));
  INFO(Message(run.status()));
  REQUIRE(run.ok());
  return std::move(*run);
}

// Runs to the end in slices of `steps`.
inline void Finish(Run* run, int64_t steps = 5) {
  for (int slices = 0; run->progress().phase != Run::Phase::kDone; ++slices) {
    REQUIRE(slices < 100000);
    const Status status = run->Advance(steps);
    INFO(Message(status));
    REQUIRE(status.ok());
  }
}

inline std::vector<uint32_t> WeightBits(Run& run) {
  std::vector<uint32_t> bits;
  for (float weight : run.model().weights()) bits.push_back(std::bit_cast<uint32_t>(weight));
  return bits;
}

inline std::vector<uint64_t> Bits(std::span<const double> numbers) {
  std::vector<uint64_t> bits;
  for (double number : numbers) bits.push_back(std::bit_cast<uint64_t>(number));
  return bits;
}

inline std::vector<uint64_t> Bits(const LengthResult& r) {
  const double numbers[] = {static_cast<double>(r.length),
                            r.defined ? 1.0 : 0.0,
                            r.loss,
                            r.loss_error,
                            r.loss_at_end,
                            r.loss_at_end_error,
                            r.accuracy,
                            r.accuracy_at_end};
  return Bits(numbers);
}

// Every result of a run, to the bit.
inline std::vector<uint64_t> ResultBits(const Run& run) {
  std::vector<uint64_t> bits = Bits(run.losses());
  const auto append = [&bits](const std::vector<uint64_t>& more) { bits.insert(bits.end(), more.begin(), more.end()); };
  for (const LengthResult& result : run.by_length()) append(Bits(result));
  append(Bits(run.by_position().loss));
  for (const auto& results : run.at_test())
    for (const LengthResult& result : results) append(Bits(result));
  return bits;
}

}  // namespace poslab::test
