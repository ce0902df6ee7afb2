// SPDX-License-Identifier: MIT
// A tile of all heads. A row of keys is worked on at a time, with queries as lanes.
#include "position/dape.h"

#include <algorithm>
#include <cmath>

#include "position/registry.h"
#include "position/small_mlp.h"
#include "position/tile_scheme.h"

namespace poslab {
namespace {

constexpr double kWidth = 32;
constexpr float kLeak = 0.01f;

class DapeTile final : public LearnedTile {
 public:
  // The perceptron's tensors begin at number `first`, after those of the base.
  DapeTile(int64_t heads, int64_t width, size_t first, Hooks base)
      : base(std::move(base)), heads_(heads), width_(width), first_(first) {}

  bool all_heads() const override { return true; }

  Status Forward(const TileArguments& tile) const override {
    POSLAB_RETURN_IF_ERROR(MakeRoom(tile));
    for (int64_t j = 0; j < tile.keys; ++j) {
      FillInputs(tile, tile.logits, j);
      for (int64_t h = 0; h < heads_; ++h) {
        float* logits = tile.logits + (h * tile.keys + j) * tile.stride;
        const float bias = tensors.value(first_ + 3)[h], *static_bias = Input(heads_ + h);
        for (int64_t i = 0; i < tile.queries; ++i) logits[i] += static_bias[i] + bias;
      }
      for (int64_t w = 0; w < width_; ++w) {
        Hidden(w, tile.queries);
        for (int64_t h = 0; h < heads_; ++h) {
          float* __restrict logits = tile.logits + (h * tile.keys + j) * tile.stride;
          const float weight = tensors.value(first_ + 2)[h * width_ + w], *hidden = hidden_.data();
          for (int64_t i = 0; i < tile.queries; ++i) logits[i] += weight * hidden[i];
        }
      }
    }
    return Status::Ok();
  }

  Status Backward(const TileArguments& tile, const TileGradients& gradients) override {
    POSLAB_RETURN_IF_ERROR(MakeRoom(tile));
    for (int64_t j = 0; j < tile.keys; ++j) {
      FillInputs(tile, gradients.logits_before, j);
      // What no query sees may be NaN, and 0 * NaN must not reach the perceptron's gradient.
      for (float& input : inputs_) input = std::isfinite(input) ? input : 0;
      std::fill(input_gradients_.begin(), input_gradients_.end(), 0.f);
      const auto row = [&](int64_t h) { return gradients.logits + (h * tile.keys + j) * tile.stride; };
      for (int64_t w = 0; w < width_; ++w) ThroughHidden(tile, row, w);
      for (int64_t h = 0; h < heads_; ++h) {
        float* through = row(h);
        double sum = 0;
        for (int64_t i = 0; i < tile.queries; ++i) {
          sum += through[i];
          const double by_bias = through[i] + input_gradients_[(heads_ + h) * tile.queries + i];
          if (by_bias != 0 && base.slice->learns()) base.slice->Accumulate(h, Distance(tile, i, j), 1, &by_bias);
          through[i] += input_gradients_[h * tile.queries + i];
        }
        tensors.gradient(first_ + 3)[h] += sum;
      }
    }
    return Status::Ok();
  }

  const Hooks base;  // its slice

 private:
  static int64_t Distance(const TileArguments& tile, int64_t query, int64_t key) {
    return tile.key_positions[tile.first_key + key] - tile.query_positions[tile.first_query + query];
  }
  float* Input(int64_t n) const { return inputs_.data() + n * queries_; }

  Status MakeRoom(const TileArguments& tile) const {
    queries_ = tile.queries;
    POSLAB_RETURN_IF_ERROR(inputs_.ResizeForOverwrite("heads", CheckedProduct({2 * heads_, queries_})));
    POSLAB_RETURN_IF_ERROR(input_gradients_.ResizeForOverwrite("heads", inputs_.size()));
    return hidden_.ResizeForOverwrite("heads", queries_);
  }

  // Logits and biases of every head between the queries and key j.
  void FillInputs(const TileArguments& tile, const float* logits, int64_t j) const {
    for (int64_t h = 0; h < heads_; ++h) {
      std::copy_n(logits + (h * tile.keys + j) * tile.stride, queries_, Input(h));
      float* bias = Input(heads_ + h);
      if (tile.query_positions.contiguous()) {
        // Distances fall as queries go on.
        base.slice->Evaluate(h, Distance(tile, queries_ - 1, j), queries_, bias);
        std::reverse(bias, bias + queries_);
        continue;
      }
      for (int64_t i = 0; i < queries_; ++i) base.slice->Evaluate(h, Distance(tile, i, j), 1, bias + i);
    }
  }

  // Unit w of every query, after its activation.
  void Hidden(int64_t w, int64_t queries) const {
    float* __restrict hidden = hidden_.data();
    std::fill_n(hidden, queries, tensors.value(first_ + 1)[w]);
    for (int64_t m = 0; m < 2 * heads_; ++m) {
      const float weight = tensors.value(first_)[w * 2 * heads_ + m], *input = Input(m);
      for (int64_t i = 0; i < queries; ++i) hidden[i] += weight * input[i];
    }
    for (int64_t i = 0; i < queries; ++i) hidden[i] = std::max(hidden[i], kLeak * hidden[i]);
  }

  template <typename Row>
  void ThroughHidden(const TileArguments& tile, Row row, int64_t w) {
    Hidden(w, tile.queries);
    double by_bias = 0;
    for (int64_t i = 0; i < tile.queries; ++i) {
      float gradient = 0;
      for (int64_t h = 0; h < heads_; ++h) {
        const float through = row(h)[i];
        gradient += tensors.value(first_ + 2)[h * width_ + w] * through;
        tensors.gradient(first_ + 2)[h * width_ + w] += static_cast<double>(through) * hidden_[i];
      }
      if (hidden_[i] < 0) gradient *= kLeak;
      hidden_[i] = gradient;
      by_bias += gradient;
    }
    tensors.gradient(first_ + 1)[w] += by_bias;
    for (int64_t m = 0; m < 2 * heads_; ++m) {
      const float weight = tensors.value(first_)[w * 2 * heads_ + m], *input = Input(m);
      float* by_input = input_gradients_.data() + m * tile.queries;
      double by_weight = 0;
      for (int64_t i = 0; i < tile.queries; ++i) {
        by_weight += static_cast<double>(hidden_[i]) * input[i];
        by_input[i] += weight * hidden_[i];
      }
      tensors.gradient(first_)[w * 2 * heads_ + m] += by_weight;
    }
  }

  int64_t heads_, width_;
  size_t first_;
  // Scratch of one tile.
  mutable int64_t queries_ = 0;
  mutable Buffer<float> inputs_, input_gradients_;  // [2 heads, queries]: logits, then biases
  mutable Buffer<float> hidden_;                    // [queries]
};

class Dape final : public Scheme {
 public:
  Dape(std::unique_ptr<Scheme> base, int64_t width) : base_(std::move(base)), width_(width) {}

  std::string_view type() const override { return "dape"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    Result<std::vector<ParameterSpec>> specs = base_->Parameters(dimensions);
    if (specs.ok()) SmallMlp::AddSpecs({2 * dimensions.heads, width_, dimensions.heads}, &*specs);
    return specs;
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    const Result<std::vector<ParameterSpec>> specs = base_->Parameters(arguments.dimensions);
    if (!specs.ok()) return specs.status();
    std::vector<TensorView<const float>> of_base;
    for (const TensorView<const float>& tensor : arguments.parameters)
      for (const ParameterSpec& spec : *specs)
        if (tensor.name == spec.name) of_base.push_back(tensor);
    BindArguments base_arguments = arguments;
    base_arguments.parameters = of_base;
    Hooks base;
    POSLAB_RETURN_IF_ERROR(base_->Bind(base_arguments, &base));
    auto tile = std::make_unique<DapeTile>(arguments.dimensions.heads, width_, specs->size(), std::move(base));
    POSLAB_RETURN_IF_ERROR(tile->tensors.Bind(*this, arguments));
    hooks->tile = std::move(tile);
    return Status::Ok();
  }

  Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients& hook_gradients,
              ParameterGradients gradients) const override {
    const auto& tile = static_cast<const DapeTile&>(*hooks.tile);
    tile.tensors.Pull(gradients);
    return base_->Pull(arguments, tile.base, hook_gradients, gradients);
  }

 private:
  std::unique_ptr<Scheme> base_;
  int64_t width_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeDape(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "base", .kind = Field::Kind::kText, .choices = "kerple|alibi|t5|sandwich|tisa|relative-scalar"},
      {.name = "width", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 1024, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  Result<std::unique_ptr<Scheme>> base = MakeScheme({std::string(TextOr(description, "base", "kerple")), {}});
  if (!base.ok()) return base.status();
  return std::unique_ptr<Scheme>(
      std::make_unique<Dape>(std::move(*base), static_cast<int64_t>(NumberOr(description, "width", kWidth))));
}

}  // namespace poslab
