// SPDX-License-Identifier: MIT
// What a model may be, what its parameters are called, and how they start.
#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/small_models.h"

using namespace poslab;
using namespace poslab_test;

namespace {

std::vector<std::string> Names(const Model& model) {
  std::vector<std::string> names;
  for (const ParameterInfo& info : model.parameters()) names.push_back(info.name);
  return names;
}

template <typename Change>
Status Refusal(Change change) {
  ModelDescription d = SmallDescription();
  change(d);
  const Status checked = CheckModel(d);
  const Status made = Model::Make(d, {SchemeOf("none")}).status();
  CHECK(made.code() == checked.code());
  return checked;
}

}  // namespace

TEST_CASE("Descriptions that cannot work are refused by the name of the field") {
  using D = ModelDescription;
  const auto expect = [](Code code, const std::string& name, auto change) {
    const Status status = Refusal(change);
    CAPTURE(name);
    CHECK(status.code() == code);
    CHECK(status.argument() == name);
    CHECK(status.given_number().has_value());
    CHECK(status.allowed() != "");
  };
  expect(Code::kRange, "model.vocabulary", [](D& d) { d.vocabulary = 0; });
  expect(Code::kRange, "model.dim", [](D& d) { d.dim = 0; });
  expect(Code::kRange, "model.dim", [](D& d) { d.dim = int64_t{1} << 40; });
  expect(Code::kRange, "model.heads", [](D& d) { d.heads = 0; });
  expect(Code::kRange, "model.heads", [](D& d) { d.heads = 3; });
  expect(Code::kRange, "model.keyValueHeads", [](D& d) { d.heads = 4, d.key_value_heads = 3; });
  expect(Code::kRange, "model.keyValueHeads", [](D& d) { d.key_value_heads = 4; });
  expect(Code::kRange, "model.keyValueHeads", [](D& d) { d.key_value_heads = -1; });
  expect(Code::kRange, "model.headDim", [](D& d) { d.head_dim = -2; });
  expect(Code::kRange, "model.headDim", [](D& d) { d.heads = 2048, d.head_dim = 2048; });
  expect(Code::kRange, "model.layers", [](D& d) { d.layers = 0; });
  expect(Code::kRange, "model.layers", [](D& d) { d.layers = 1000000; });
  expect(Code::kRange, "model.feedForward", [](D& d) { d.feed_forward = 0; });
  expect(Code::kRange, "model.trainedLength", [](D& d) { d.trained_length = -1; });
  // 2^20 * 2^20 floats a matrix, 1024 layers: beyond any machine's memory, though every field is in its limits.
  expect(Code::kMemory, "model",
         [](D& d) { d.dim = int64_t{1} << 20, d.heads = 1, d.feed_forward = int64_t{1} << 20, d.layers = 1024; });
  CHECK(CheckModel(SmallDescription()).ok());
}

TEST_CASE("A learned table too long for any memory is refused before it is asked for") {
  ModelDescription d = SmallDescription();
  d.trained_length = INT64_MAX / 2;
  const auto model = Model::Make(d, {SchemeOf("learned")});
  REQUIRE_FALSE(model.ok());
  CHECK((model.status().code() == Code::kMemory || model.status().code() == Code::kRange));
}

TEST_CASE("Schemes come one for all layers or one a layer") {
  auto none = SchemeOf("none");
  CHECK(Model::Make(SmallDescription(), {none}).ok());
  CHECK(Model::Make(SmallDescription(), {none, SchemeOf("alibi")}).ok());
  CHECK(Model::Make(SmallDescription(), {none, none, none}).status().argument() == "position");
  CHECK(Model::Make(SmallDescription(), {}).status().argument() == "position");
  CHECK(Model::Make(SmallDescription(), {none, nullptr}).status().code() == Code::kMissing);
  // Two different tables added before the first layer contradict each other.
  CHECK(Model::Make(SmallDescription(), {SchemeOf("sinusoidal"), SchemeOf("learned")}).status().code() ==
        Code::kContradiction);
}

TEST_CASE("Names and shapes are those of the weight files, in the documented order") {
  ModelDescription d = SmallDescription();
  d.layers = 1;
  auto model = MakeModel(d, {SchemeOf("shaw")});
  CHECK(Names(*model) == std::vector<std::string>{
                             "embedding.weight", "blocks.0.norm1.gain", "blocks.0.norm1.bias", "blocks.0.norm2.gain",
                             "blocks.0.norm2.bias", "blocks.0.attention.query.weight", "blocks.0.attention.key.weight",
                             "blocks.0.attention.value.weight", "blocks.0.attention.output.weight",
                             "blocks.0.position.keys", "blocks.0.position.values", "blocks.0.feedForward.in.weight",
                             "blocks.0.feedForward.in.bias", "blocks.0.feedForward.out.weight",
                             "blocks.0.feedForward.out.bias", "norm.gain", "norm.bias", "head.weight"});
  int64_t next = 0;
  for (const ParameterInfo& info : model->parameters()) {
    CHECK(info.offset == next);
    int64_t size = 1;
    for (int64_t extent : info.shape) size *= extent;
    CHECK(info.size == size);
    next += info.size;
  }
  CHECK(next == model->parameter_count());
  CHECK(model->weights().size() == static_cast<size_t>(next));
}

TEST_CASE("Layers share what the scheme shares: one table for T5, one set of keys a layer for Shaw") {
  const auto count = [](const Model& model, const std::string& ending) {
    int n = 0;
    for (const std::string& name : Names(model)) n += name.ends_with(ending);
    return n;
  };
  CHECK(count(*MakeModel(SmallDescription(), {SchemeOf("t5")}), "position.table") == 1);
  CHECK(count(*MakeModel(SmallDescription(), {SchemeOf("learned")}), "position.table") == 1);
  CHECK(count(*MakeModel(SmallDescription(), {SchemeOf("shaw")}), "position.keys") == 2);
  // Both call theirs "table": the first layer's has the shared name.
  CHECK(Names(*MakeModel(SmallDescription(), {SchemeOf("learned"), SchemeOf("t5")}))[1] == "position.table");
  CHECK(count(*MakeModel(SmallDescription(), {SchemeOf("learned"), SchemeOf("t5")}), "blocks.1.position.table") == 1);
}

TEST_CASE("The default experiment's model has the size that its parts add up to") {
  ModelDescription d;
  d.vocabulary = 80, d.trained_length = 64;
  auto model = Model::Make(d, {SchemeOf("none")});
  REQUIRE(model.ok());
  // embedding and head 2 * 80 * 64; a block: 4 * 64^2 + 2 * 64 * 256 + 256 + 64 + 4 * 64; last norm 2 * 64.
  CHECK((*model)->parameter_count() == 2 * 80 * 64 + 2 * (4 * 4096 + 2 * 16384 + 320 + 256) + 128);
}

TEST_CASE("Shapes that leave something out or add something say so in their names") {
  ModelDescription d = SmallDescription();
  d.tied = true, d.parallel = true, d.gated = true, d.bias = false, d.norm = ModelDescription::Norm::kRms;
  d.layers = 1, d.heads = 4, d.key_value_heads = 2, d.head_dim = 3;
  auto model = MakeModel(d, {SchemeOf("none")});
  CHECK(Names(*model) == std::vector<std::string>{"embedding.weight", "blocks.0.norm1.gain",
                                                  "blocks.0.attention.query.weight", "blocks.0.attention.key.weight",
                                                  "blocks.0.attention.value.weight", "blocks.0.attention.output.weight",
                                                  "blocks.0.feedForward.gate.weight", "blocks.0.feedForward.in.weight",
                                                  "blocks.0.feedForward.out.weight", "norm.gain"});
  for (const ParameterInfo& info : model->parameters()) {
    if (info.name.ends_with("query.weight")) CHECK(info.shape == std::vector<int64_t>{12, 8});
    if (info.name.ends_with("key.weight")) CHECK(info.shape == std::vector<int64_t>{6, 8});
    if (info.name.ends_with("output.weight")) CHECK(info.shape == std::vector<int64_t>{8, 12});
  }
}

TEST_CASE("Starting weights have the documented spread, and the same seed gives the same bytes") {
  ModelDescription d;
  d.vocabulary = 80, d.trained_length = 64;
  auto model = Model::Make(d, {SchemeOf("learned")}), twin = Model::Make(d, {SchemeOf("learned")});
  REQUIRE(model.ok());
  Random one(7), two(7);
  (*model)->Initialize(&one);
  (*twin)->Initialize(&two);
  CHECK(std::equal((*model)->weights().begin(), (*model)->weights().end(), (*twin)->weights().begin()));
  for (const ParameterInfo& info : (*model)->parameters()) {
    CAPTURE(info.name);
    double sum = 0, square = 0;
    for (int64_t n = 0; n < info.size; ++n) {
      const double w = (*model)->weights()[info.offset + n];
      sum += w, square += w * w;
    }
    const double count = static_cast<double>(info.size), deviation = std::sqrt(square / count);
    double expected = 0;
    if (info.name == "embedding.weight") expected = 1;
    if (info.name == "position.table") expected = 0.02;
    if (info.name.ends_with("query.weight") || info.name == "head.weight") expected = 1.0 / 8;
    if (info.name.ends_with("attention.output.weight")) expected = 1.0 / 8 / 2;
    if (info.name.ends_with("feedForward.out.weight")) expected = 1.0 / 16 / 2;
    if (info.name.ends_with(".gain")) expected = 1;
    if (info.name.ends_with(".bias")) CHECK(square == 0);
    // The spread of a sample's deviation is 1 / sqrt(2 n); five of those.
    if (expected > 0) CHECK(std::abs(deviation / expected - 1) <= 5 / std::sqrt(2 * count));
    if (expected > 0 && !info.name.ends_with(".gain")) CHECK(std::abs(sum / count) <= 5 * expected / std::sqrt(count));
  }
}
