// SPDX-License-Identifier: MIT
// The three differ only in which differences share a row of a table [rows, heads], and in where the table comes from.
#include "position/grid_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/math.h"
#include "position/grid.h"
#include "position/grid_tile.h"
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
  // Of an entry of the call's table: how many rows and columns its queries are after its keys.
  int64_t RowsOf(int64_t entry) const { return first_y_ + entry / columns_; }
  int64_t ColumnsOf(int64_t entry) const { return first_x_ + entry % columns_; }
  void Coordinates(int64_t entry, double* in) const;
  // The row of the learned table.
  int64_t LearnedRow(int64_t entry) const {
    const int64_t dy = RowsOf(entry), dx = ColumnsOf(entry);
    if (kind_ == Kind::kAbsolute) return std::abs(dy) * grid_.width + std::abs(dx);
    return (dy + grid_.height - 1) * (2 * grid_.width - 1) + dx + grid_.width - 1;
  }
  Status FillPlaces();

  Kind kind_;
  Grid grid_;
  int64_t heads_;
  SmallMlp perceptron_;
  Buffer<int64_t> query_ids_, key_ids_;
  Positions queries_, keys_;
  int64_t first_y_ = 0, first_x_ = 0, columns_ = 0, entries_ = 0;
  Buffer<int64_t> query_places_, key_places_;
  Buffer<float> table_;       // [heads, entries_], by the differences of this call
  Buffer<double> gradients_;  // of it
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

// What the perceptron reads for an entry of its table.
void GridTile::Coordinates(int64_t entry, double* in) const {
  const double away[] = {static_cast<double>(RowsOf(entry)), static_cast<double>(ColumnsOf(entry))};
  const int64_t sizes[] = {grid_.height, grid_.width};
  for (int n = 0; n < 2; ++n) {
    const double share = kReach * std::fabs(away[n]) / static_cast<double>(std::max<int64_t>(1, sizes[n] - 1));
    in[n] = std::copysign(Log(share + 1) / Log(kReach), away[n]);
  }
}

Status GridTile::FillPlaces() {
  POSLAB_RETURN_IF_ERROR(query_places_.ResizeForOverwrite("queryPositions", queries_.count));
  POSLAB_RETURN_IF_ERROR(key_places_.ResizeForOverwrite("keyPositions", keys_.count));
  if (keys_.count == 0) return Status::Ok();
  // Counted from the first key: ids themselves may be large.
  const int64_t y = keys_.At(0, 0), x = keys_.At(0, 1);
  for (int64_t i = 0; i < queries_.count; ++i)
    query_places_[i] = (queries_.At(i, 0) - y - first_y_) * columns_ + queries_.At(i, 1) - x - first_x_;
  for (int64_t j = 0; j < keys_.count; ++j) key_places_[j] = (keys_.At(j, 0) - y) * columns_ + keys_.At(j, 1) - x;
  return Status::Ok();
}

Status GridTile::Prepare(const BindArguments& arguments) {
  POSLAB_RETURN_IF_ERROR(PlaceOnGrid(grid_, arguments.query_positions, "queryPositions", &query_ids_, &queries_));
  POSLAB_RETURN_IF_ERROR(PlaceOnGrid(grid_, arguments.key_positions, "keyPositions", &key_ids_, &keys_));
  const Span rows = Differences(0), columns = Differences(1);
  const bool perceptron = kind_ == Kind::kPerceptron;
  if (!perceptron) POSLAB_RETURN_IF_ERROR(CheckTable(rows, columns));
  // A window that nobody names is that of the call.
  if (grid_.height == 0) grid_.height = 1;
  if (grid_.width == 0) grid_.width = std::max(-columns.lowest, columns.highest) + 1;
  first_y_ = rows.lowest, first_x_ = columns.lowest;
  columns_ = columns.highest - columns.lowest + 1;
  entries_ = CheckedProduct({rows.highest - rows.lowest + 1, columns_});
  if (perceptron && (entries_ < 0 || entries_ > kMostRows)) {
    return Status::Number(Code::kRange, "positions", static_cast<double>(columns_),
                          "rows and columns near enough to each other for {0} differences",
                          static_cast<double>(kMostRows));
  }
  POSLAB_RETURN_IF_ERROR(FillPlaces());
  POSLAB_RETURN_IF_ERROR(table_.ResizeForOverwrite("position", CheckedProduct({heads_, entries_})));
  POSLAB_RETURN_IF_ERROR(gradients_.Resize("position", table_.size()));
  std::vector<double> out(static_cast<size_t>(heads_));
  for (int64_t entry = 0; entry < entries_; ++entry) {
    double in[2];
    Coordinates(entry, in);
    if (perceptron) perceptron_.Forward(in, out.data());
    for (int64_t h = 0; h < heads_; ++h)
      table_[h * entries_ + entry] = perceptron ? static_cast<float>(kHighest / (1 + Exp(-out[static_cast<size_t>(h)])))
                                                : tensors.value(0)[LearnedRow(entry) * heads_ + h];
  }
  return Status::Ok();
}

Status GridTile::Forward(const TileArguments& tile) const {
  AddByPlace(tile, {query_places_.data(), key_places_.data()}, table_.data() + tile.head * entries_);
  return Status::Ok();
}

Status GridTile::Backward(const TileArguments& tile, const TileGradients& gradients) {
  SumByPlace(tile, {query_places_.data(), key_places_.data()}, gradients.logits,
             gradients_.data() + tile.head * entries_);
  return Status::Ok();
}

void GridTile::Finish() {
  std::vector<double> out(static_cast<size_t>(heads_)), sums(static_cast<size_t>(heads_));
  for (int64_t entry = 0; entry < entries_; ++entry) {
    for (int64_t h = 0; h < heads_; ++h)
      sums[static_cast<size_t>(h)] = std::exchange(gradients_[h * entries_ + entry], 0);
    if (std::all_of(sums.begin(), sums.end(), [](double sum) { return sum == 0; })) continue;
    if (kind_ != Kind::kPerceptron) {
      double* gradient = tensors.gradient(0) + LearnedRow(entry) * heads_;
      for (int64_t h = 0; h < heads_; ++h) gradient[h] += sums[static_cast<size_t>(h)];
      continue;
    }
    double in[2];
    Coordinates(entry, in);
    perceptron_.Forward(in, out.data());
    for (size_t h = 0; h < out.size(); ++h) {
      const double sigmoid = 1 / (1 + Exp(-out[h]));
      sums[h] *= kHighest * sigmoid * (1 - sigmoid);
    }
    perceptron_.Backward(sums.data(), nullptr);
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
