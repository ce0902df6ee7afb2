// SPDX-License-Identifier: MIT
// The three differ only in which differences share a row of a table [rows, heads], and in where the table comes from.
#include "position/grid_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/math.h"
#include "position/grid.h"
#include "position/small_mlp.h"
#include "position/tile_scheme.h"

namespace poslab {
namespace {

enum class Kind { kSigned, kAbsolute, kPerceptron };

constexpr Start kTableStart{Start::Kind::kNormal, 0.02, 0};
constexpr double kWidth = 512, kReach = 8, kHighest = 16;  // Swin V2
// Tables larger than this are not worked out by the perceptron.
constexpr int64_t kMostRows = int64_t{1} << 22;

struct Span {
  int64_t lowest = 0, highest = 0;
};

class GridTile final : public LearnedTile {
 public:
  GridTile(Kind kind, const Grid& grid, int64_t heads, int64_t width)
      : kind_(kind),
        grid_(grid),
        heads_(heads),
        perceptron_({2, width, heads}, SmallMlp::Activation::kRelu, &tensors, 0, /*last_bias=*/false) {}

  bool position_only() const override { return true; }
  Status Prepare(const BindArguments& arguments) override;
  Status Forward(const TileArguments& tile) const override;
  Status Backward(const TileArguments& tile, const TileGradients& gradients) override;
  void Finish() override;

 private:
  // The differences that this call can meet along an axis.
  Span Differences(int64_t axis) const;
  Status CheckTable(Span rows, Span columns) const;
  void Coordinates(int64_t row, double* in) const;
  int64_t RowOf(int64_t query, int64_t key) const {
    const int64_t dy = queries_.At(query, 0) - keys_.At(key, 0), dx = queries_.At(query, 1) - keys_.At(key, 1);
    if (kind_ == Kind::kAbsolute) return std::abs(dy) * columns_ + std::abs(dx);
    return (dy - first_y_) * columns_ + dx - first_x_;
  }
  double* Gradients() { return kind_ == Kind::kPerceptron ? gradients_.data() : tensors.gradient(0); }

  Kind kind_;
  Grid grid_;
  int64_t heads_;
  SmallMlp perceptron_;
  Buffer<int64_t> query_ids_, key_ids_;
  Positions queries_, keys_;
  int64_t first_y_ = 0, first_x_ = 0, columns_ = 0;
  Buffer<float> made_;        // the perceptron's table [rows, heads]
  Buffer<double> gradients_;  // of it
  const float* table_ = nullptr;
};

Span GridTile::Differences(int64_t axis) const {
  if (queries_.count == 0 || keys_.count == 0) return {};
  const auto extremes = [axis](const Positions& positions) {
    Span span{positions.At(0, axis), positions.At(0, axis)};
    for (int64_t n = 1; n < positions.count; ++n) {
      span.lowest = std::min(span.lowest, positions.At(n, axis));
      span.highest = std::max(span.highest, positions.At(n, axis));
    }
    return span;
  };
  const Span query = extremes(queries_), key = extremes(keys_);
  return {query.lowest - key.highest, query.highest - key.lowest};
}

Status GridTile::CheckTable(Span rows, Span columns) const {
  struct {
    Span span;
    int64_t size;
    const char* allowed;
  } const sides[] = {{rows, grid_.height, "a difference of rows below {0}, the height of the grid"},
                     {columns, grid_.width, "a difference of columns below {0}, the width of the grid"}};
  for (const auto& [span, size, allowed] : sides) {
    const int64_t farthest = std::max(-span.lowest, span.highest);
    if (farthest >= size)
      return Status::Number(Code::kNotDefined, "position", static_cast<double>(farthest), allowed,
                            static_cast<double>(size));
  }
  return Status::Ok();
}

// What the perceptron reads for a row of its table.
void GridTile::Coordinates(int64_t row, double* in) const {
  const double away[] = {static_cast<double>(first_y_ + row / columns_),
                         static_cast<double>(first_x_ + row % columns_)};
  const int64_t sizes[] = {grid_.height, grid_.width};
  for (int n = 0; n < 2; ++n) {
    const double share = kReach * std::fabs(away[n]) / static_cast<double>(std::max<int64_t>(1, sizes[n] - 1));
    in[n] = std::copysign(Log(share + 1) / Log(kReach), away[n]);
  }
}

Status GridTile::Prepare(const BindArguments& arguments) {
  POSLAB_RETURN_IF_ERROR(PlaceOnGrid(grid_, arguments.query_positions, "queryPositions", &query_ids_, &queries_));
  POSLAB_RETURN_IF_ERROR(PlaceOnGrid(grid_, arguments.key_positions, "keyPositions", &key_ids_, &keys_));
  const Span rows = Differences(0), columns = Differences(1);
  table_ = tensors.value(0);
  if (kind_ != Kind::kPerceptron) {
    const bool both = kind_ == Kind::kSigned;
    first_y_ = both ? 1 - grid_.height : 0, first_x_ = both ? 1 - grid_.width : 0;
    columns_ = both ? 2 * grid_.width - 1 : grid_.width;
    return CheckTable(rows, columns);
  }
  // A window that nobody names is that of the call.
  if (grid_.height == 0) grid_.height = 1;
  if (grid_.width == 0) grid_.width = std::max(-columns.lowest, columns.highest) + 1;
  first_y_ = rows.lowest, first_x_ = columns.lowest;
  columns_ = columns.highest - columns.lowest + 1;
  const int64_t size = CheckedProduct({rows.highest - rows.lowest + 1, columns_});
  if (size < 0 || size > kMostRows) {
    return Status::Number(Code::kRange, "positions", static_cast<double>(columns_),
                          "rows and columns near enough to each other for {0} differences",
                          static_cast<double>(kMostRows));
  }
  POSLAB_RETURN_IF_ERROR(made_.Resize("position", CheckedProduct({size, heads_})));
  POSLAB_RETURN_IF_ERROR(gradients_.Resize("position", made_.size()));
  std::vector<double> out(static_cast<size_t>(heads_));
  for (int64_t row = 0; row < size; ++row) {
    double in[2];
    Coordinates(row, in);
    perceptron_.Forward(in, out.data());
    for (int64_t h = 0; h < heads_; ++h)
      made_[row * heads_ + h] = static_cast<float>(kHighest / (1 + Exp(-out[static_cast<size_t>(h)])));
  }
  table_ = made_.data();
  return Status::Ok();
}

Status GridTile::Forward(const TileArguments& tile) const {
  for (int64_t j = 0; j < tile.keys; ++j)
    for (int64_t i = 0; i < tile.queries; ++i)
      tile.logits[j * tile.stride + i] += table_[RowOf(tile.first_query + i, tile.first_key + j) * heads_ + tile.head];
  return Status::Ok();
}

Status GridTile::Backward(const TileArguments& tile, const TileGradients& gradients) {
  double* sums = Gradients();
  for (int64_t j = 0; j < tile.keys; ++j) {
    for (int64_t i = 0; i < tile.queries; ++i) {
      const double gradient = gradients.logits[j * tile.stride + i];
      if (gradient != 0) sums[RowOf(tile.first_query + i, tile.first_key + j) * heads_ + tile.head] += gradient;
    }
  }
  return Status::Ok();
}

void GridTile::Finish() {
  if (kind_ != Kind::kPerceptron) return;
  std::vector<double> out(static_cast<size_t>(heads_));
  for (int64_t row = 0; row < made_.size() / heads_; ++row) {
    double* sums = gradients_.data() + row * heads_;
    if (std::all_of(sums, sums + heads_, [](double sum) { return sum == 0; })) continue;
    double in[2];
    Coordinates(row, in);
    perceptron_.Forward(in, out.data());
    for (int64_t h = 0; h < heads_; ++h) {
      const double sigmoid = 1 / (1 + Exp(-out[static_cast<size_t>(h)]));
      sums[h] *= kHighest * sigmoid * (1 - sigmoid);
    }
    perceptron_.Backward(sums, nullptr);
    std::fill_n(sums, heads_, 0.0);
  }
}

class GridBias final : public TileScheme {
 public:
  GridBias(std::string_view type, Kind kind, const Grid& grid, int64_t width)
      : type_(type), kind_(kind), grid_(grid), width_(width) {}

  std::string_view type() const override { return type_; }
  int64_t axes() const override { return 2; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    std::vector<ParameterSpec> specs;
    if (kind_ == Kind::kPerceptron) {
      SmallMlp::AddSpecs({2, width_, dimensions.heads}, &specs, /*last_bias=*/false);
      return specs;
    }
    const Result<Grid> grid = grid_.Known(dimensions);
    if (!grid.ok()) return grid.status();
    AddSpec("table", {Places(grid->height) * Places(grid->width), dimensions.heads}, kTableStart, &specs);
    return specs;
  }

  Status CheckParameters(const Dimensions& dimensions, ParameterValues parameters) const override {
    return Scheme::CheckParameters(Completed(dimensions, parameters), parameters);
  }

 protected:
  Dimensions Completed(Dimensions dimensions, ParameterValues parameters) const override {
    const TensorView<const float>* table = Find(parameters, "table");
    if (grid_.width || dimensions.trained_length || !table || table->shape.empty()) return dimensions;
    const int64_t height = std::max<int64_t>(1, grid_.height), columns = table->shape[0] / Places(height);
    dimensions.trained_length = height * (kind_ == Kind::kSigned ? (columns + 1) / 2 : columns);
    return dimensions;
  }

  std::unique_ptr<LearnedTile> MakeTile(const Dimensions& dimensions) const override {
    const Result<Grid> grid = grid_.Known(dimensions);
    return std::make_unique<GridTile>(kind_, grid.ok() ? *grid : grid_, dimensions.heads, width_);
  }

 private:
  // How many differences along an axis of this many places have a row of their own.
  int64_t Places(int64_t size) const { return kind_ == Kind::kSigned ? 2 * size - 1 : size; }

  std::string_view type_;
  Kind kind_;
  Grid grid_;
  int64_t width_;
};

Result<std::unique_ptr<Scheme>> MakeGridBias(std::string_view type, Kind kind, const Description& description) {
  static constexpr FieldRule kRules[] = {
      kGridHeightRule,
      kGridWidthRule,
      {.name = "width", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 4096, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, {kRules, kind == Kind::kPerceptron ? 3u : 2u}));
  return std::unique_ptr<Scheme>(std::make_unique<GridBias>(
      type, kind, Grid::Of(description), static_cast<int64_t>(NumberOr(description, "width", kWidth))));
}

}  // namespace

Result<std::unique_ptr<Scheme>> MakeSwin(const Description& description) {
  return MakeGridBias("swin", Kind::kSigned, description);
}
Result<std::unique_ptr<Scheme>> MakeLevit(const Description& description) {
  return MakeGridBias("levit", Kind::kAbsolute, description);
}
Result<std::unique_ptr<Scheme>> MakeLogCpb(const Description& description) {
  return MakeGridBias("log-cpb", Kind::kPerceptron, description);
}

}  // namespace poslab
