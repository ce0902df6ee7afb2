// SPDX-License-Identifier: MIT
// A tile that replaces the content: products of panels of cosines and sines, twice as wide as a head.
#include "position/pope.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "base/matmul.h"
#include "position/positions.h"
#include "position/rotation.h"
#include "position/tile_scheme.h"
#include "position/turn.h"

namespace poslab {
namespace {

constexpr double kTheta = 10000;
constexpr double kTurn = 6.283185307179586;

class PopeTile final : public LearnedTile {
 public:
  explicit PopeTile(std::unique_ptr<Rotation> angles) : angles_(std::move(angles)) {}

  bool replaces_content() const override { return true; }
  bool uses_vectors() const override { return true; }

  Status Forward(const TileArguments& tile) const override {
    const int64_t width = 2 * tile.head_dim;
    for (int64_t h = 0; h < tile.heads; ++h) {
      POSLAB_RETURN_IF_ERROR(MakePanels(tile, h));
      POSLAB_RETURN_IF_ERROR(transposed_.ResizeForOverwrite("query", query_panel_.size()));
      for (int64_t n = 0; n < query_panel_.size(); ++n)
        transposed_[n % width * tile.queries + n / width] = tile.scale * query_panel_[n];
      MatMulArguments product;
      product.m = tile.keys, product.n = tile.queries, product.k = width;
      product.a = key_panel_.data(), product.a_row_stride = width;
      product.b = transposed_.data(), product.b_row_stride = tile.queries;
      product.c = tile.logits + h * tile.keys * tile.stride, product.c_row_stride = tile.stride;
      MatMul(product);
    }
    return Status::Ok();
  }

  Status Backward(const TileArguments& tile, const TileGradients& gradients) override {
    const int64_t width = 2 * tile.head_dim;
    for (int64_t h = 0; h < tile.heads; ++h) {
      POSLAB_RETURN_IF_ERROR(MakePanels(tile, h));
      POSLAB_RETURN_IF_ERROR(by_query_.ResizeForOverwrite("query", query_panel_.size()));
      POSLAB_RETURN_IF_ERROR(by_key_.ResizeForOverwrite("key", key_panel_.size()));
      float* through = gradients.logits + h * tile.keys * tile.stride;
      for (int64_t k = 0; k < tile.keys; ++k) {
        // A key that no query sees may hold NaN, and 0 * NaN must not reach a query's gradient.
        const float* row = through + k * tile.stride;
        const bool unseen = std::all_of(row, row + tile.queries, [](float gradient) { return gradient == 0; });
        if (unseen) std::fill_n(key_panel_.data() + k * width, width, 0.f);
      }
      MatMulArguments product;
      product.n = width, product.a = through, product.b_row_stride = product.c_row_stride = width;
      product.m = tile.queries, product.k = tile.keys, product.b = key_panel_.data(), product.c = by_query_.data();
      product.a_row_stride = 1, product.a_column_stride = tile.stride;
      MatMul(product);
      product.m = tile.keys, product.k = tile.queries, product.b = query_panel_.data(), product.c = by_key_.data();
      product.a_row_stride = tile.stride, product.a_column_stride = 1;
      MatMul(product);
      for (int64_t n = 0; gradients.query && n < tile.queries; ++n) {
        const int64_t row = (h * tile.queries + n) * tile.head_dim;
        ThroughPanel(tile, QueryTurn(*angles_, tile.first_query + n), -1, tile.query + row,
                     by_query_.data() + n * width, gradients.query + row);
      }
      for (int64_t n = 0; gradients.key && n < tile.keys; ++n) {
        const int64_t row = (h * tile.keys + n) * tile.head_dim;
        ThroughPanel(tile, KeyTurn(*angles_, tile.first_key + n), tile.head + h, tile.key + row,
                     by_key_.data() + n * width, gradients.key + row);
      }
      // The content logits were replaced: nothing flows on to them.
      for (int64_t k = 0; k < tile.keys; ++k) std::fill_n(through + k * tile.stride, tile.queries, 0.f);
    }
    return Status::Ok();
  }

 private:
  static double Length(float x) { return std::max(x, 0.f) + Log(1 + Exp(-std::fabs(static_cast<double>(x)))); }

  // cos and sin of a lane's angle; those of keys with the phase of the panels' head (head -1: a query).
  void AngleOf(const Turn& turn, int64_t head, int64_t lane, double* cos, double* sin) const {
    *cos = turn.cos[lane], *sin = turn.sin[lane];
    if (head < 0) return;
    const auto [s, c] = phases_[lane];
    const double before = *cos;
    *cos = before * c - *sin * s;
    *sin = *sin * c + before * s;
  }

  Status MakePanels(const TileArguments& tile, int64_t h) const {
    const int64_t dim = tile.head_dim;
    POSLAB_RETURN_IF_ERROR(query_panel_.ResizeForOverwrite("query", CheckedProduct({tile.queries, 2, dim})));
    POSLAB_RETURN_IF_ERROR(key_panel_.ResizeForOverwrite("key", CheckedProduct({tile.keys, 2, dim})));
    POSLAB_RETURN_IF_ERROR(phases_.ResizeForOverwrite("phases", dim));
    const float* phases = tensors.value(0) + (tile.head + h) * dim;
    for (int64_t lane = 0; lane < dim; ++lane) phases_[lane] = SinCos(std::clamp<double>(phases[lane], -kTurn, 0));
    for (int64_t n = 0; n < tile.queries; ++n)
      MakePanel(QueryTurn(*angles_, tile.first_query + n), -1, dim, tile.query + (h * tile.queries + n) * dim,
                query_panel_.data() + n * 2 * dim);
    for (int64_t n = 0; n < tile.keys; ++n)
      MakePanel(KeyTurn(*angles_, tile.first_key + n), tile.head + h, dim, tile.key + (h * tile.keys + n) * dim,
                key_panel_.data() + n * 2 * dim);
    return Status::Ok();
  }

  void MakePanel(const Turn& turn, int64_t head, int64_t dim, const float* row, float* panel) const {
    for (int64_t lane = 0; lane < dim; ++lane) {
      double cos, sin;
      AngleOf(turn, head, lane, &cos, &sin);
      panel[lane] = static_cast<float>(Length(row[lane]) * cos);
      panel[dim + lane] = static_cast<float>(Length(row[lane]) * sin);
    }
  }

  // From the gradient of a panel's row (which the scale is still missing from) to those of the vector and the phases.
  void ThroughPanel(const TileArguments& tile, const Turn& turn, int64_t head, const float* row, const float* by_panel,
                    float* by_row) {
    const int64_t dim = tile.head_dim;
    for (int64_t lane = 0; lane < dim; ++lane) {
      const double by_cos = tile.scale * by_panel[lane], by_sin = tile.scale * by_panel[dim + lane];
      if (by_cos == 0 && by_sin == 0) continue;
      double cos, sin;
      AngleOf(turn, head, lane, &cos, &sin);
      const double x = row[lane];
      by_row[lane] += static_cast<float>((by_cos * cos + by_sin * sin) / (1 + Exp(-x)));
      if (head < 0) continue;
      const float phase = tensors.value(0)[head * dim + lane];
      if (phase > 0 || phase < -kTurn) continue;  // clamped
      tensors.gradient(0)[head * dim + lane] += Length(row[lane]) * (by_sin * cos - by_cos * sin);
    }
  }

  std::unique_ptr<Rotation> angles_;                            // a pair a lane
  mutable Buffer<SineAndCosine> phases_;                        // [head_dim], of the panels' head
  mutable Buffer<float> query_panel_, key_panel_, transposed_;  // [rows, 2 head_dim]: cosines, then sines
  Buffer<float> by_query_, by_key_;
};

class Pope final : public Scheme {
 public:
  explicit Pope(double theta) : theta_(theta) {}

  std::string_view type() const override { return "pope"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    if (dimensions.head_dim <= 0)
      return Status::Text(Code::kMissing, "headDim", "", "the width of a query and key head");
    std::vector<ParameterSpec> specs;
    AddSpec("phases", {dimensions.heads, dimensions.head_dim}, {}, &specs);
    return specs;
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments));
    LearnedTensors tensors;
    POSLAB_RETURN_IF_ERROR(tensors.Bind(*this, arguments));
    const int64_t dim = arguments.dimensions.head_dim;
    FrequencyTable frequencies;
    POSLAB_RETURN_IF_ERROR(frequencies.inverse.ResizeForOverwrite("headDim", dim));
    for (int64_t c = 0; c < dim; ++c)
      frequencies.inverse[c] = Pow(theta_, -static_cast<double>(c) / static_cast<double>(dim));
    Result<std::unique_ptr<Rotation>> angles =
        MakeRotation(frequencies, Rotation::Layout::kHalf, arguments.query_positions, arguments.key_positions);
    if (!angles.ok()) return angles.status();
    auto tile = std::make_unique<PopeTile>(std::move(*angles));
    tile->tensors = std::move(tensors);
    hooks->tile = std::move(tile);
    return Status::Ok();
  }

  Status Pull(const BindArguments&, const Hooks& hooks, const HookGradients&,
              ParameterGradients gradients) const override {
    static_cast<const PopeTile&>(*hooks.tile).tensors.Pull(gradients);
    return Status::Ok();
  }

 private:
  double theta_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakePope(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "theta", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return std::unique_ptr<Scheme>(std::make_unique<Pope>(NumberOr(description, "theta", kTheta)));
}

}  // namespace poslab
