// SPDX-License-Identifier: MIT
#include "position/axial_rope.h"

#include <numbers>

#include "base/math.h"
#include "position/grid.h"
#include "position/rotation.h"

namespace poslab {
namespace {

constexpr double kTheta = 10000;

struct AxialSetting {
  double theta = kTheta;
  Rotation::Layout layout = Rotation::Layout::kHalf;
  int64_t rotary_dim = 0;  // 0: the head
  bool alternating = false, split = false, x_first = false, normalized = false;
  Grid grid;
};

class AxialRope final : public Scheme {
 public:
  explicit AxialRope(const AxialSetting& setting) : setting_(setting) {}

  std::string_view type() const override { return "axial-rope"; }
  int64_t axes() const override { return 2; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.head_dim > 0) {
      const Result<int64_t> width = RotaryDim(dimensions.head_dim);
      if (!width.ok()) return width.status();
    }
    return std::vector<ParameterSpec>();
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    POSLAB_RETURN_IF_ERROR(CheckParameters(arguments.dimensions, arguments.parameters));
    const Result<FrequencyTable> frequencies = Frequencies(arguments.dimensions, 0, {});
    if (!frequencies.ok()) return frequencies.status();
    Buffer<int64_t> query_ids, key_ids;
    Positions queries, keys;
    POSLAB_RETURN_IF_ERROR(
        PlaceOnGrid(setting_.grid, arguments.query_positions, "queryPositions", &query_ids, &queries));
    POSLAB_RETURN_IF_ERROR(PlaceOnGrid(setting_.grid, arguments.key_positions, "keyPositions", &key_ids, &keys));
    std::vector<uint8_t> axes;
    for (int64_t k = 0; k < frequencies->inverse.size(); ++k) axes.push_back(TurnsByX(k, frequencies->inverse.size()));
    Result<std::unique_ptr<Rotation>> rotation = MakeRotation(*frequencies, setting_.layout, queries, keys, axes);
    if (!rotation.ok()) return rotation.status();
    hooks->rotation = std::move(*rotation);
    return Status::Ok();
  }

  // By step from one row or column to the next.
  Result<FrequencyTable> Frequencies(const Dimensions& dimensions, int64_t, ParameterValues) const override {
    const Result<int64_t> width = RotaryDim(dimensions.head_dim);
    if (!width.ok()) return width.status();
    Grid grid = setting_.grid;
    if (setting_.normalized) {
      const Result<Grid> known = grid.Known(dimensions);
      if (!known.ok()) return known.status();
      grid = *known;
    }
    const int64_t pairs = *width / 2;
    FrequencyTable table;
    POSLAB_RETURN_IF_ERROR(table.inverse.Resize("headDim", pairs));
    if (setting_.normalized) POSLAB_RETURN_IF_ERROR(table.phase.Resize("headDim", pairs));
    for (int64_t k = 0; k < pairs; ++k) {
      const bool x = TurnsByX(k, pairs);
      const int64_t place = setting_.alternating ? k / 2 : k % (pairs / 2);  // among the pairs of its axis
      const int64_t step = setting_.split ? 2 * place + (x != setting_.x_first) : 2 * place;
      table.inverse[k] = Pow(setting_.theta, -static_cast<double>(step) / static_cast<double>(pairs));
      if (!setting_.normalized) continue;
      const auto cells = static_cast<double>(x ? grid.width : grid.height);
      const double turn = 2 * std::numbers::pi * table.inverse[k];
      table.inverse[k] = 2 * turn / cells;
      table.phase[k] = turn * (1 / cells - 1);
    }
    return table;
  }

 private:
  bool TurnsByX(int64_t pair, int64_t pairs) const {
    const bool second = setting_.alternating ? pair % 2 : pair >= pairs / 2;
    return second != setting_.x_first;
  }

  Result<int64_t> RotaryDim(int64_t head_dim) const {
    if (head_dim <= 0) return Status::Text(Code::kMissing, "headDim", "", "the width of a query and key head");
    const int64_t width = setting_.rotary_dim ? setting_.rotary_dim : head_dim;
    if (width < 4 || width > head_dim || width % 4) {
      return Status::Number(Code::kRange, setting_.rotary_dim ? "position.rotaryDim" : "headDim",
                            static_cast<double>(width), "a multiple of 4 from 4 to the head's {0}",
                            static_cast<double>(head_dim));
    }
    return width;
  }

  AxialSetting setting_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeAxialRope(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "theta", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "layout", .kind = Field::Kind::kText, .choices = "half|interleaved"},
      {.name = "rotaryDim", .kind = Field::Kind::kNumber, .minimum = 4, .maximum = kLargestWhole, .integer = true},
      {.name = "order", .kind = Field::Kind::kText, .choices = "blocks|alternating"},
      {.name = "frequencies", .kind = Field::Kind::kText, .choices = "restart|split"},
      {.name = "firstAxis", .kind = Field::Kind::kText, .choices = "y|x"},
      {.name = "coordinates", .kind = Field::Kind::kText, .choices = "index|normalized"},
      kGridHeightRule,
      kGridWidthRule,
      kPrefixTokensRule,
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  AxialSetting setting;
  setting.theta = NumberOr(description, "theta", kTheta);
  if (TextOr(description, "layout", "half") != "half") setting.layout = Rotation::Layout::kInterleaved;
  setting.rotary_dim = static_cast<int64_t>(NumberOr(description, "rotaryDim", 0));
  setting.alternating = TextOr(description, "order", "blocks") == "alternating";
  setting.split = TextOr(description, "frequencies", "restart") == "split";
  setting.x_first = TextOr(description, "firstAxis", "y") == "x";
  setting.normalized = TextOr(description, "coordinates", "index") == "normalized";
  setting.grid = Grid::Of(description);
  return std::unique_ptr<Scheme>(std::make_unique<AxialRope>(setting));
}

}  // namespace poslab
