// SPDX-License-Identifier: MIT
// Slopes and the slice that carries them.
#include "position/alibi.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "position/positions.h"

namespace poslab {
namespace {

constexpr double kLastExponent = -8;  // the last of a power of two of heads has slope 2^-8

class AlibiSlice final : public Slice {
 public:
  AlibiSlice(Buffer<float> slopes, Buffer<float> future) : slopes_(std::move(slopes)), future_(std::move(future)) {}

  std::span<const float> slopes() const override { return future_.empty() ? slopes_.span() : std::span<const float>(); }

  void Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const override {
    const double slope = slopes_[head], future = future_.empty() ? slope : future_[head];
    for (int64_t n = 0; n < count; ++n) {
      const auto distance = static_cast<double>(first + n);
      bias[n] = static_cast<float>(distance > 0 ? -future * distance : slope * distance);
    }
  }

 private:
  Buffer<float> slopes_, future_;  // of keys after the query; empty: as before it
};

class Alibi final : public Scheme {
 public:
  Alibi(std::vector<double> given, std::vector<double> future, int64_t biased_heads)
      : given_(std::move(given)), future_(std::move(future)), biased_heads_(biased_heads) {}

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
    Buffer<float> slopes, future;
    POSLAB_RETURN_IF_ERROR(slopes.Resize("heads", heads));
    if (given_.empty()) {
      const Result<Buffer<float>> standard = AlibiSlopes(biased_heads_ ? biased_heads_ : heads);
      if (!standard.ok()) return standard.status();
      std::copy(standard->begin(), standard->end(), slopes.begin());  // heads past the biased ones keep 0
    }
    std::copy(given_.begin(), given_.end(), slopes.begin());
    if (!future_.empty()) POSLAB_RETURN_IF_ERROR(future.Resize("heads", heads));
    std::copy(future_.begin(), future_.end(), future.begin());
    hooks->slice = std::make_unique<AlibiSlice>(std::move(slopes), std::move(future));
    return Status::Ok();
  }

 private:
  Status CheckHeads(int64_t heads) const {
    if (heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    if (biased_heads_ > heads)
      return Status::Number(Code::kRange, "position.biasedHeads", static_cast<double>(biased_heads_),
                            "at most the number of heads, {0}", static_cast<double>(heads));
    for (const auto* list : {&given_, &future_}) {
      if (list->empty() || static_cast<int64_t>(list->size()) == heads) continue;
      return Status::Number(Code::kShape, list == &given_ ? "position.slopes" : "position.futureSlopes",
                            static_cast<double>(list->size()), "as many numbers as there are heads, {0}",
                            static_cast<double>(heads));
    }
    return Status::Ok();
  }

  std::vector<double> given_;   // empty: standard
  std::vector<double> future_;  // empty: the same on both sides
  int64_t biased_heads_;        // 0: all
};

std::vector<double> Numbers(const Field* field) {
  return field && field->kind == Field::Kind::kNumbers ? field->numbers : std::vector<double>();
}

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
      {.name = "futureSlopes", .kind = Field::Kind::kNumbers, .minimum = -3e38, .maximum = 3e38},
      {.name = "biasedHeads", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = kLargestWhole, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  const Field* slopes = FindField(description, "slopes");
  const bool given = slopes && slopes->kind == Field::Kind::kNumbers;
  if (given && slopes->numbers.empty()) {
    return Status::Number(Code::kShape, "position.slopes", 0, "\"standard\", or as many numbers as there are heads");
  }
  const auto biased_heads = static_cast<int64_t>(NumberOr(description, "biasedHeads", 0));
  if (given && biased_heads) {
    return Status::Number(Code::kContradiction, "position.biasedHeads", static_cast<double>(biased_heads),
                          "left out where slopes are given (a slope of 0 leaves a head without bias)");
  }
  return std::unique_ptr<Scheme>(
      std::make_unique<Alibi>(Numbers(slopes), Numbers(FindField(description, "futureSlopes")), biased_heads));
}

}  // namespace poslab
