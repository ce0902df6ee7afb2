// SPDX-License-Identifier: MIT
// Two bands whose tables are projected from one, and gathered by distance.
#include "position/deberta.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "base/matmul.h"
#include "base/transpose.h"
#include "position/learned_tensors.h"
#include "position/positions.h"

namespace poslab {
namespace {

constexpr double kMaxDistance = 128;
constexpr double kStartDeviation = 0.02;

class Deberta final : public Scheme {
 public:
  Deberta(int64_t max_distance, int64_t buckets, bool meets_query, bool meets_key)
      : max_distance_(max_distance), buckets_(buckets), meets_query_(meets_query), meets_key_(meets_key) {}

  std::string_view type() const override { return "deberta"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    const int64_t outputs = CheckedProduct({dimensions.heads, dimensions.head_dim}), width = dimensions.model_dim;
    if (outputs <= 0) return Status::Text(Code::kMissing, "headDim", "", "the number of heads and their width");
    if (width <= 0) return Status::Text(Code::kMissing, "dim", "", "the width of a token's vector");
    std::vector<ParameterSpec> specs;
    const Start start{Start::Kind::kNormal, 1 / std::sqrt(static_cast<double>(width)), 0};
    AddSpec("table", {2 * span(), width}, {Start::Kind::kNormal, kStartDeviation, 0}, &specs);
    if (meets_query_) AddSpec("keyProjection", {outputs, width}, start, &specs, /*decay=*/true);
    if (meets_key_) AddSpec("queryProjection", {outputs, width}, start, &specs, /*decay=*/true);
    return specs;
  }

  // The width of a given table need not be known from elsewhere.
  Status CheckParameters(const Dimensions& dimensions, ParameterValues parameters) const override {
    return Scheme::CheckParameters(Known(dimensions, parameters), parameters);
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments));
    POSLAB_RETURN_IF_ERROR(CheckParameters(arguments.dimensions, arguments.parameters));
    if (meets_query_) POSLAB_RETURN_IF_ERROR(MakeBand(arguments, "keyProjection", &hooks->score_band));
    if (meets_key_) {
      POSLAB_RETURN_IF_ERROR(MakeBand(arguments, "queryProjection", &hooks->key_band));
      hooks->key_band->side = Band::Side::kKey;
    }
    hooks->score_terms = 1 + meets_query_ + meets_key_;
    return Status::Ok();
  }

  Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients& hook_gradients,
              ParameterGradients gradients) const override {
    if (meets_query_) {
      POSLAB_RETURN_IF_ERROR(
          PullBand(arguments, *hooks.score_band, hook_gradients.score_band_table, "keyProjection", gradients));
    }
    if (!meets_key_) return Status::Ok();
    return PullBand(arguments, *hooks.key_band, hook_gradients.key_band_table, "queryProjection", gradients);
  }

  Status Buckets(const int64_t* distances, int64_t count, int64_t* buckets) const override {
    for (int64_t n = 0; n < count; ++n) buckets[n] = Row(distances[n]);
    return Status::Ok();
  }

 private:
  int64_t span() const { return buckets_ ? buckets_ : max_distance_; }

  static Dimensions Known(Dimensions dimensions, ParameterValues parameters) {
    const TensorView<const float>* table = Find(parameters, "table");
    if (dimensions.model_dim <= 0 && table && table->shape.size() == 2) dimensions.model_dim = table->shape[1];
    return dimensions;
  }

  // The row of the tables for a distance j - i.
  int64_t Row(int64_t distance) const {
    int64_t relative = -std::clamp(distance, -max_distance_, max_distance_);
    const int64_t middle = buckets_ / 2, away = relative < 0 ? -relative : relative;
    if (buckets_ && away > middle) {
      const double share = Log(static_cast<double>(away) / static_cast<double>(middle)) /
                           Log(static_cast<double>(max_distance_ - 1) / static_cast<double>(middle));
      const auto bucket = static_cast<int64_t>(std::ceil(share * static_cast<double>(middle - 1))) + middle;
      relative = relative < 0 ? -bucket : bucket;
    }
    return std::clamp<int64_t>(relative + span(), 0, 2 * span() - 1);
  }

  // Band rows by distance: the projected row of the table, head by head.
  Status MakeBand(const BindArguments& arguments, std::string_view projection, std::unique_ptr<Band>* made) const {
    const DistanceRange range = RangeOfDistances(arguments.query_positions, arguments.key_positions);
    const int64_t heads = arguments.dimensions.heads, dim = arguments.dimensions.head_dim;
    const TensorView<const float>& table = *Find(arguments.parameters, "table");
    const float* weights = Find(arguments.parameters, projection)->data;
    const int64_t width = table.shape[1];
    auto band = std::make_unique<Band>();
    band->first = std::clamp(range.first, -max_distance_, max_distance_);
    band->rows = std::clamp(range.last, -max_distance_, max_distance_) - band->first + 1;
    band->width = dim;
    band->per_head = true;
    POSLAB_RETURN_IF_ERROR(band->owned.ResizeForOverwrite("position.table", CheckedProduct({heads, band->rows, dim})));
    band->table = band->owned.data();
    const UsedRows used = RowsOf(*band);
    Buffer<float> turned, projected;  // one head's weights [width, dim]; the rows for one head [used, dim]
    POSLAB_RETURN_IF_ERROR(turned.ResizeForOverwrite("position.table", CheckedProduct({width, dim})));
    POSLAB_RETURN_IF_ERROR(projected.ResizeForOverwrite("position.table", CheckedProduct({used.count, dim})));
    MatMulArguments product;
    product.m = used.count, product.n = dim, product.k = width;
    product.a = table.data + used.first * width, product.a_row_stride = width;
    product.b = turned.data(), product.c = projected.data(), product.b_row_stride = product.c_row_stride = dim;
    float* out = band->owned.data();
    for (int64_t h = 0; h < heads; ++h) {
      Transpose(weights + h * dim * width, width, dim, width, turned.data(), dim);
      MatMul(product);
      for (int64_t n = 0; n < band->rows; ++n, out += dim)
        std::copy_n(projected.data() + (Row(band->first + n) - used.first) * dim, dim, out);
    }
    *made = std::move(band);
    return Status::Ok();
  }

  Status PullBand(const BindArguments& arguments, const Band& band, const Buffer<float>& band_gradient,
                  std::string_view projection, ParameterGradients gradients) const {
    const TensorView<const float>& table = *Find(arguments.parameters, "table");
    const float* weights = Find(arguments.parameters, projection)->data;
    const TensorView<float>*by_table = Find(gradients, "table"), *by_weights = Find(gradients, projection);
    const int64_t width = table.shape[1];
    if (band_gradient.empty()) return Status::Ok();
    const int64_t dim = band.width;
    const UsedRows used = RowsOf(band);
    Buffer<float> by_row;  // of the rows for one head [used, dim]
    POSLAB_RETURN_IF_ERROR(by_row.ResizeForOverwrite("position.table", CheckedProduct({used.count, dim})));
    const float* from = band_gradient.data();
    for (int64_t h = 0; h < arguments.dimensions.heads; ++h) {
      std::fill(by_row.begin(), by_row.end(), 0.0f);
      for (int64_t n = 0; n < band.rows; ++n, from += dim) {
        float* to = by_row.data() + (Row(band.first + n) - used.first) * dim;
        for (int64_t d = 0; d < dim; ++d) to[d] += from[d];
      }
      MatMulArguments product;
      product.a = by_row.data(), product.n = product.b_row_stride = product.c_row_stride = width;
      product.accumulate = true;
      if (by_table) {
        product.m = used.count, product.k = dim, product.a_row_stride = dim, product.a_column_stride = 1;
        product.b = weights + h * dim * width, product.c = by_table->data + used.first * width;
        MatMul(product);
      }
      if (by_weights) {
        product.m = dim, product.k = used.count, product.a_row_stride = 1, product.a_column_stride = dim;
        product.b = table.data + used.first * width, product.c = by_weights->data + h * dim * width;
        MatMul(product);
      }
    }
    return Status::Ok();
  }

  // The rows of the table that a band's distances meet, from the last distance's to the first's.
  struct UsedRows {
    int64_t first, count;
  };
  UsedRows RowsOf(const Band& band) const {
    const int64_t first = Row(band.first + band.rows - 1);
    return {first, Row(band.first) + 1 - first};
  }

  int64_t max_distance_, buckets_;  // buckets 0: none
  bool meets_query_, meets_key_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeDeberta(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "maxDistance", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 1 << 24, .integer = true},
      {.name = "buckets", .kind = Field::Kind::kNumber, .minimum = 2, .maximum = 1 << 20, .integer = true},
      {.name = "terms", .kind = Field::Kind::kText, .choices = "both|c2p|p2c"},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  const auto max_distance = static_cast<int64_t>(NumberOr(description, "maxDistance", kMaxDistance));
  const auto buckets = static_cast<int64_t>(NumberOr(description, "buckets", 0));
  if (buckets && max_distance <= buckets / 2 + 1) {
    return Status::Number(Code::kContradiction, "position.maxDistance", static_cast<double>(max_distance),
                          "more than half of the buckets and one, {0}", static_cast<double>(buckets / 2 + 1));
  }
  const std::string_view terms = TextOr(description, "terms", "both");
  return std::unique_ptr<Scheme>(std::make_unique<Deberta>(max_distance, buckets, terms != "p2c", terms != "c2p"));
}

}  // namespace poslab
