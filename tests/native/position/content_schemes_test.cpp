// SPDX-License-Identifier: MIT
// CoPE, the forgetting transformer, DAPE and PoPE in whole attention: forward against the reference in double, gradients
// against finite differences, and what defines each.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/attention_support.h"
#include "base/sigmoid.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using poslab_test::CheckBackward;
using poslab_test::CheckForward;
using poslab_test::Problem;
using testing::Make;
using testing::Number;
using testing::Tensors;
using testing::Text;

// A scheme bound to a problem's positions; its tensors' gradients are pulled when they are asked for.
class Bound {
 public:
  Bound(std::unique_ptr<Scheme> scheme, Tensors tensors, Problem* problem)
      : scheme_(std::move(scheme)), tensors_(std::move(tensors)) {
    const AttentionArguments a = problem->arguments();
    call_ = testing::Call(a.query.heads, a.query.dim, a.query.length, a.key.length);
    call_.query_positions = a.query_positions, call_.key_positions = a.key_positions;
    values_ = tensors_.values();
    call_.parameters = values_;
    REQUIRE(scheme_->Bind(call_, &problem->hooks).ok());
    hooks_ = &problem->hooks;
    problem->rebind = [this, problem] {
      PullOnce();
      problem->hooks = {};
      REQUIRE(scheme_->Bind(call_, &problem->hooks).ok());
    };
    for (const auto& tensor : values_) {
      const std::string name(tensor.name);
      problem->learned.push_back({name, const_cast<float*>(tensor.data), tensor.size(), [this, name](int64_t n) {
                                    PullOnce();
                                    return double{tensors_.gradient(name)[static_cast<size_t>(n)]};
                                  }});
    }
  }

 private:
  void PullOnce() {
    if (pulled_) return;
    pulled_ = true;
    REQUIRE(scheme_->Pull(call_, *hooks_, {}, tensors_.gradients()).ok());
  }

  std::unique_ptr<Scheme> scheme_;
  Tensors tensors_;
  std::vector<TensorView<const float>> values_;
  BindArguments call_;
  const Hooks* hooks_ = nullptr;
  bool pulled_ = false;
};

constexpr int kForms = 4;

std::unique_ptr<Bound> AddForm(int form, Problem* problem) {
  const auto& shape = problem->shape();
  Tensors tensors;
  problem->mask.causal = true;
  problem->float_hook = true;
  switch (form) {
    case 0:
      // Vectors on a line: interpolation has no bends for finite differences to cross.
      tensors.Add("table", {128, shape.dim}, 0, 1);
      for (size_t n = 0; n < tensors.numbers("table").size(); ++n) {
        const size_t width = static_cast<size_t>(shape.dim), row = n / width, lane = n % width;
        tensors.numbers("table")[n] = 0.01f * static_cast<float>(row) * (lane % 2 ? 1.f : -0.5f);
      }
      problem->bias_magnitude += 10;
      return std::make_unique<Bound>(Make("cope", {Number("positions", 128)}), std::move(tensors), problem);
    case 1:
      problem->SetGates();
      problem->bias_magnitude += 20;
      return std::make_unique<Bound>(Make("forgetting"), std::move(tensors), problem);
    case 2:
      tensors.Add("r1", {shape.heads}, std::vector<float>(static_cast<size_t>(shape.heads), 0.7f));
      tensors.Add("r2", {shape.heads}, std::vector<float>(static_cast<size_t>(shape.heads), 0.4f));
      tensors.Add("weight1", {6, 2 * shape.heads}, 0.3, 2);
      // Units that are on or off for good.
      tensors.Add("bias1", {6}, std::vector<float>{9, -9, 9, -9, 9, 9});
      tensors.Add("weight2", {shape.heads, 6}, 0.3, 4);
      tensors.Add("bias2", {shape.heads}, 0.3, 5);
      problem->bias_magnitude += 20;
      return std::make_unique<Bound>(Make("dape", {Number("width", 6)}), std::move(tensors), problem);
    default:
      tensors.Add("phases", {shape.heads, shape.dim},
                  std::vector<float>(static_cast<size_t>(shape.heads * shape.dim), -1.f));
      problem->bias_magnitude += 10;
      return std::make_unique<Bound>(Make("pope"), std::move(tensors), problem);
  }
}

TEST_CASE("Schemes of the content agree with the reference across tiles, windows and hidden keys") {
  for (int form = 0; form < kForms; ++form) {
    for (const int64_t keys : {1, 9, 70, 131}) {
      for (const bool masked : {false, true}) {
        CAPTURE(form);
        CAPTURE(keys);
        Problem problem({2, 1, std::min<int64_t>(keys, 66), keys, 6, 5});
        if (masked) {
          problem.mask.window = 10;
          std::vector<uint8_t> mask(static_cast<size_t>(keys), 1);
          mask[static_cast<size_t>(keys / 2)] = 0;
          problem.SetKeyMask(mask);
        }
        const auto bound = AddForm(form, &problem);
        CheckForward(problem);
      }
    }
  }
}

TEST_CASE("Gradients go back through schemes of the content") {
  for (int form = 0; form < kForms; ++form) {
    for (const int64_t keys : {7, 70}) {
      CAPTURE(form);
      CAPTURE(keys);
      Problem problem({2, 1, std::min<int64_t>(keys, 20), keys, 4, 4});
      const auto bound = AddForm(form, &problem);
      CheckBackward(problem, 10);
    }
  }
}

TEST_CASE("What a row counts goes by the mask too: positions in any order, documents, the last keys left out") {
  for (const int form : {0, 1}) {
    for (const int64_t keys : {9, 131}) {
      for (int masked = 0; masked < 4; ++masked) {
        CAPTURE(form);
        CAPTURE(keys);
        CAPTURE(masked);
        Problem problem({2, 1, std::min<int64_t>(keys, 70), keys, 6, 5});
        std::vector<int64_t> query_ids, key_ids, documents;
        for (int64_t n = 0; n < keys; ++n) {
          key_ids.push_back(masked == 3 ? n % 40 : n * 37 % keys);
          documents.push_back(n / 40);
        }
        query_ids.assign(key_ids.end() - problem.shape().queries, key_ids.end());
        if (masked != 1) problem.SetPositions(query_ids, key_ids);
        const auto bound = AddForm(form, &problem);
        if (masked == 1 || masked == 2) problem.mask.beyond = keys / 2;
        if (masked == 3) problem.mask.documents = documents.data();
        if (masked == 3) problem.mask.causal = false;
        CheckForward(problem);
        if (keys < 20) CheckBackward(problem, 6);
      }
    }
  }
}

float BiasOf(const Scheme& scheme, const Tensors& tensors, const float* gates, const std::vector<float>& query,
             const std::vector<float>& key, std::vector<float>* weights) {
  const auto keys = static_cast<int64_t>(key.size() / 2);
  BindArguments call = testing::Call(1, 2, 1, keys);
  const auto values = tensors.values();
  call.parameters = values;
  Hooks hooks;
  REQUIRE(scheme.Bind(call, &hooks).ok());
  AttentionArguments arguments;
  arguments.query = HeadsView<const float>::Packed(query.data(), 1, 1, 2);
  arguments.key = arguments.value = HeadsView<const float>::Packed(key.data(), 1, keys, 2);
  arguments.hooks = &hooks, arguments.gates = gates;
  arguments.query_positions = call.query_positions, arguments.key_positions = call.key_positions;
  arguments.scale = 1.f;
  std::vector<float> output(2);
  weights->resize(static_cast<size_t>(keys));
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), 1, 1, 2);
  results.scores = weights->data();
  AttentionWorkspace workspace;
  REQUIRE(Attention(arguments, &results, &workspace).ok());
  return weights->back();
}

TEST_CASE("With constant gates forgetting is ALiBi, and without gates it says what is missing") {
  const std::vector<float> gates(5, -0.25f), query = {0, 0}, key(10, 1.f);
  std::vector<float> scores;
  BiasOf(*Make("forgetting"), {}, gates.data(), query, key, &scores);
  CHECK(scores == std::vector<float>{-1, -0.75f, -0.5f, -0.25f, 0});

  Problem problem({1, 1, 3, 3, 4, 4});
  const Bound bound(Make("forgetting"), {}, &problem);
  std::vector<float> output(12);
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), 1, 3, 4);
  AttentionWorkspace workspace;
  const Status status = Attention(problem.arguments(), &results, &workspace);
  CHECK(status.code() == Code::kMissing);
  CHECK(status.argument() == "gates");
}

TEST_CASE("Forget gates sum as well over long rows as over short ones, and a closed one hides what is before it") {
  constexpr int64_t kKeys = 5000, kClosed = 40;
  constexpr float kGate = -1e-3f;
  std::vector<float> gates(kKeys, kGate);
  gates[kClosed] = -std::numeric_limits<float>::infinity();
  const std::vector<float> query = {0, 0}, key(2 * kKeys, 1.f);
  std::vector<float> scores;
  BiasOf(*Make("forgetting"), {}, gates.data(), query, key, &scores);
  for (int64_t j = 0; j < kKeys; ++j) {
    CAPTURE(j);
    const float score = scores[static_cast<size_t>(j)];
    const double sum = static_cast<double>(kGate) * static_cast<double>(kKeys - 1 - j);
    // A rounding a gate within a tile of 64, and two of the tiles' sum and the score, however many tiles there are.
    const double tolerance = 66 * std::fabs(sum) / (1 << 24);
    if (j < kClosed)
      CHECK(score == gates[kClosed]);
    else
      CHECK(std::fabs(score - sum) <= tolerance);
  }
}

TEST_CASE("With open gates CoPE counts keys, and counts past the last share its vector") {
  // Logits of 100 open every gate; the query's product with row p of the table is p.
  Tensors tensors;
  tensors.Add("table", {4, 2}, std::vector<float>{0, 0, 0.01f, 0, 0.02f, 0, 0.03f, 0});
  const std::vector<float> query = {100, 0}, key = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0};
  std::vector<float> scores;
  BiasOf(*Make("cope", {Number("positions", 4)}), tensors, nullptr, query, key, &scores);
  const std::vector<float> counts = {3, 3, 3, 2, 1};
  for (size_t j = 0; j < 5; ++j) CHECK(scores[j] == doctest::Approx(100 + counts[j]));
}

TEST_CASE("CoPE's counts keep their fractions however far they get") {
  // Products with the table go to and fro between 0 and 1, so that a score says the fraction of its count.
  constexpr int64_t kKeys = 600, kPositions = 512;
  std::vector<float> table, key;
  for (int64_t p = 0; p < kPositions; ++p) table.insert(table.end(), {static_cast<float>(p % 2), 0});
  for (int64_t j = 0; j < kKeys; ++j) key.insert(key.end(), {0.3f, 0});
  Tensors tensors;
  tensors.Add("table", {kPositions, 2}, table);
  std::vector<float> scores;
  BiasOf(*Make("cope", {Number("positions", kPositions)}), tensors, nullptr, {1, 0}, key, &scores);
  const double gate = wasm_f32x4_extract_lane(Sigmoid(wasm_f32x4_splat(0.3f)), 0);
  for (int64_t j = 0; j < kKeys; ++j) {
    const double count = gate * static_cast<double>(kKeys - j), whole = std::floor(count), share = count - whole;
    const double term = std::fmod(whole, 2) == 0 ? share : 1 - share;
    // A rounding of a number below 2 for every key that is counted, and of the sum.
    const double tolerance = static_cast<double>(kKeys - j + 2) / (1 << 24);
    CHECK(std::fabs(scores[static_cast<size_t>(j)] - (0.3f + term)) <= tolerance);
  }
}

TEST_CASE("PoPE depends on the distance only, and lengths are never negative") {
  Tensors tensors;
  tensors.Add("phases", {1, 2}, std::vector<float>{0, 0});
  const std::vector<float> query = {-5, -5}, key = {-3, -2, -3, -2, -3, -2};
  std::vector<float> scores;
  const float here = BiasOf(*Make("pope"), tensors, nullptr, query, key, &scores);
  // At distance 0 without phases every lane adds two lengths.
  const auto length = [](double x) { return std::log1p(std::exp(x)); };
  CHECK(here == doctest::Approx(length(-5) * (length(-3) + length(-2))));
  CHECK(scores[0] < scores[1]);
}

}  // namespace
}  // namespace poslab
