// SPDX-License-Identifier: MIT
// Slopes and the slice that carries them.
#include "position/alibi.h"

#include <cmath>

#include "base/math.h"
#include "position/positions.h"

namespace poslab {
namespace {

constexpr double kLastExponent = -8;  // the last of a power of two of heads has slope 2^-8

class AlibiSlice final : public Slice {
 public:
  explicit AlibiSlice(Buffer<float> slopes) : slopes_(std::move(slopes)) {}

  std::span<const float> slopes() const override { return slopes_.span(); }

  void Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const override {
    const double slope = slopes_[head];
    for (int64_t n = 0; n < count; ++n)
      bias[n] = static_cast<float>(-slope * std::fabs(static_cast<double>(first + n)));
  }

 private:
  Buffer<float> slopes_;
};

class Alibi final : public Scheme {
 public:
  explicit Alibi(std::vector<double> given) : given_(std::move(given)) {}

  std::string_view type() const override { return "alibi"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.heads > 0) POSLAB_RETURN_IF_ERROR(CheckHeads(dimensions.heads));
    return std::vector<ParameterSpec>();
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    const int64_t heads = arguments.dimensions.heads;
    POSLAB_RETURN_IF_ERROR(CheckHeads(heads));
    POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments));
    Result<Buffer<float>> slopes = given_.empty() ? AlibiSlopes(heads) : Buffer<float>::Make("position.slopes", heads);
    if (!slopes.ok()) return slopes.status();
    for (size_t h = 0; h < given_.size(); ++h) (*slopes)[static_cast<int64_t>(h)] = static_cast<float>(given_[h]);
    hooks->slice = std::make_unique<AlibiSlice>(std::move(*slopes));
    return Status::Ok();
  }

 private:
  Status CheckHeads(int64_t heads) const {
    if (heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    if (given_.empty() || static_cast<int64_t>(given_.size()) == heads) return Status::Ok();
    return Status::Number(Code::kShape, "position.slopes", static_cast<double>(given_.size()),
                          "as many numbers as there are heads, {0}", static_cast<double>(heads));
  }

  std::vector<double> given_;  // empty: standard
};

}  // namespace

Result<Buffer<float>> AlibiSlopes(int64_t heads) {
  Result<Buffer<float>> slopes = Buffer<float>::Make("heads", heads);
  if (!slopes.ok()) return slopes;
  int64_t power = 1;
  while (power * 2 <= heads) power *= 2;
  const double step = kLastExponent / static_cast<double>(power);
  for (int64_t h = 0; h < heads; ++h) {
    // Heads past the power of two take the odd places of the series with half the step.
    const double exponent =
        h < power ? step * static_cast<double>(h + 1) : step / 2 * static_cast<double>(2 * (h - power) + 1);
    (*slopes)[h] = static_cast<float>(Pow(2, exponent));
  }
  return slopes;
}

Result<std::unique_ptr<Scheme>> MakeAlibi(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "slopes",
       .kind = Field::Kind::kText,
       .minimum = -3e38,
       .maximum = 3e38,
       .choices = "standard",
       .or_numbers = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  const Field* slopes = FindField(description, "slopes");
  const bool given = slopes && slopes->kind == Field::Kind::kNumbers;
  if (given && slopes->numbers.empty()) {
    return Status::Number(Code::kShape, "position.slopes", 0, "\"standard\", or as many numbers as there are heads");
  }
  return std::unique_ptr<Scheme>(std::make_unique<Alibi>(given ? slopes->numbers : std::vector<double>()));
}

}  // namespace poslab
