// SPDX-License-Identifier: MIT
#include "position/pope.h"

#include "base/math.h"
#include "position/pope_tile.h"
#include "position/positions.h"
#include "position/rotation.h"

namespace poslab {
namespace {

constexpr double kTheta = 10000;

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
    POSLAB_RETURN_IF_ERROR(tile->Prepare(arguments));
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
