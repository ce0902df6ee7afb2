// SPDX-License-Identifier: MIT
#include "position/sandwich.h"

#include <cmath>

#include "base/math.h"
#include "position/distance_scheme.h"

namespace poslab {
namespace {

constexpr double kBase = 10000, kDim = 128;  // the paper's: the width does not follow the head's
constexpr double kSlowest = 8;               // what the last head's bias is divided by

class SandwichSlice final : public DistanceSlice {
 public:
  SandwichSlice(double base, int64_t dim) : base_(base), dim_(dim) {}

  void Values(int64_t distance, double* bias) const override {
    double sum = 0;
    for (int64_t k = 0; k < dim_ / 2; ++k) {
      const double exponent = -2 * static_cast<double>(k) / static_cast<double>(dim_);
      sum += Cos(static_cast<double>(distance) * Pow(base_, exponent));
    }
    for (int64_t h = 0; h < heads; ++h)
      bias[h] = sum * static_cast<double>(heads) / (kSlowest * static_cast<double>(h + 1));
  }

 private:
  double base_;
  int64_t dim_;
};

class Sandwich final : public DistanceScheme {
 public:
  Sandwich(double base, int64_t dim) : base_(base), dim_(dim) {}
  std::string_view type() const override { return "sandwich"; }

 protected:
  std::unique_ptr<DistanceSlice> MakeSlice() const override { return std::make_unique<SandwichSlice>(base_, dim_); }

 private:
  double base_;
  int64_t dim_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeSandwich(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "base", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "dim", .kind = Field::Kind::kNumber, .minimum = 2, .maximum = 65536, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  const auto dim = static_cast<int64_t>(NumberOr(description, "dim", kDim));
  if (dim % 2)
    return Status::Number(Code::kRange, "position.dim", static_cast<double>(dim), "an even number (pairs of waves)");
  return std::unique_ptr<Scheme>(std::make_unique<Sandwich>(NumberOr(description, "base", kBase), dim));
}

}  // namespace poslab
