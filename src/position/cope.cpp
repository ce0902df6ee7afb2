// SPDX-License-Identifier: MIT
// A tile hook that goes from the query backwards and carries the count along.
#include "position/cope.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "position/tile_scheme.h"

namespace poslab {
namespace {

constexpr double kPositions = 64;

class CopeTile final : public LearnedTile {
 public:
  explicit CopeTile(int64_t positions) : positions_(positions) {}

  bool descending() const override { return true; }
  bool uses_vectors() const override { return true; }
  int64_t state_size() const override { return 1; }

  Status Forward(const TileArguments& tile) const override {
    for (int64_t n = 0; n < tile.heads * tile.queries; ++n) {
      const Row row = MakeRow(tile, n);
      for (int64_t j = tile.keys - 1; j >= 0; --j) {
        if (!Counts(tile, row.query, j)) continue;
        float& logit = row.logits[j * tile.stride];
        tile.state[n] += Gate(logit);
        const Place place = PlaceOf(tile.state[n]);
        logit += static_cast<float>(products_[place.below] * (1 - place.share) + products_[place.above] * place.share);
      }
    }
    return Status::Ok();
  }

  Status Backward(const TileArguments& tile, const TileGradients& gradients) override {
    counts_.resize(static_cast<size_t>(tile.keys));
    std::vector<double> by_product(static_cast<size_t>(positions_));
    for (int64_t n = 0; n < tile.heads * tile.queries; ++n) {
      const Row row = MakeRow(tile, n);
      const int64_t first = (n / tile.queries) * tile.keys * tile.stride + row.query;
      const float* before = gradients.logits_before + first;
      float* through = gradients.logits + first;
      float count = tile.state[n];
      for (int64_t j = tile.keys - 1; j >= 0; --j) {
        if (Counts(tile, row.query, j)) count += Gate(before[j * tile.stride]);
        counts_[static_cast<size_t>(j)] = count;
      }
      std::fill(by_product.begin(), by_product.end(), 0.0);
      double later = gradients.state[n];  // of the count, from the keys before this one
      for (int64_t j = 0; j < tile.keys; ++j) {
        if (!Counts(tile, row.query, j)) continue;
        float& gradient = through[j * tile.stride];
        const Place place = PlaceOf(counts_[static_cast<size_t>(j)]);
        by_product[place.below] += gradient * (1 - place.share);
        by_product[place.above] += gradient * place.share;
        later += gradient * (products_[place.above] - products_[place.below]);
        const double gate = Gate(before[j * tile.stride]);
        gradient += static_cast<float>(later * gate * (1 - gate));
      }
      gradients.state[n] = static_cast<float>(later);
      ThroughProducts(tile, n, by_product, gradients.query);
    }
    return Status::Ok();
  }

 private:
  struct Row {
    int64_t query;
    float* logits;
  };
  // Between which two whole counts, and how far on the way to the upper one.
  struct Place {
    size_t below, above;
    double share;
  };

  // Row n of [heads, queries], with the products of its query and every e in products_.
  Row MakeRow(const TileArguments& tile, int64_t n) const {
    products_.resize(static_cast<size_t>(positions_));
    const float *query = tile.query + n * tile.head_dim, *vector = tensors.value(0);
    for (double& product : products_) {
      product = 0;
      for (int64_t d = 0; d < tile.head_dim; ++d) product += static_cast<double>(query[d]) * *vector++;
    }
    const int64_t i = n % tile.queries;
    return {i, tile.logits + (n / tile.queries) * tile.keys * tile.stride + i};
  }

  static bool Counts(const TileArguments& tile, int64_t query, int64_t key) {
    const int64_t index = tile.first_key + key;
    if (tile.key_mask && !tile.key_mask[index]) return false;
    return tile.key_positions[index] <= tile.query_positions[tile.first_query + query];
  }
  static float Gate(float logit) { return static_cast<float>(1 / (1 + Exp(-logit))); }

  Place PlaceOf(float count) const {
    const double place = std::min(static_cast<double>(count), static_cast<double>(positions_ - 1));
    const double below = std::floor(place);
    return {static_cast<size_t>(below), static_cast<size_t>(std::ceil(place)), place - below};
  }

  void ThroughProducts(const TileArguments& tile, int64_t n, const std::vector<double>& by_product, float* by_query) {
    const float *query = tile.query + n * tile.head_dim, *vector = tensors.value(0);
    double* by_vector = tensors.gradient(0);
    for (int64_t p = 0; p < positions_; ++p, vector += tile.head_dim, by_vector += tile.head_dim) {
      const double gradient = by_product[static_cast<size_t>(p)];
      if (gradient == 0) continue;
      for (int64_t d = 0; d < tile.head_dim; ++d) {
        by_vector[d] += gradient * query[d];
        if (by_query) by_query[n * tile.head_dim + d] += static_cast<float>(gradient * vector[d]);
      }
    }
  }

  int64_t positions_;
  mutable std::vector<double> products_;  // [positions], of one query at a time
  std::vector<float> counts_;             // [keys]
};

class Cope final : public TileScheme {
 public:
  explicit Cope(int64_t positions) : positions_(positions) {}

  std::string_view type() const override { return "cope"; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.head_dim <= 0)
      return Status::Text(Code::kMissing, "headDim", "", "the width of a query and key head");
    std::vector<ParameterSpec> specs;
    AddSpec("table", {positions_, dimensions.head_dim}, {}, &specs);
    return specs;
  }

 protected:
  std::unique_ptr<LearnedTile> MakeTile(const Dimensions&) const override {
    return std::make_unique<CopeTile>(positions_);
  }

 private:
  int64_t positions_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeCope(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "positions", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 65536, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return std::unique_ptr<Scheme>(
      std::make_unique<Cope>(static_cast<int64_t>(NumberOr(description, "positions", kPositions))));
}

}  // namespace poslab
