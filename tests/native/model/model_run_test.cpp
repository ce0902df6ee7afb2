// SPDX-License-Identifier: MIT
// Running a model: options at test time, scores, attention weights, edge sizes and refused inputs.
#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "model/adamw.h"
#include "model/model.h"
#include "model/random_rows.h"
#include "model/small_models.h"

using namespace poslab;
using namespace poslab_test;

namespace {

constexpr int32_t kVocabulary = 7;

std::vector<float> Logits(Model* model, const std::vector<int32_t>& ids, int64_t batch, int64_t length,
                          const RunOptions& options = {}) {
  const auto result = model->Forward(ids, batch, length, options);
  REQUIRE_MESSAGE(result.ok(), result.status().argument());
  return {result->begin(), result->end()};
}

}  // namespace

TEST_CASE("A sequence gives the same bytes alone, in a batch, and in any order of calls") {
  for (const char* type : {"none", "sinusoidal", "rope", "alibi", "t5", "shaw", "transformer-xl"}) {
    CAPTURE(type);
    auto model = MakeModel(SmallDescription(), {SchemeOf(type)});
    const int64_t length = 6;
    const auto ids = RandomIds(3 * length, kVocabulary, 1);
    const auto together = Logits(model.get(), ids, 3, length);
    for (int64_t b = 0; b < 3; ++b) {
      const std::vector<int32_t> one(ids.begin() + b * length, ids.begin() + (b + 1) * length);
      const auto alone = Logits(model.get(), one, 1, length);
      CHECK(std::equal(alone.begin(), alone.end(), together.begin() + b * length * kVocabulary));
    }
    CHECK(Logits(model.get(), ids, 3, length) == together);
  }
}

TEST_CASE("No place sees what comes after it") {
  auto model = MakeModel(SmallDescription(), {SchemeOf("rope")});
  auto ids = RandomIds(6, kVocabulary, 2);
  const auto before = Logits(model.get(), ids, 1, 6);
  ids[4] = (ids[4] + 1) % kVocabulary;
  const auto after = Logits(model.get(), ids, 1, 6);
  CHECK(std::equal(before.begin(), before.begin() + 4 * kVocabulary, after.begin()));
  CHECK(before[4 * kVocabulary] != after[4 * kVocabulary]);
}

TEST_CASE(
    "A window of w makes a one-layer model blind to what is w or more back, and one of the length changes nothing") {
  ModelDescription d = SmallDescription();
  d.layers = 1;
  auto model = MakeModel(d, {SchemeOf("none")});
  auto ids = RandomIds(8, kVocabulary, 3);
  RunOptions windowed;
  windowed.window = 3;
  const auto before = Logits(model.get(), ids, 1, 8, windowed);
  ids[2] = (ids[2] + 1) % kVocabulary;
  const auto after = Logits(model.get(), ids, 1, 8, windowed);
  CHECK(before[4 * kVocabulary] != after[4 * kVocabulary]);  // 4 sees 2, 3, 4
  CHECK(std::equal(before.begin() + 5 * kVocabulary, before.end(), after.begin() + 5 * kVocabulary));
  windowed.window = 8;
  const auto wide = Logits(model.get(), ids, 1, 8, windowed), plain = Logits(model.get(), ids, 1, 8);
  CHECK(LargestDifference(wide, plain) <= 1e-5);
}

TEST_CASE("An offset changes absolute schemes and leaves relative ones alone") {
  const auto ids = RandomIds(6, kVocabulary, 4);
  RunOptions shifted;
  shifted.position_offset = 100;
  for (const char* type : {"none", "rope", "alibi", "t5", "shaw", "transformer-xl"}) {
    CAPTURE(type);
    auto model = MakeModel(SmallDescription(), {SchemeOf(type)});
    // Rotations by other angles round differently: some tens of float roundings of logits below 10.
    CHECK(LargestDifference(Logits(model.get(), ids, 1, 6), Logits(model.get(), ids, 1, 6, shifted)) <= 2e-5);
  }
  auto model = MakeModel(SmallDescription(), {SchemeOf("sinusoidal")});
  CHECK(LargestDifference(Logits(model.get(), ids, 1, 6), Logits(model.get(), ids, 1, 6, shifted)) > 1e-2);
}

TEST_CASE("A learned table is read at the offset, and is not defined past its end") {
  ModelDescription d = SmallDescription();
  auto model = MakeModel(d, {SchemeOf(Description{"learned", {Number("rows", 6)}})});
  const auto ids = RandomIds(4, kVocabulary, 5);
  RunOptions shifted;
  shifted.position_offset = 2;
  const auto moved = Logits(model.get(), ids, 1, 4, shifted);
  // The same rows handed over as a table give the same bytes.
  std::vector<float> rows;
  for (const ParameterInfo& info : model->parameters())
    if (info.name == "position.table")
      rows.assign(model->weights().begin() + info.offset + 2 * d.dim,
                  model->weights().begin() + info.offset + 6 * d.dim);
  RunOptions table;
  table.table_override = rows.data();
  CHECK(Logits(model.get(), ids, 1, 4, table) == moved);
  shifted.position_offset = 3;
  CHECK(model->Forward(ids, 1, 4, shifted).status().code() == Code::kNotDefined);
  // The model lives on.
  shifted.position_offset = 2;
  CHECK(Logits(model.get(), ids, 1, 4, shifted) == moved);
}

TEST_CASE("Another scheme at test time uses the trained tensors by name, and is forgotten afterwards") {
  const auto ids = RandomIds(6, kVocabulary, 6);
  auto model = MakeModel(SmallDescription(), {SchemeOf("rope")});
  const auto plain = Logits(model.get(), ids, 1, 6);
  {
    const auto slower = SchemeOf(Description{"rope", {Number("theta", 100)}});
    RunOptions options;
    options.scheme = slower.get();
    auto twin = MakeModel(SmallDescription(), {slower});
    CHECK(Logits(model.get(), ids, 1, 6, options) == Logits(twin.get(), ids, 1, 6));
    CHECK(Logits(model.get(), ids, 1, 6, options) != plain);
  }
  CHECK(Logits(model.get(), ids, 1, 6) == plain);

  auto t5 = MakeModel(SmallDescription(), {SchemeOf("t5")});
  const auto same = SchemeOf("t5"), shaw = SchemeOf("shaw");
  RunOptions options;
  options.scheme = same.get();
  CHECK(Logits(t5.get(), ids, 1, 6, options) == Logits(t5.get(), ids, 1, 6));
  options.scheme = shaw.get();
  CHECK(t5->Forward(ids, 1, 6, options).status().code() == Code::kMissing);
}

TEST_CASE("Loss, score and logits say the same") {
  auto model = MakeModel(SmallDescription(), {SchemeOf("alibi")});
  const int64_t batch = 4, length = 5;
  const auto ids = RandomIds(batch * length, kVocabulary, 7);
  auto targets = RandomIds(batch * length, kVocabulary, 8);
  targets[0] = targets[9] = -1;
  std::vector<float> losses(batch * length);
  std::vector<uint8_t> correct(batch * length);
  REQUIRE(model->Score(ids, targets, batch, length, {}, losses.data(), correct.data()).ok());
  const auto loss = model->Loss(ids, targets, batch, length, false);
  const auto trained = model->Loss(ids, targets, batch, length, true);
  const auto logits = Logits(model.get(), ids, batch, length);
  double sum = 0;
  for (int64_t n = 0; n < batch * length; ++n) {
    if (targets[n] < 0) {
      CHECK(std::isnan(losses[n]));
      continue;
    }
    double total = 0;
    bool largest = true;
    for (int32_t v = 0; v < kVocabulary; ++v) {
      total += std::exp(static_cast<double>(logits[n * kVocabulary + v]));
      largest = largest && logits[n * kVocabulary + v] <= logits[n * kVocabulary + targets[n]];
    }
    CHECK(losses[n] == doctest::Approx(std::log(total) - logits[n * kVocabulary + targets[n]]).epsilon(1e-5));
    CHECK(correct[n] == largest);
    sum += losses[n];
  }
  CHECK(loss->loss == doctest::Approx(sum / 18).epsilon(1e-6));
  CHECK(trained->loss == doctest::Approx(loss->loss).epsilon(1e-12));
  CHECK(loss->scored == 18);
}

TEST_CASE("Many sequences are measured in groups that do not show") {
  auto model = MakeModel(SmallDescription(), {SchemeOf("none")});
  const int64_t batch = 700, length = 4;  // more than one group
  const auto ids = RandomIds(batch * length, kVocabulary, 9), targets = RandomIds(batch * length, kVocabulary, 10);
  std::vector<float> losses(batch * length), one(length);
  REQUIRE(model->Score(ids, targets, batch, length, {}, losses.data(), nullptr).ok());
  for (int64_t b : {0, 511, 512, 699}) {
    const auto part = std::span(ids).subspan(b * length, length),
               wanted = std::span(targets).subspan(b * length, length);
    REQUIRE(model->Score(part, wanted, 1, length, {}, one.data(), nullptr).ok());
    CHECK(std::equal(one.begin(), one.end(), losses.begin() + b * length));
  }
  const auto all = model->Loss(ids, targets, batch, length, false),
             whole = model->Loss(ids, targets, batch, length, true);
  CHECK(all->loss == doctest::Approx(whole->loss).epsilon(1e-12));
}

TEST_CASE("Attention weights of every layer are rows that sum to one and see nothing ahead") {
  auto model = MakeModel(SmallDescription(), {SchemeOf("alibi")});
  const int64_t length = 6;
  const auto ids = RandomIds(length, kVocabulary, 11);
  std::vector<float> weights(2 * length * length);
  for (int64_t layer : {0, 1}) {
    REQUIRE(model->AttentionWeights(ids, layer, {}, weights.data()).ok());
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i = 0; i < length; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < length; ++j) {
          const float w = weights[(h * length + i) * length + j];
          sum += w;
          if (j > i) CHECK(w == 0.0f);
        }
        CHECK(sum == doctest::Approx(1).epsilon(1e-6));
      }
  }
  CHECK(model->AttentionWeights(ids, 2, {}, weights.data()).argument() == "layer");
}

TEST_CASE("Queries and keys of a layer, and its gates, give its attention weights") {
  for (const char* type : {"none", "forgetting"}) {
    CAPTURE(type);
    auto model = MakeModel(SmallDescription(), {SchemeOf(type)});
    const ModelDescription& d = model->description();
    const int64_t length = 5, width = (d.heads + 2 * d.key_value_heads) * d.head_dim;
    const int64_t keys_at = d.heads * d.head_dim, group = d.heads / d.key_value_heads;
    const auto ids = RandomIds(length, kVocabulary, 12);
    std::vector<float> weights(d.heads * length * length);
    for (int64_t layer : {0, 1}) {
      REQUIRE(model->AttentionWeights(ids, layer, {}, weights.data()).ok());
      const auto rows = model->QueryKeyValue(ids, layer, {});
      REQUIRE(rows.ok());
      REQUIRE(static_cast<int64_t>(rows->size()) == length * width);
      const std::span<const float> gates = model->Gates(layer);
      const bool gated = std::string(type) == "forgetting";
      REQUIRE(static_cast<int64_t>(gates.size()) == (gated ? d.heads * length : 0));
      for (int64_t h = 0; h < d.heads; ++h)
        for (int64_t i = 0; i < length; ++i) {
          std::vector<double> logits;
          double sum = 0;
          for (int64_t j = 0; j <= i; ++j) {
            const float* query = rows->data() + i * width + h * d.head_dim;
            const float* key = rows->data() + j * width + keys_at + h / group * d.head_dim;
            double dot = 0, forgotten = 0;
            for (int64_t c = 0; c < d.head_dim; ++c) dot += static_cast<double>(query[c]) * key[c];
            for (int64_t l = j + 1; gated && l <= i; ++l) forgotten += gates[static_cast<size_t>(h * length + l)];
            logits.push_back(std::exp(dot / std::sqrt(static_cast<double>(d.head_dim)) + forgotten));
            sum += logits.back();
          }
          for (int64_t j = 0; j <= i; ++j)
            CHECK(weights[(h * length + i) * length + j] == doctest::Approx(logits[j] / sum).epsilon(1e-5));
        }
    }
    CHECK(model->QueryKeyValue(ids, 2, {}).status().argument() == "layer");
    CHECK(model->QueryKeyValue({}, 0, {})->empty());
  }
}

TEST_CASE("Length one, vocabulary of one, one head and one layer work, and so does nothing at all") {
  ModelDescription d = SmallDescription();
  d.vocabulary = 1, d.heads = 1, d.layers = 1;
  for (const char* type : {"none", "sinusoidal", "learned", "shaw", "transformer-xl", "t5", "rope", "alibi"}) {
    CAPTURE(type);
    auto model = MakeModel(d, {SchemeOf(type)});
    const std::vector<int32_t> zero = {0};
    const auto result = model->Loss(zero, zero, 1, 1, true);
    REQUIRE(result.ok());
    CHECK(result->loss == 0.0);
    for (float g : model->gradients()) CHECK(g == 0.0f);
    CHECK(model->Forward({}, 0, 5)->empty());
    CHECK(model->Forward({}, 5, 0)->empty());
    CHECK(model->Loss({}, {}, 0, 0, true)->loss == 0.0);
    CHECK(model->Score({}, {}, 0, 0, {}, nullptr, nullptr).ok());
  }
}

TEST_CASE("Without a scored place the loss and all gradients are zero") {
  auto model = MakeModel(SmallDescription(), {SchemeOf("none")});
  const auto ids = RandomIds(4, kVocabulary, 12);
  const std::vector<int32_t> none(4, -1);
  REQUIRE(model->Loss(ids, ids, 1, 4, true).ok());
  const auto result = model->Loss(ids, none, 1, 4, true);
  CHECK(result->loss == 0.0);
  CHECK(result->scored == 0);
  for (float g : model->gradients()) CHECK(g == 0.0f);
}

TEST_CASE("Inputs that do not fit are refused by name") {
  auto model = MakeModel(SmallDescription(), {SchemeOf("none")});
  const std::vector<int32_t> ids = {0, 1, 2, 3}, high = {0, 7, 0, 0}, low = {0, -1, 0, 0}, unscored = {0, -2, 0, 0};
  CHECK(model->Forward(ids, 1, 3).status().argument() == "ids");
  CHECK(model->Forward(ids, 1, 3).status().code() == Code::kShape);
  CHECK(model->Forward(high, 1, 4).status().argument() == "ids");
  CHECK(model->Forward(low, 1, 4).status().code() == Code::kRange);
  CHECK(model->Loss(ids, high, 1, 4, false).status().argument() == "targets");
  CHECK(model->Loss(ids, unscored, 1, 4, false).status().argument() == "targets");
  CHECK(model->Loss(ids, {}, 1, 4, false).status().argument() == "targets");
  CHECK(model->Forward(ids, -1, -4).status().argument() == "batch");
  CHECK(model->Forward(ids, 1, -4).status().argument() == "length");
  CHECK(model->Forward({}, int64_t{1} << 40, int64_t{1} << 40).status().code() == Code::kMemory);
  RunOptions options;
  options.window = 0;
  CHECK(model->Forward(ids, 1, 4, options).status().argument() == "window");
  options.window.reset();
  options.position_offset = -1;
  CHECK(model->Forward(ids, 1, 4, options).status().argument() == "positionOffset");
  options.position_offset = INT64_MAX;
  CHECK(model->Forward(ids, 1, 4, options).status().argument() == "positionOffset");
}

TEST_CASE("Training on one short text learns it, and the same seed gives the same bytes") {
  const auto train = [] {
    auto model = MakeModel(SmallDescription(), {SchemeOf("rope")}, 3);
    OptimizerDescription d;
    d.learning_rate = 0.02, d.warmup = 5, d.steps = 80;
    auto optimizer = AdamW::Make(d, *model);
    const std::vector<int32_t> ids = {1, 4, 2, 6, 3}, next = {4, 2, 6, 3, 0};
    double loss = 0;
    for (int64_t step = 0; step < d.steps; ++step) {
      loss = model->Loss(ids, next, 1, 5, true)->loss;
      REQUIRE(optimizer->Step(model.get()).ok());
    }
    CHECK(loss < 0.1);
    return std::vector<float>(model->weights().begin(), model->weights().end());
  };
  CHECK(train() == train());
}
