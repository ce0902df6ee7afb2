// SPDX-License-Identifier: MIT
// Loss and gradients of whole models: every shape that a description can name against a plain double model and its
// finite differences, and every scheme against differences of the loss itself.
#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/random_rows.h"
#include "model/reference_model.h"
#include "model/small_models.h"

using namespace poslab;
using namespace poslab_test;

namespace {

constexpr int64_t kBatch = 2, kLength = 5;

struct Shape {
  std::string name;
  ModelDescription description;
};

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes;
  const auto add = [&](const std::string& name, auto change) {
    ModelDescription d = SmallDescription();
    change(d);
    shapes.push_back({name, d});
  };
  using D = ModelDescription;
  add("default", [](D&) {});
  add("one layer, one head", [](D& d) { d.layers = 1, d.heads = 1; });
  add("silu, gated, rms, no bias",
      [](D& d) { d.activation = D::Activation::kSilu, d.gated = true, d.norm = D::Norm::kRms, d.bias = false; });
  add("relu, bias everywhere", [](D& d) { d.activation = D::Activation::kRelu, d.bias = true; });
  add("gelu, gated, bias everywhere", [](D& d) { d.gated = true, d.bias = true; });
  add("post-norm", [](D& d) { d.norm_placement = D::NormPlacement::kPost; });
  add("post-norm, rms, gated",
      [](D& d) { d.norm_placement = D::NormPlacement::kPost, d.norm = D::Norm::kRms, d.gated = true; });
  add("parallel", [](D& d) { d.parallel = true; });
  add("parallel, post-norm, bias everywhere",
      [](D& d) { d.parallel = true, d.norm_placement = D::NormPlacement::kPost, d.bias = true; });
  add("grouped heads of their own width", [](D& d) { d.heads = 4, d.key_value_heads = 2, d.head_dim = 3; });
  add("one key and value head", [](D& d) { d.heads = 4, d.key_value_heads = 1; });
  add("tied", [](D& d) { d.tied = true; });
  add("tied, post-norm, three layers",
      [](D& d) { d.tied = true, d.layers = 3, d.norm_placement = D::NormPlacement::kPost; });
  add("odd sizes", [](D& d) { d.dim = 9, d.heads = 3, d.feed_forward = 5, d.vocabulary = 3; });
  return shapes;
}

}  // namespace

TEST_CASE("Loss and every gradient of every shape match a plain double model and its finite differences") {
  for (const Shape& shape : Shapes()) {
    CAPTURE(shape.name);
    auto model = MakeModel(shape.description, {SchemeOf("none")});
    const auto vocabulary = static_cast<int32_t>(shape.description.vocabulary);
    const auto ids = RandomIds(kBatch * kLength, vocabulary, 1);
    auto targets = RandomIds(kBatch * kLength, vocabulary, 2);
    targets[3] = targets[7] = -1;

    std::vector<double> weights(model->weights().begin(), model->weights().end());
    const ReferenceModel reference(model->description(), model->parameters(), weights);
    const auto result = model->Loss(ids, targets, kBatch, kLength, true);
    REQUIRE(result.ok());
    CHECK(result->scored == kBatch * kLength - 2);
    // Some hundred float operations on the way from ids to a loss of order 1.
    CHECK(std::abs(result->loss - reference.Loss(ids, targets, kBatch, kLength)) <= 100 * 0x1p-24);

    for (const ParameterInfo& info : model->parameters()) {
      CAPTURE(info.name);
      const float* gradient = model->gradients().data() + info.offset;
      double largest = 0;
      for (int64_t n = 0; n < info.size; ++n) largest = std::max(largest, std::abs(static_cast<double>(gradient[n])));
      const int64_t step = std::max<int64_t>(1, info.size / 12);
      for (int64_t n = 0; n < info.size; n += step) {
        double& weight = weights[static_cast<size_t>(info.offset + n)];
        const double before = weight, h = 1e-5;
        weight = before + h;
        const double up = reference.Loss(ids, targets, kBatch, kLength);
        weight = before - h;
        const double down = reference.Loss(ids, targets, kBatch, kLength);
        weight = before;
        // Float gradients: a few hundred roundings of parts as large as the tensor's largest entry (and of the loss's
        // other gradients, of order 0.01, where the tensor's own is zero by symmetry). Differences are good to 1e-9.
        CHECK(std::abs(gradient[n] - (up - down) / (2 * h)) <= 300 * 0x1p-24 * (largest + 0.01) + 1e-9);
      }
    }
  }
}

namespace {

std::vector<Description> SchemesToTry() {
  return {
      {"none", {}},
      {"sinusoidal", {}},
      {"learned", {Number("rows", 8)}},
      {"shaw", {Number("maxDistance", 2)}},
      {"transformer-xl", {}},
      {"t5", {Number("buckets", 4), Number("maxDistance", 4)}},
      {"rope", {}},
      {"rope", {Text("layout", "interleaved"), Number("rotaryDim", 2)}},
      {"alibi", {}},
      {"xpos", {}},
      {"kerple", {Text("kind", "log")}},
      {"kerple", {Text("kind", "power")}},
      {"sandwich", {}},
      {"tisa", {Number("kernels", 2)}},
      {"relative-scalar", {Number("maxDistance", 4)}},
      {"dynamic-bias", {Number("width", 4)}},
      {"cope", {Number("positions", 4)}},
      {"forgetting", {}},
      {"deberta", {Number("maxDistance", 4)}},
      {"deberta", {Number("maxDistance", 6), Number("buckets", 4)}},
      {"sinusoidal", {Boolean("scaled", true)}},
      {"rope", {Boolean("learnedFrequencies", true)}},
      {"rope", {Number("noRopeLayerInterval", 2), Text("temperature.kind", "ssmax")}},
      {"none", {Text("temperature.kind", "ssmax")}},
      {"axial-rope", {Number("gridWidth", 3)}},
      {"swin", {Number("gridHeight", 2)}},
      {"levit", {Number("gridHeight", 2)}},
      {"sinusoidal-2d", {Number("gridWidth", 3)}},
      {"axial-learned", {Number("gridHeight", 2), Text("combine", "concatenate")}},
      {"learned-grid", {Number("prefixTokens", 1), Number("gridWidth", 3), Number("targetWidth", 6)}},
      {"learned", {Number("rows", 3), Number("stretchTo", 8)}},
  };
}

// The loss at weights + t * direction; the weights are put back.
double LossAlong(Model* model, const std::vector<float>& direction, double t, const std::vector<int32_t>& ids,
                 const std::vector<int32_t>& targets) {
  std::vector<float> before(model->weights().begin(), model->weights().end());
  for (size_t n = 0; n < before.size(); ++n)
    model->weights()[n] = static_cast<float>(before[n] + t * static_cast<double>(direction[n]));
  const auto result = model->Loss(ids, targets, kBatch, kLength, false);
  std::copy(before.begin(), before.end(), model->weights().begin());
  REQUIRE(result.ok());
  return result->loss;
}

void CheckAlongDirections(Model* model) {
  const auto ids = RandomIds(kBatch * kLength, 7, 3), targets = RandomIds(kBatch * kLength, 7, 4);
  REQUIRE(model->Loss(ids, targets, kBatch, kLength, true).ok());
  const std::vector<float> gradients(model->gradients().begin(), model->gradients().end());
  for (const ParameterInfo& info : model->parameters()) {
    CAPTURE(info.name);
    for (uint64_t seed : {1, 2, 3}) {
      // A direction of length 1 inside this tensor; the first is the gradient's own.
      std::vector<float> direction(gradients.size(), 0.0f);
      const std::vector<float> random = RandomRows(info.size, seed);
      double length = 0, expected = 0;
      for (int64_t n = 0; n < info.size; ++n) {
        const float entry = seed == 1 ? gradients[info.offset + n] : random[n];
        direction[info.offset + n] = entry;
        length += static_cast<double>(entry) * entry;
      }
      if (length < 1e-12) continue;  // e.g. learned rows that the text does not reach
      for (int64_t n = 0; n < info.size; ++n) {
        float& entry = direction[info.offset + n];
        entry = static_cast<float>(entry / std::sqrt(length));
        expected += static_cast<double>(entry) * gradients[info.offset + n];
      }
      // Richardson's combination of two central differences: error of order h^4; the loss in float is good to about
      // 1e-6, which h = 0.02 turns into 1e-4 at most.
      const double h = 0.02;
      const auto slope = [&](double step) {
        return (LossAlong(model, direction, step, ids, targets) - LossAlong(model, direction, -step, ids, targets)) /
               (2 * step);
      };
      const double measured = (4 * slope(h) - slope(2 * h)) / 3;
      CHECK(std::abs(measured - expected) <= 1e-4 + 1e-3 * std::abs(expected));
    }
  }
}

}  // namespace

TEST_CASE("With every scheme, gradients of every tensor match differences of the loss along directions") {
  for (const Description& scheme : SchemesToTry()) {
    CAPTURE(scheme.type);
    CheckAlongDirections(MakeModel(SmallDescription(), {SchemeOf(scheme)}).get());
  }
}

TEST_CASE("Sinks take part in training, and zero ones make the softmax off by one") {
  for (auto sinks : {ModelDescription::Sinks::kZero, ModelDescription::Sinks::kLearned}) {
    ModelDescription d = SmallDescription();
    d.sinks = sinks;
    auto model = MakeModel(d, {SchemeOf("rope")});
    const bool learned = sinks == ModelDescription::Sinks::kLearned;
    const auto is_sinks = [](const ParameterInfo& info) { return info.name.ends_with("attention.sinks"); };
    CHECK(std::count_if(model->parameters().begin(), model->parameters().end(), is_sinks) == (learned ? d.layers : 0));
    CheckAlongDirections(model.get());
    // The first token sees itself alone: without a sink all of its weight goes there.
    std::vector<float> weights(static_cast<size_t>(d.heads));
    const int32_t id = 3;
    REQUIRE(model->AttentionWeights({&id, 1}, 0, {}, weights.data()).ok());
    for (float weight : weights) CHECK((weight > 0 && weight < 1));
  }
}

TEST_CASE("Schemes with bends match differences too where none is near") {
  struct Moved {
    Description scheme;
    std::string tensor;
    float by;
  };
  // FIRE's reach of 3.5 lies between positions, and units that are all on stay on; PoPE's phases start where they are
  // clamped.
  const std::vector<Moved> all = {{{"fire", {Number("width", 4), Number("threshold", 3.5)}}, "position.bias1", 3},
                                  {{"dape", {Number("width", 4)}}, "position.bias1", 9},
                                  {{"pope", {}}, "position.phases", -1},
                                  {{"log-cpb", {Number("width", 4)}}, "position.bias1", 9}};
  for (const Moved& moved : all) {
    CAPTURE(moved.scheme.type);
    auto model = MakeModel(SmallDescription(), {SchemeOf(moved.scheme)});
    for (const ParameterInfo& info : model->parameters()) {
      if (!info.name.ends_with(moved.tensor)) continue;
      for (int64_t n = 0; n < info.size; ++n) model->weights()[static_cast<size_t>(info.offset + n)] += moved.by;
    }
    CheckAlongDirections(model.get());
  }
}

TEST_CASE("A scheme of its own in every layer trains, whatever the tensors are called") {
  CheckAlongDirections(MakeModel(SmallDescription(), {SchemeOf("learned"), SchemeOf("t5")}).get());
  CheckAlongDirections(MakeModel(SmallDescription(), {SchemeOf("shaw"), SchemeOf("rope")}).get());
  CheckAlongDirections(MakeModel(SmallDescription(), {SchemeOf("alibi"), SchemeOf("sinusoidal")}).get());
}

TEST_CASE("Schemes work with grouped heads, post-norm and parallel blocks") {
  ModelDescription d = SmallDescription();
  d.heads = 4, d.key_value_heads = 2, d.head_dim = 4;
  d.norm_placement = ModelDescription::NormPlacement::kPost, d.parallel = true;
  for (const char* type : {"rope", "t5", "shaw", "transformer-xl"}) {
    CAPTURE(type);
    CheckAlongDirections(MakeModel(d, {SchemeOf(type)}).get());
  }
}
