// SPDX-License-Identifier: MIT
// AdamW against a scalar double version of the same formulas, the schedule by hand, clipping, decay, minima, divergence.
#include "model/adamw.h"

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/random_rows.h"
#include "model/small_models.h"

using namespace poslab;
using namespace poslab_test;

namespace {

// Loshchilov & Hutter's algorithm 2 for one number.
struct ScalarAdamW {
  double weight = 0, first = 0, second = 0;
  void Step(const OptimizerDescription& d, double rate, double gradient, bool decay, double minimum, int64_t step) {
    first = d.beta1 * first + (1 - d.beta1) * gradient;
    second = d.beta2 * second + (1 - d.beta2) * gradient * gradient;
    const double t = static_cast<double>(step + 1);
    const double m = first / (1 - std::pow(d.beta1, t)), v = second / (1 - std::pow(d.beta2, t));
    if (decay) weight -= rate * d.weight_decay * weight;
    weight -= rate * m / (std::sqrt(v) + d.epsilon);
    weight = std::max(weight, minimum);
  }
};

void FillGradients(Model* model, uint64_t seed, double deviation) {
  const auto values = RandomRows(model->parameter_count(), seed, deviation);
  std::copy(values.begin(), values.end(), model->gradients().begin());
}

}  // namespace

TEST_CASE("The schedule has the values worked by hand") {
  OptimizerDescription d;
  d.learning_rate = 0.5, d.warmup = 4, d.steps = 14;
  CHECK(LearningRate(d, 0) == doctest::Approx(0.125));
  CHECK(LearningRate(d, 2) == doctest::Approx(0.375));
  CHECK(LearningRate(d, 3) == doctest::Approx(0.5));
  CHECK(LearningRate(d, 4) == doctest::Approx(0.5));    // cos 0
  CHECK(LearningRate(d, 9) == doctest::Approx(0.275));  // cos(pi / 2): 0.5 * 0.55
  CHECK(LearningRate(d, 14) == doctest::Approx(0.05));  // cos(pi): a tenth
  d.warmup = 0;
  CHECK(LearningRate(d, 0) == doctest::Approx(0.5));
  d.warmup = 20, d.steps = 10;  // shorter than its warm-up: no division by zero after it
  CHECK(LearningRate(d, 9) == doctest::Approx(0.25));
  CHECK(LearningRate(d, 20) == doctest::Approx(0.5));
}

TEST_CASE("Ten steps follow a scalar double version, with decay, clipping and a minimum") {
  // KERPLE has tensors with a minimum of 0.01.
  Description kerple{"kerple", {Text("kind", "log")}};
  auto model = MakeModel(SmallDescription(), {SchemeOf(kerple)});
  OptimizerDescription d;
  d.learning_rate = 0.3, d.warmup = 3, d.steps = 10;
  auto optimizer = AdamW::Make(d, *model);
  REQUIRE(optimizer.ok());
  std::vector<ScalarAdamW> expected(static_cast<size_t>(model->parameter_count()));
  for (size_t n = 0; n < expected.size(); ++n) expected[n].weight = model->weights()[n];
  bool minimum_met = false, decayed = false;
  for (int64_t step = 0; step < 10; ++step) {
    // Every other step is above the norm of 1 and gets clipped.
    FillGradients(model.get(), 10 + static_cast<uint64_t>(step), step % 2 ? 1.0 : 1e-3);
    for (const ParameterInfo& info : model->parameters())  // pushed down, so that they meet their minimum
      for (int64_t n = info.offset; n < info.offset + info.size && info.minimum > -INFINITY; ++n)
        model->gradients()[n] = std::abs(model->gradients()[n]);
    double square = 0;
    for (float g : model->gradients()) square += static_cast<double>(g) * g;
    const double norm = std::sqrt(square), scale = norm > 1 ? 1 / norm : 1;
    for (const ParameterInfo& info : model->parameters())
      for (int64_t n = info.offset; n < info.offset + info.size; ++n) {
        expected[n].Step(d, LearningRate(d, step), model->gradients()[n] * scale, info.decay, info.minimum, step);
        minimum_met = minimum_met || expected[n].weight == static_cast<double>(info.minimum);
        decayed = decayed || info.decay;
      }
    const auto result = optimizer->Step(model.get());
    REQUIRE(result.ok());
    CHECK(*result == doctest::Approx(norm).epsilon(1e-12));
    // A step moves a weight by up to about rate = 0.3 with a relative error of some ten roundings; ten steps.
    for (size_t n = 0; n < expected.size(); ++n)
      REQUIRE(std::abs(model->weights()[n] - expected[n].weight) <=
              static_cast<double>(step + 1) * (0.6 * 10 + 2 * std::abs(expected[n].weight)) * 0x1p-24);
  }
  CHECK(decayed);
  CHECK(optimizer->step() == 10);
  CHECK(minimum_met);
}

TEST_CASE("Decay falls on the matrices of attention, feed-forward and head, and on nothing else") {
  ModelDescription description = SmallDescription();
  description.bias = true, description.gated = true;
  auto model = MakeModel(description, {SchemeOf("transformer-xl")});
  for (const ParameterInfo& info : model->parameters()) {
    CAPTURE(info.name);
    const bool matrix = info.name.ends_with(".weight") && info.name != "embedding.weight";
    CHECK(info.decay == (matrix || info.name.ends_with(".projection")));
  }
}

TEST_CASE("A norm that is not finite names the step and changes nothing") {
  auto model = MakeModel(SmallDescription(), {SchemeOf("none")});
  auto optimizer = AdamW::Make({}, *model);
  REQUIRE(optimizer.ok());
  FillGradients(model.get(), 1, 0.1);
  REQUIRE(optimizer->Step(model.get()).ok());
  const std::vector<float> weights(model->weights().begin(), model->weights().end());
  const std::vector<float> first(optimizer->first_moment().begin(), optimizer->first_moment().end());
  for (float bad : {NAN, INFINITY}) {
    model->gradients()[5] = bad;
    const auto result = optimizer->Step(model.get());
    CHECK(result.status().code() == Code::kDiverged);
    CHECK(result.status().given_number() == 1);
    CHECK(std::equal(weights.begin(), weights.end(), model->weights().begin()));
    CHECK(std::equal(first.begin(), first.end(), optimizer->first_moment().begin()));
    CHECK(optimizer->step() == 1);
  }
}

TEST_CASE("The norm of gradients too large for a float's square is still finite") {
  auto model = MakeModel(SmallDescription(), {SchemeOf("none")});
  auto optimizer = AdamW::Make({}, *model);
  for (float& g : model->gradients()) g = 1e30f;
  const auto result = optimizer->Step(model.get());
  REQUIRE(result.ok());
  CHECK(*result == doctest::Approx(1e30 * std::sqrt(static_cast<double>(model->parameter_count()))).epsilon(1e-6));
  for (float w : model->weights()) CHECK(std::isfinite(w));
}

TEST_CASE("A state that is put back continues with the same bytes") {
  auto one = MakeModel(SmallDescription(), {SchemeOf("alibi")}),
       two = MakeModel(SmallDescription(), {SchemeOf("alibi")});
  auto first = AdamW::Make({}, *one), second = AdamW::Make({}, *two);
  for (uint64_t step = 0; step < 3; ++step) {
    FillGradients(one.get(), step, 0.1);
    REQUIRE(first->Step(one.get()).ok());
  }
  std::copy(one->weights().begin(), one->weights().end(), two->weights().begin());
  std::copy(first->first_moment().begin(), first->first_moment().end(), second->first_moment().begin());
  std::copy(first->second_moment().begin(), first->second_moment().end(), second->second_moment().begin());
  second->set_step(first->step());
  FillGradients(one.get(), 9, 0.1), FillGradients(two.get(), 9, 0.1);
  REQUIRE(first->Step(one.get()).ok());
  REQUIRE(second->Step(two.get()).ok());
  CHECK(std::equal(one->weights().begin(), one->weights().end(), two->weights().begin()));
}

TEST_CASE("Optimiser settings out of range are refused by name") {
  const auto refused = [](auto change) {
    OptimizerDescription d;
    change(d);
    const Status status = CheckOptimizer(d);
    CHECK(status.code() == Code::kRange);
    return status.argument();
  };
  using D = OptimizerDescription;
  CHECK(refused([](D& d) { d.learning_rate = NAN; }) == "training.learningRate");
  CHECK(refused([](D& d) { d.learning_rate = -1; }) == "training.learningRate");
  CHECK(refused([](D& d) { d.warmup = -1; }) == "training.warmup");
  CHECK(refused([](D& d) { d.steps = -1; }) == "training.steps");
  CHECK(refused([](D& d) { d.weight_decay = INFINITY; }) == "training.weightDecay");
  CHECK(refused([](D& d) { d.clip = -0.5; }) == "training.clip");
  CHECK(refused([](D& d) { d.beta1 = 1; }) == "training.beta1");
  CHECK(refused([](D& d) { d.beta2 = NAN; }) == "training.beta2");
  CHECK(refused([](D& d) { d.epsilon = 0; }) == "training.epsilon");
  CHECK(CheckOptimizer({}).ok());
}

TEST_CASE("An optimiser refuses a model of another size") {
  auto model = MakeModel(SmallDescription(), {SchemeOf("none")});
  ModelDescription larger = SmallDescription();
  larger.layers = 3;
  auto other = MakeModel(larger, {SchemeOf("none")});
  auto optimizer = AdamW::Make({}, *model);
  CHECK(optimizer->Step(other.get()).status().code() == Code::kState);
}
