// SPDX-License-Identifier: MIT
// The tile hook in all its forms, forward against the reference, backward against finite differences.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "attention_support.h"

using poslab::Mask;
using poslab::Rotation;
using poslab_test::CheckBackward;
using poslab_test::CheckForward;
using poslab_test::Problem;
using poslab_test::Shape;

namespace {

constexpr int kForms = 6;

void AddForm(int form, Problem* problem) {
  switch (form) {
    case 0:
      problem->hooks.tile = std::make_unique<poslab_test::FormulaHook>(problem);
      break;
    case 1:
      problem->SetGates();
      problem->hooks.tile = std::make_unique<poslab_test::ForgettingHook>(problem);
      break;
    case 2:
      problem->hooks.tile = std::make_unique<poslab_test::RunningHook>(problem);
      break;
    case 3:
      problem->hooks.tile = std::make_unique<poslab_test::MixHook>(problem);
      break;
    case 4:
      problem->hooks.tile = std::make_unique<poslab_test::DampedHook>(problem);
      break;
    case 5:
      problem->hooks.tile = std::make_unique<poslab_test::DampedHook>(problem, true);
      break;
  }
  problem->bias_magnitude += form == 2 ? 0.1 * std::sqrt(static_cast<double>(problem->shape().keys)) * 8 : 2;
}

}  // namespace

TEST_CASE("tile hooks agree with the reference for lengths around the tile and every mask") {
  for (int form = 0; form < kForms; ++form) {
    for (int64_t queries : {1, 7, 64, 70}) {
      for (int64_t keys : {1, 5, 70, 131}) {
        for (int masked = 0; masked < 4; ++masked) {
          CAPTURE(form);
          CAPTURE(masked);
          Problem problem({2, 2, queries, keys, 8, 8});
          problem.mask.causal = masked > 0;
          if (masked == 2) problem.mask.window = 10;
          if (masked == 3) problem.mask.alignment = Mask::Alignment::kTopLeft;
          AddForm(form, &problem);
          CheckForward(problem);
        }
      }
    }
  }
}

TEST_CASE("tile hooks work with groups of heads, rotation, strides and key masks") {
  for (int form = 0; form < kForms; ++form) {
    CAPTURE(form);
    Problem problem({4, 2, 20, 75, 10, 7});
    problem.mask.causal = true;
    problem.AddRotation(Rotation::Layout::kHalf, 4, true);
    std::vector<uint8_t> mask(75, 1);
    mask[0] = mask[50] = mask[66] = 0;
    problem.SetKeyMask(mask);
    AddForm(form, &problem);
    CheckBackward(problem, 8);
    problem.Interleave(1, 3);
    CheckForward(problem);
  }
}

TEST_CASE("gradients go back through tile hooks") {
  for (int form = 0; form < kForms; ++form) {
    for (bool causal : {false, true}) {
      for (int64_t queries : {6, 70}) {
        CAPTURE(form);
        CAPTURE(causal);
        Problem problem({2, 1, queries, 72, 4, 4});
        problem.mask.causal = causal;
        if (queries == 70 && causal) problem.mask.window = 12;
        AddForm(form, &problem);
        CheckBackward(problem, 12);
      }
    }
  }
}

TEST_CASE("tile hooks come after slices and bands, and before them where they replace the content") {
  for (int form : {0, 2, 3, 4}) {
    CAPTURE(form);
    Problem problem({2, 1, 20, 70, 4, 4});
    problem.mask.causal = true;
    problem.hooks.slice = std::make_unique<poslab_test::TableSlice>(&problem, 5);
    problem.AddScoreBand(form == 3 ? poslab::Band::Side::kKey : poslab::Band::Side::kQuery, -3, 7, false, false);
    AddForm(form, &problem);
    CheckForward(problem);
    CheckBackward(problem, 8);
  }
}

TEST_CASE("hooks of every kind meet empty sequences") {
  for (int form = 0; form < kForms; ++form) {
    for (const Shape& shape : {Shape{2, 1, 0, 5, 8, 8}, Shape{2, 1, 5, 0, 8, 8}, Shape{2, 1, 0, 0, 8, 8}}) {
      CAPTURE(form);
      Problem problem(shape);
      problem.mask.causal = true;
      problem.AddRotation(Rotation::Layout::kHalf, 2, false);
      problem.AddScoreBand(poslab::Band::Side::kQuery, -3, 7, false, true);
      problem.AddValueBand(-3, 7, true);
      problem.AddQueryBias();
      problem.hooks.slice = std::make_unique<poslab_test::LogSlice>(&problem);
      AddForm(form, &problem);
      CheckForward(problem);
      CheckBackward(problem, 4);
    }
  }
}

TEST_CASE("a failing tile hook ends the call with its status") {
  struct Failing final : poslab::TileHook {
    poslab::Status Forward(const poslab::TileArguments& tile) const override {
      if (tile.first_key < 64) return poslab::Status::Ok();
      return poslab::Status::Number(poslab::Code::kMemory, "hook", 12, "less");
    }
    poslab::Status Backward(const poslab::TileArguments&, const poslab::TileGradients&) override {
      return poslab::Status::Ok();
    }
  };
  Problem problem({1, 1, 3, 70, 4, 4});
  problem.hooks.tile = std::make_unique<Failing>();
  std::vector<float> output(12);
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output.data(), 1, 3, 4);
  poslab::AttentionWorkspace workspace;
  const poslab::Status status = poslab::Attention(problem.arguments(), &results, &workspace);
  CHECK(status.code() == poslab::Code::kMemory);
  CHECK(status.argument() == "hook");
}
