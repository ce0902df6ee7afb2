// SPDX-License-Identifier: MIT
// Far keys at other distances: against a double loop over the distances, and where the distances are those that they are,
// against plain attention with its gradients.
#include "attention/distances.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "attention_support.h"
#include "position/registry.h"

namespace {

using namespace poslab;
using poslab_test::Problem;

Field Number(const char* name, double number) {
  Field field;
  field.name = name;
  field.number = number;
  return field;
}

// A problem with the last query on the last key, and a scheme's tensors.
struct Case {
  explicit Case(const Description& description, int64_t queries, int64_t keys) : problem({2, 1, queries, keys, 8, 8}) {
    problem.mask.causal = true;
    auto made = MakeScheme(description);
    REQUIRE(made.ok());
    scheme = std::move(*made);
    bind.dimensions = {2, 8, 8, 16, 0, 0};
    bind.query_positions = {keys - queries, queries, nullptr}, bind.key_positions = {0, keys, nullptr};
    const auto specs = scheme->Parameters(bind.dimensions);
    REQUIRE(specs.ok());
    names = *specs;
    for (const ParameterSpec& spec : names) {
      int64_t size = 1;
      for (int64_t extent : spec.shape) size *= extent;
      tensors.push_back(poslab_test::Values(31).Fill(size, 0.5f));
      values.push_back({spec.name, nullptr, spec.shape});
    }
    for (size_t n = 0; n < tensors.size(); ++n) values[n].data = tensors[n].data();
    bind.parameters = values;
  }

  AttentionArguments Arguments() const {
    AttentionArguments arguments = problem.arguments();
    arguments.query_positions = bind.query_positions, arguments.key_positions = bind.key_positions;
    return arguments;
  }

  Problem problem;
  std::unique_ptr<Scheme> scheme;
  BindArguments bind;
  std::vector<ParameterSpec> names;
  std::vector<std::vector<float>> tensors;
  std::vector<TensorView<const float>> values;
};

struct Gradients {
  std::vector<float> query, key, value;
  std::vector<std::vector<float>> tensors;
};

struct Outcome {
  std::vector<float> output, log_sum_exp, weights, scores;
  Gradients gradients;
};

// Forward and backward, `distances` or plain.
Outcome Run(const Case& item, const Distances* distances) {
  const AttentionArguments plain = item.Arguments();
  const int64_t heads = plain.query.heads, queries = plain.query.length, keys = plain.key.length;
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  Outcome out;
  out.output.resize(size(heads * queries * 8)), out.log_sum_exp.resize(size(heads * queries));
  out.weights.resize(size(heads * queries * keys)), out.scores = out.weights;
  AttentionResults results{HeadsView<float>::Packed(out.output.data(), heads, queries, 8), out.log_sum_exp.data(),
                           out.weights.data(), out.scores.data()};
  const std::vector<float> output_gradient = poslab_test::Values(77).Fill(heads * queries * 8);
  out.gradients.query.resize(out.output.size());
  out.gradients.key.resize(size(keys * 8)), out.gradients.value = out.gradients.key;
  AttentionGradients gradients;
  gradients.query = HeadsView<float>::Packed(out.gradients.query.data(), heads, queries, 8);
  gradients.key = HeadsView<float>::Packed(out.gradients.key.data(), 1, keys, 8);
  gradients.value = HeadsView<float>::Packed(out.gradients.value.data(), 1, keys, 8);
  std::vector<TensorView<float>> pulled;
  for (const auto& tensor : item.tensors) out.gradients.tensors.emplace_back(tensor.size());
  for (size_t n = 0; n < item.names.size(); ++n)
    pulled.push_back({item.names[n].name, out.gradients.tensors[n].data(), item.names[n].shape});
  const AttentionGradientArguments forward{HeadsView<const float>::Packed(out.output.data(), heads, queries, 8),
                                           out.log_sum_exp.data(),
                                           HeadsView<const float>::Packed(output_gradient.data(), heads, queries, 8)};
  AttentionWorkspace workspace;
  if (distances) {
    DistancedAttention attention;
    REQUIRE(attention.Bind(*item.scheme, item.bind, plain, *distances).ok());
    REQUIRE(attention.Forward(&results, &workspace).ok());
    REQUIRE(attention.Backward(forward, &gradients, &workspace).ok());
    REQUIRE(attention.Pull(*item.scheme, pulled).ok());
    return out;
  }
  Hooks hooks;
  HookGradients hook_gradients;
  REQUIRE(item.scheme->Bind(item.bind, &hooks).ok());
  AttentionArguments arguments = plain;
  arguments.hooks = &hooks;
  gradients.hooks = &hook_gradients;
  REQUIRE(Attention(arguments, &results, &workspace).ok());
  REQUIRE(AttentionBackward(arguments, forward, &gradients, &workspace).ok());
  REQUIRE(item.scheme->Pull(item.bind, hooks, hook_gradients, pulled).ok());
  return out;
}

void CheckNear(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t n = 0; n < a.size(); ++n) {
    if (std::isinf(a[n]) || std::isinf(b[n])) {
      CHECK(a[n] == b[n]);
    } else {
      CHECK(std::fabs(a[n] - b[n]) <= 2e-5 * (1 + std::fabs(b[n])));
    }
  }
}

void CheckSame(const Outcome& a, const Outcome& b) {
  CheckNear(a.output, b.output);
  CheckNear(a.log_sum_exp, b.log_sum_exp);
  CheckNear(a.weights, b.weights);
  CheckNear(a.scores, b.scores);
  CheckNear(a.gradients.query, b.gradients.query);
  CheckNear(a.gradients.key, b.gradients.key);
  CheckNear(a.gradients.value, b.gradients.value);
  for (size_t n = 0; n < a.gradients.tensors.size(); ++n) CheckNear(a.gradients.tensors[n], b.gradients.tensors[n]);
}

TEST_CASE("Groups of one, and windows that hold all keys, change nothing, for every form of hook") {
  const Description schemes[] = {
      {"rope", {}}, {"alibi", {}},          {"t5", {}},   {"shaw", {Number("maxDistance", 40)}},
      {"xpos", {}}, {"transformer-xl", {}}, {"tisa", {}}, {"dynamic-bias", {}},
      {"none", {}}};
  for (const Description& description : schemes) {
    CAPTURE(description.type);
    for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{90, 90}, {3, 70}, {1, 1}}) {
      const Case item(description, queries, keys);
      const Outcome plain = Run(item, nullptr);
      for (const Distances& distances :
           {Distances{Distances::Kind::kGrouped, 7, 1}, Distances{Distances::Kind::kGrouped, 200, 4},
            Distances{Distances::Kind::kClamped, 200, 1}})
        CheckSame(Run(item, &distances), plain);
    }
  }
}

TEST_CASE("Far keys are seen at the distance of their groups, or at the window's") {
  constexpr int64_t kQueries = 70, kKeys = 83;
  const Case item({"alibi", {}}, kQueries, kKeys);
  const Case bare({"none", {}}, kQueries, kKeys);
  const Outcome content = Run(bare, nullptr);
  for (const Distances& distances :
       {Distances{Distances::Kind::kGrouped, 9, 4}, Distances{Distances::Kind::kClamped, 9, 1}}) {
    const Outcome mapped = Run(item, &distances);
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t i = 0; i < kQueries; ++i) {
        for (int64_t j = 0; j <= i + kKeys - kQueries; ++j) {
          const int64_t at = i + kKeys - kQueries,
                        far = distances.kind == Distances::Kind::kClamped ? 9 : at / 4 + 7 - j / 4;
          const double slope = h == 0 ? 0.0625 : 0.00390625;
          const auto place = static_cast<size_t>((h * kQueries + i) * kKeys + j);
          CHECK(mapped.scores[place] ==
                doctest::Approx(content.scores[place] - slope * static_cast<double>(at - j < 9 ? at - j : far)));
        }
      }
    }
  }
}

TEST_CASE("Distances need a causal mask, sizes of at least one, and a scheme that does not count along the keys") {
  Case item({"rope", {}}, 4, 4);
  DistancedAttention a, b, c, d;
  CHECK(a.Bind(*item.scheme, item.bind, item.Arguments(), {Distances::Kind::kGrouped, 0, 1}).argument() ==
        "distances.window");
  CHECK(b.Bind(*item.scheme, item.bind, item.Arguments(), {Distances::Kind::kGrouped, 2, 0}).argument() ==
        "distances.group");
  item.problem.mask.causal = false;
  CHECK(c.Bind(*item.scheme, item.bind, item.Arguments(), {}).argument() == "distances.window");
  CHECK(c.Bind(*item.scheme, item.bind, item.Arguments(), {Distances::Kind::kClamped, 2, 1}).argument() == "distances");
  const Case cope({"cope", {}}, 4, 4);
  CHECK(d.Bind(*cope.scheme, cope.bind, cope.Arguments(), {Distances::Kind::kClamped, 2, 1}).code() ==
        Code::kContradiction);
}

}  // namespace
