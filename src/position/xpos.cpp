// SPDX-License-Identifier: MIT
// A rotation and a tile.
#include "position/xpos.h"

#include <cmath>

#include "position/positions.h"
#include "position/rope_scaling.h"
#include "position/rotation.h"
#include "position/xpos_tile.h"

namespace poslab {
namespace {

constexpr double kTheta = 10000;
constexpr double kScaleBase = 512;  // the authors' code

class Xpos final : public Scheme {
 public:
  Xpos(double theta, double scale_base, Rotation::Layout layout)
      : theta_(theta), scale_base_(scale_base), layout_(layout) {}

  std::string_view type() const override { return "xpos"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.head_dim > 0) POSLAB_RETURN_IF_ERROR(CheckHeadDim(dimensions.head_dim));
    return std::vector<ParameterSpec>();
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments));
    const Result<FrequencyTable> frequencies = Frequencies(arguments.dimensions, 0, {});
    if (!frequencies.ok()) return frequencies.status();
    Result<std::unique_ptr<Rotation>> rotation =
        MakeRotation(*frequencies, layout_, arguments.query_positions, arguments.key_positions);
    if (!rotation.ok()) return rotation.status();
    Result<std::unique_ptr<XposTile>> tile = XposTile::Make(arguments.dimensions.head_dim, scale_base_, layout_);
    if (!tile.ok()) return tile.status();
    hooks->rotation = std::move(*rotation);
    hooks->tile = std::move(*tile);
    return Status::Ok();
  }

  // Of the rotation alone; the damping is not part of it.
  Result<FrequencyTable> Frequencies(const Dimensions& dimensions, int64_t, ParameterValues) const override {
    POSLAB_RETURN_IF_ERROR(CheckHeadDim(dimensions.head_dim));
    RopeSetting setting;
    setting.theta = theta_;
    setting.head_dim = setting.rotary_dim = dimensions.head_dim;
    return ScaledFrequencies({}, setting);
  }

 private:
  static Status CheckHeadDim(int64_t head_dim) {
    if (head_dim >= 2 && head_dim % 2 == 0) return Status::Ok();
    return Status::Number(Code::kRange, "headDim", static_cast<double>(head_dim), "an even number of at least {0}", 2);
  }

  double theta_, scale_base_;
  Rotation::Layout layout_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeXpos(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "theta", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "scaleBase", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "layout", .kind = Field::Kind::kText, .choices = "half|interleaved"},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  const bool half = TextOr(description, "layout", "interleaved") == "half";
  return std::unique_ptr<Scheme>(
      std::make_unique<Xpos>(NumberOr(description, "theta", kTheta), NumberOr(description, "scaleBase", kScaleBase),
                             half ? Rotation::Layout::kHalf : Rotation::Layout::kInterleaved));
}

}  // namespace poslab
