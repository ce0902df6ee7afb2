// SPDX-License-Identifier: MIT
#include "position/grid_embedding.h"

#include <algorithm>
#include <numbers>

#include "base/math.h"
#include "position/grid.h"
#include "position/learned_tensors.h"
#include "position/table_resize.h"

namespace poslab {
namespace {

constexpr double kBase = 10000;
constexpr Start kTableStart{Start::Kind::kNormal, 0.02, 0};  // as ViT

class Sinusoidal2d final : public Scheme {
 public:
  Sinusoidal2d(double base, bool interleaved, bool x_first, bool normalized, const Grid& grid)
      : base_(base), interleaved_(interleaved), x_first_(x_first), normalized_(normalized), grid_(grid) {}

  std::string_view type() const override { return "sinusoidal-2d"; }
  int64_t axes() const override { return 2; }
  bool embeds() const override { return true; }

  Status AddEmbedding(Positions positions, int64_t dim, ParameterValues, float* rows) const override {
    if (dim < 4 || dim % 4)
      return Status::Number(Code::kRange, "dim", static_cast<double>(dim), "a multiple of 4, and at least 4");
    Buffer<int64_t> ids;
    Positions placed;
    POSLAB_RETURN_IF_ERROR(PlaceOnGrid(grid_, positions, "positions", &ids, &placed));
    const int64_t half = dim / 2, pairs = half / 2;
    std::vector<double> frequencies;
    for (int64_t k = 0; k < pairs; ++k)
      frequencies.push_back(Pow(base_, -static_cast<double>(k) / static_cast<double>(pairs)));
    for (int64_t n = 0; n < placed.count; ++n) {
      if (placed.At(n, 0) == kOffGrid) continue;
      for (int64_t axis = 0; axis < 2; ++axis) {
        const double at = Coordinate(placed.At(n, axis), axis ? grid_.width : grid_.height);
        float* row = rows + n * dim + ((axis == 1) == x_first_ ? 0 : half);
        for (int64_t k = 0; k < pairs; ++k) {
          const SineAndCosine wave = SinCos(at * frequencies[static_cast<size_t>(k)]);
          row[interleaved_ ? 2 * k : k] += static_cast<float>(wave.sine);
          row[interleaved_ ? 2 * k + 1 : k + pairs] += static_cast<float>(wave.cosine);
        }
      }
    }
    return Status::Ok();
  }

 private:
  double Coordinate(int64_t index, int64_t cells) const {
    if (!normalized_) return static_cast<double>(index);
    return 2 * std::numbers::pi * static_cast<double>(index + 1) / (static_cast<double>(cells) + 1e-6);
  }

  double base_;
  bool interleaved_, x_first_, normalized_;
  Grid grid_;
};

// What schemes share whose rows are means of rows of learned tables.
class GridTables : public Scheme {
 public:
  int64_t axes() const final { return 2; }
  bool embeds() const final { return true; }

  Status CheckParameters(const Dimensions& dimensions, ParameterValues parameters) const final {
    return Scheme::CheckParameters(WithTables(dimensions, parameters), parameters);
  }

  Status AddEmbedding(Positions positions, int64_t dim, ParameterValues parameters, float* rows) const final {
    return ForEachPart(positions, dim, parameters, [&](int64_t n, const Part& part) {
      const TensorView<const float>* table = Find(parameters, part.table);
      const int64_t width = table->shape[1];
      for (int64_t c = 0; c < width; ++c)
        rows[n * dim + part.column + c] += static_cast<float>(part.share * table->data[part.row * width + c]);
    });
  }

  Status EmbeddingBackward(Positions positions, int64_t dim, const float* row_gradients,
                           ParameterGradients gradients) const final {
    std::vector<TensorView<const float>> shapes;
    for (const TensorView<float>& tensor : gradients) shapes.push_back({tensor.name, tensor.data, tensor.shape});
    return ForEachPart(positions, dim, shapes, [&](int64_t n, const Part& part) {
      const TensorView<float>* table = Find(gradients, part.table);
      const int64_t width = table->shape[1];
      for (int64_t c = 0; c < width; ++c)
        table->data[part.row * width + c] += static_cast<float>(part.share * row_gradients[n * dim + part.column + c]);
    });
  }

  int64_t DefinedLength(ParameterValues parameters) const final {
    const Result<Grid> grid = Target(WithTables({}, parameters));
    return grid.ok() ? grid->prefix_tokens + grid->height * grid->width : INT64_MAX;
  }

 protected:
  // `share` times this row of a table, from this column of the token's vector on.
  struct Part {
    std::string_view table;
    int64_t row;
    double share;
    int64_t column;
  };
  // The grid whose places the tokens are on.
  virtual Result<Grid> Target(const Dimensions& dimensions) const = 0;
  // Of a token that is the place (y, x), or the prefix token `id`.
  virtual std::vector<Part> PartsOf(const Dimensions& dimensions, int64_t y, int64_t x, int64_t id) const = 0;
  // What the shapes of the tables say of sizes that are not known.
  virtual Dimensions WithTables(Dimensions dimensions, ParameterValues parameters) const = 0;

 private:
  template <typename Visit>
  Status ForEachPart(Positions positions, int64_t dim, ParameterValues parameters, Visit visit) const {
    Dimensions dimensions;
    dimensions.model_dim = dim;
    POSLAB_RETURN_IF_ERROR(CheckParameters(dimensions, parameters));
    dimensions = WithTables(dimensions, parameters);
    const Result<Grid> grid = Target(dimensions);
    if (!grid.ok()) return grid.status();
    Buffer<int64_t> ids;
    Positions placed;
    POSLAB_RETURN_IF_ERROR(PlaceOnGrid(*grid, positions, "positions", &ids, &placed));
    // Rows of no width hold nothing, whatever width the tables have.
    if (dim == 0) return Status::Ok();
    for (int64_t n = 0; n < placed.count; ++n) {
      const int64_t y = placed.At(n, 0), x = placed.At(n, 1), id = positions[n];
      const bool on_grid = y >= 0 && y < grid->height && x >= 0 && x < grid->width;
      if (!on_grid && (y != kOffGrid || id < 0)) {
        Status status = Status::Number(Code::kNotDefined, "position", static_cast<double>(id),
                                       "a place of the grid, which has {0} rows of {1}, after {2} other tokens",
                                       static_cast<double>(grid->height), static_cast<double>(grid->width));
        status->limits[2] = static_cast<double>(grid->prefix_tokens);
        return status;
      }
      for (const Part& part : PartsOf(dimensions, y, x, id)) visit(n, part);
    }
    return Status::Ok();
  }
};

class AxialLearned final : public GridTables {
 public:
  AxialLearned(bool concatenate, bool x_first, const Grid& grid)
      : concatenate_(concatenate), x_first_(x_first), grid_(grid) {}

  std::string_view type() const override { return "axial-learned"; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    const int64_t dim = dimensions.model_dim;
    if (dim <= 0) return Status::Text(Code::kMissing, "dim", "", "the width of a token's vector");
    if (concatenate_ && dim % 2) return Status::Number(Code::kRange, "dim", static_cast<double>(dim), "an even number");
    const Result<Grid> grid = Target(dimensions);
    if (!grid.ok()) return grid.status();
    const int64_t width = concatenate_ ? dim / 2 : dim;
    std::vector<ParameterSpec> specs;
    AddSpec("rows", {grid->height, width}, kTableStart, &specs);
    AddSpec("columns", {grid->width, width}, kTableStart, &specs);
    for (ParameterSpec& spec : specs) spec.shared_by_layers = true;
    return specs;
  }

 protected:
  Result<Grid> Target(const Dimensions& dimensions) const override { return grid_.Known(dimensions); }

  std::vector<Part> PartsOf(const Dimensions& dimensions, int64_t y, int64_t x, int64_t) const override {
    const int64_t second = concatenate_ ? dimensions.model_dim / 2 : 0;
    return {{"rows", y, 1, x_first_ ? second : 0}, {"columns", x, 1, x_first_ ? 0 : second}};
  }

  Dimensions WithTables(Dimensions dimensions, ParameterValues parameters) const override {
    const TensorView<const float>*rows = Find(parameters, "rows"), *columns = Find(parameters, "columns");
    if (!rows || !columns || rows->shape.size() != 2 || columns->shape.size() != 2) return dimensions;
    if (dimensions.model_dim <= 0) dimensions.model_dim = rows->shape[1] * (concatenate_ ? 2 : 1);
    if (dimensions.trained_length <= 0)
      dimensions.trained_length = (grid_.height ? grid_.height : 1) * columns->shape[0];
    return dimensions;
  }

 private:
  bool concatenate_, x_first_;
  Grid grid_;
};

class LearnedGrid final : public GridTables {
 public:
  LearnedGrid(const Grid& grid, int64_t target_height, int64_t target_width, bool antialias)
      : grid_(grid), target_height_(target_height), target_width_(target_width), antialias_(antialias) {}

  std::string_view type() const override { return "learned-grid"; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.model_dim <= 0) return Status::Text(Code::kMissing, "dim", "", "the width of a row of the table");
    const Result<Grid> grid = grid_.Known(dimensions);
    if (!grid.ok()) return grid.status();
    std::vector<ParameterSpec> specs;
    AddSpec("table", {grid->prefix_tokens + grid->height * grid->width, dimensions.model_dim}, kTableStart, &specs);
    specs[0].shared_by_layers = true;
    return specs;
  }

 protected:
  Result<Grid> Target(const Dimensions& dimensions) const override {
    Result<Grid> grid = grid_.Known(dimensions);
    if (!grid.ok()) return grid;
    if (target_height_) grid->height = target_height_;
    if (target_width_) grid->width = target_width_;
    return grid;
  }

  std::vector<Part> PartsOf(const Dimensions& dimensions, int64_t y, int64_t x, int64_t id) const override {
    if (y == kOffGrid) return {{"table", id, 1, 0}};
    const Grid from = *grid_.Known(dimensions), to = *Target(dimensions);
    if (from.height == to.height && from.width == to.width)
      return {{"table", from.prefix_tokens + y * from.width + x, 1, 0}};
    std::vector<Part> parts;
    for (const Tap& row : BicubicTaps(y, from.height, to.height, antialias_))
      for (const Tap& column : BicubicTaps(x, from.width, to.width, antialias_))
        parts.push_back({"table", from.prefix_tokens + row.at * from.width + column.at, row.share * column.share, 0});
    return parts;
  }

  Dimensions WithTables(Dimensions dimensions, ParameterValues parameters) const override {
    const TensorView<const float>* table = Find(parameters, "table");
    if (!table || table->shape.size() != 2) return dimensions;
    if (dimensions.model_dim <= 0) dimensions.model_dim = table->shape[1];
    if (dimensions.trained_length <= 0) dimensions.trained_length = table->shape[0];
    return dimensions;
  }

 private:
  Grid grid_;
  int64_t target_height_, target_width_;  // 0: as the grid
  bool antialias_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeSinusoidal2d(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "base", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "layout", .kind = Field::Kind::kText, .choices = "concatenated|interleaved"},
      {.name = "firstAxis", .kind = Field::Kind::kText, .choices = "x|y"},
      {.name = "coordinates", .kind = Field::Kind::kText, .choices = "index|normalized"},
      kGridHeightRule,
      kGridWidthRule,
      kPrefixTokensRule,
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  Grid grid = Grid::Of(description);
  const bool normalized = TextOr(description, "coordinates", "index") == "normalized";
  if (normalized && grid.width == 0)
    return Status::Text(Code::kMissing, "position.gridWidth", "", "how many columns the grid has");
  grid.height = std::max<int64_t>(1, grid.height);
  return std::unique_ptr<Scheme>(std::make_unique<Sinusoidal2d>(
      NumberOr(description, "base", kBase), TextOr(description, "layout", "concatenated") == "interleaved",
      TextOr(description, "firstAxis", "x") == "x", normalized, grid));
}

Result<std::unique_ptr<Scheme>> MakeAxialLearned(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "combine", .kind = Field::Kind::kText, .choices = "sum|concatenate"},
      {.name = "firstAxis", .kind = Field::Kind::kText, .choices = "y|x"},
      kGridHeightRule,
      kGridWidthRule,
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return std::unique_ptr<Scheme>(std::make_unique<AxialLearned>(TextOr(description, "combine", "sum") != "sum",
                                                                TextOr(description, "firstAxis", "y") == "x",
                                                                Grid::Of(description)));
}

Result<std::unique_ptr<Scheme>> MakeLearnedGrid(const Description& description) {
  constexpr auto side = [](const char* name) {
    FieldRule rule = kGridHeightRule;
    rule.name = name;
    return rule;
  };
  static constexpr FieldRule kRules[] = {
      kGridHeightRule,      kGridWidthRule,      kPrefixTokensRule,
      side("targetHeight"), side("targetWidth"), {.name = "antialias", .kind = Field::Kind::kBoolean},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return std::unique_ptr<Scheme>(std::make_unique<LearnedGrid>(
      Grid::Of(description), static_cast<int64_t>(NumberOr(description, "targetHeight", 0)),
      static_cast<int64_t>(NumberOr(description, "targetWidth", 0)), BooleanOr(description, "antialias", false)));
}

}  // namespace poslab
