// SPDX-License-Identifier: MIT
#include "position/dynamic_bias.h"

#include <cmath>

#include "base/math.h"
#include "position/distance_scheme.h"
#include "position/small_mlp.h"

namespace poslab {
namespace {

constexpr double kWidth = 32, kDepth = 2;

// 1 -> width -> ... -> width -> heads
std::vector<int64_t> Widths(int64_t width, int64_t depth, int64_t heads) {
  std::vector<int64_t> widths(static_cast<size_t>(depth + 2), width);
  widths.front() = 1, widths.back() = heads;
  return widths;
}

class DynamicBiasSlice final : public DistanceSlice {
 public:
  DynamicBiasSlice(int64_t width, int64_t depth, bool by_logarithm)
      : width_(width), depth_(depth), by_logarithm_(by_logarithm) {}

  void Values(int64_t distance, double* bias) const override {
    if (!mlp_)
      mlp_ = std::make_unique<SmallMlp>(Widths(width_, depth_, heads), SmallMlp::Activation::kSilu,
                                        const_cast<LearnedTensors*>(&tensors), 0);
    double x = -static_cast<double>(distance);
    if (by_logarithm_) x = std::copysign(Log(1 + std::fabs(x)), x);
    mlp_->Forward(&x, bias);
  }

  void ValuesBackward(int64_t distance, const double* gradient) override {
    std::vector<double> unused(static_cast<size_t>(heads));
    Values(distance, unused.data());
    mlp_->Backward(gradient, nullptr);
  }

 private:
  int64_t width_, depth_;
  bool by_logarithm_;
  mutable std::unique_ptr<SmallMlp> mlp_;  // its scratch is of one call, like the slice
};

class DynamicBias final : public DistanceScheme {
 public:
  DynamicBias(int64_t width, int64_t depth, bool by_logarithm)
      : width_(width), depth_(depth), by_logarithm_(by_logarithm) {}
  std::string_view type() const override { return "dynamic-bias"; }

 protected:
  void AddTensors(int64_t heads, std::vector<ParameterSpec>* specs) const override {
    SmallMlp::AddSpecs(Widths(width_, depth_, heads), specs);
  }
  std::unique_ptr<DistanceSlice> MakeSlice() const override {
    return std::make_unique<DynamicBiasSlice>(width_, depth_, by_logarithm_);
  }

 private:
  int64_t width_, depth_;
  bool by_logarithm_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeDynamicBias(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "width", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 1024, .integer = true},
      {.name = "depth", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 16, .integer = true},
      {.name = "distance", .kind = Field::Kind::kText, .choices = "linear|log"},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return std::unique_ptr<Scheme>(
      std::make_unique<DynamicBias>(static_cast<int64_t>(NumberOr(description, "width", kWidth)),
                                    static_cast<int64_t>(NumberOr(description, "depth", kDepth)),
                                    TextOr(description, "distance", "linear") == "log"));
}

}  // namespace poslab
