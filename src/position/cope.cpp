// SPDX-License-Identifier: MIT
#include "position/cope.h"

#include "position/cope_tile.h"

namespace poslab {
namespace {

constexpr double kPositions = 64;

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
