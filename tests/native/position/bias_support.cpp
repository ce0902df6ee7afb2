// SPDX-License-Identifier: MIT
#include "bias_support.h"

#include <cmath>

namespace poslab::testing {
namespace {

// All entries of one head through the hook that the scheme filled in.
class Entries {
 public:
  Entries(const BindArguments& call, Hooks* hooks) : call_(call), hooks_(hooks) {}

  std::vector<float> Values(int64_t head) const {
    std::vector<float> logits(Size(), 0.f);
    if (hooks_->tile) {
      std::vector<float> state(static_cast<size_t>(call_.query_positions.count * hooks_->tile->state_size()));
      REQUIRE(hooks_->tile->Forward(Tile(head, logits.data(), state.data())).ok());
      return logits;
    }
    ForEach([&](size_t at, int64_t i, int64_t j) { hooks_->slice->Evaluate(head, j - i, 1, &logits[at]); });
    return logits;
  }

  void Backward(int64_t head, std::vector<float> gradient) const {
    if (hooks_->tile) {
      std::vector<float> logits(Size(), 0.f);
      TileGradients gradients;
      gradients.logits_before = logits.data();
      gradients.logits = gradient.data();
      REQUIRE(hooks_->tile->Backward(Tile(head, logits.data(), nullptr), gradients).ok());
      return;
    }
    ForEach([&](size_t at, int64_t i, int64_t j) {
      const double entry = gradient[at];
      hooks_->slice->Accumulate(head, j - i, 1, &entry);
    });
  }

  // visit(place, i, j) with positions; places are keys-major.
  template <typename Visit>
  void ForEach(Visit visit) const {
    size_t at = 0;
    for (int64_t k = 0; k < call_.key_positions.count; ++k)
      for (int64_t q = 0; q < call_.query_positions.count; ++q)
        visit(at++, call_.query_positions[q], call_.key_positions[k]);
  }
  size_t Size() const { return static_cast<size_t>(call_.query_positions.count * call_.key_positions.count); }

 private:
  TileArguments Tile(int64_t head, float* logits, float* state) const {
    TileArguments tile;
    tile.head = head;
    tile.queries = call_.query_positions.count, tile.keys = call_.key_positions.count;
    tile.query_positions = call_.query_positions, tile.key_positions = call_.key_positions;
    tile.logits = logits, tile.stride = tile.queries, tile.state = state;
    return tile;
  }

  const BindArguments& call_;
  Hooks* hooks_;
};

}  // namespace

void CheckBias(const Scheme& scheme, Tensors* tensors, int64_t heads, Positions queries, Positions keys,
               const BiasFormula& formula) {
  BindArguments call;
  call.dimensions.heads = heads;
  call.query_positions = queries, call.key_positions = keys;
  const auto values = tensors->values();
  call.parameters = values;
  Parameters parameters;
  for (const auto& tensor : values)
    parameters[std::string(tensor.name)] = std::vector<double>(tensor.data, tensor.data + tensor.size());
  Hooks hooks;
  REQUIRE(scheme.Bind(call, &hooks).ok());
  const Entries entries(call, &hooks);

  std::vector<std::vector<float>> weights;
  for (int64_t h = 0; h < heads; ++h) {
    CAPTURE(h);
    const std::vector<float> bias = entries.Values(h);
    entries.ForEach([&](size_t at, int64_t i, int64_t j) {
      CAPTURE(i);
      CAPTURE(j);
      // A few roundings of double, and the one to float.
      const double expected = formula(parameters, h, i, j);
      CHECK(std::fabs(bias[at] - expected) <= 0x1p-23 * std::fabs(expected) + 1e-9);
    });
    weights.push_back(NormalNumbers(static_cast<int64_t>(entries.Size()), 11 + static_cast<uint64_t>(h)));
    entries.Backward(h, weights.back());
  }
  REQUIRE(scheme.Pull(call, hooks, {}, tensors->gradients()).ok());
  const auto loss = [&] {
    double sum = 0;
    for (int64_t h = 0; h < heads; ++h)
      entries.ForEach([&](size_t at, int64_t i, int64_t j) {
        sum += weights[static_cast<size_t>(h)][at] * formula(parameters, h, i, j);
      });
    return sum;
  };
  for (auto& [name, numbers] : parameters) {
    CAPTURE(name);
    for (size_t n = 0; n < numbers.size(); ++n) {
      const double before = numbers[n], step = 1e-5;
      numbers[n] = before + step;
      const double up = loss();
      numbers[n] = before - step;
      const double down = loss();
      numbers[n] = before;
      const double expected = (up - down) / (2 * step);
      // Central differences are good to step^2 times the third derivative; the gradient is stored in float.
      CHECK(std::fabs(tensors->gradient(name)[n] - expected) <= 1e-5 * std::fabs(expected) + 1e-5);
    }
  }
}

}  // namespace poslab::testing
