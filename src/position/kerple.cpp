// SPDX-License-Identifier: MIT
// The two kernels with their derivatives beside them.
#include "position/kerple.h"

#include <cmath>

#include "base/math.h"
#include "position/positions.h"

namespace poslab {
namespace {

constexpr float kMinimum = 0.01f;  // the floor of the authors' code

enum class Kernel { kLog, kPower };

class KerpleSlice final : public Slice {
 public:
  KerpleSlice(Kernel kernel, const float* r1, const float* r2, Buffer<double> gradients)
      : kernel_(kernel), r1_(r1), r2_(r2), gradients_(std::move(gradients)) {}

  void Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const override {
    const double r1 = r1_[head], r2 = r2_[head];
    for (int64_t n = 0; n < count; ++n) {
      const double distance = std::fabs(static_cast<double>(first + n));
      if (kernel_ == Kernel::kLog) {
        bias[n] = static_cast<float>(-r1 * Log(1 + r2 * distance));
        continue;
      }
      // 0 at distance 0 whatever the exponent: pow(0, 0) would be 1.
      const double power = distance == 0 ? 0 : Pow(distance, r2);
      bias[n] = static_cast<float>(-r1 * power);
    }
  }

  void Accumulate(int64_t head, int64_t first, int64_t count, const double* gradient) override {
    const double r1 = r1_[head], r2 = r2_[head];
    double by_r1 = 0, by_r2 = 0;
    for (int64_t n = 0; n < count; ++n) {
      const double distance = std::fabs(static_cast<double>(first + n));
      // Both kernels are zero at distance 0 for every r1 and r2, and the power's derivative would meet ln 0.
      if (distance == 0) continue;
      if (kernel_ == Kernel::kLog) {
        by_r1 -= gradient[n] * Log(1 + r2 * distance);
        by_r2 -= gradient[n] * r1 * distance / (1 + r2 * distance);
      } else {
        const double power = Pow(distance, r2);
        by_r1 -= gradient[n] * power;
        by_r2 -= gradient[n] * r1 * power * Log(distance);
      }
    }
    gradients_[2 * head] += by_r1;
    gradients_[2 * head + 1] += by_r2;
  }

  bool learns() const override { return true; }
  const Buffer<double>& gradients() const { return gradients_; }

 private:
  Kernel kernel_;
  const float* r1_;
  const float* r2_;
  Buffer<double> gradients_;  // [heads, 2]: of r1 and r2
};

class Kerple final : public Scheme {
 public:
  explicit Kerple(Kernel kernel) : kernel_(kernel) {}

  std::string_view type() const override { return "kerple"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    std::vector<ParameterSpec> specs(2);
    specs[0].name = "r1";
    specs[0].start = {Start::Kind::kUniform, 0, 2};
    specs[1].name = "r2";
    specs[1].start = {Start::Kind::kUniform, 0, 1};
    for (ParameterSpec& spec : specs) {
      spec.shape = {dimensions.heads};
      spec.minimum = kMinimum;
    }
    return specs;
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    const int64_t heads = arguments.dimensions.heads;
    POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments));
    const Result<const float*> r1 = Numbers(arguments.parameters, "r1", {heads});
    if (!r1.ok()) return r1.status();
    const Result<const float*> r2 = Numbers(arguments.parameters, "r2", {heads});
    if (!r2.ok()) return r2.status();
    POSLAB_RETURN_IF_ERROR(CheckPositive("position.r1", *r1, heads));
    POSLAB_RETURN_IF_ERROR(CheckPositive("position.r2", *r2, heads));
    Result<Buffer<double>> gradients = Buffer<double>::Make("heads", CheckedProduct({heads, 2}));
    if (!gradients.ok()) return gradients.status();
    hooks->slice = std::make_unique<KerpleSlice>(kernel_, *r1, *r2, std::move(*gradients));
    return Status::Ok();
  }

  Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients&,
              ParameterGradients gradients) const override {
    const auto& slice = static_cast<const KerpleSlice&>(*hooks.slice);
    const TensorView<float>*r1 = Find(gradients, "r1"), *r2 = Find(gradients, "r2");
    for (int64_t h = 0; h < arguments.dimensions.heads; ++h) {
      if (r1) r1->data[h] += static_cast<float>(slice.gradients()[2 * h]);
      if (r2) r2->data[h] += static_cast<float>(slice.gradients()[2 * h + 1]);
    }
    return Status::Ok();
  }

 private:
  // Below zero the kernel is no longer one (and ln(1 + r2 d) not defined); zero itself is a bias of nothing.
  static Status CheckPositive(std::string_view argument, const float* numbers, int64_t count) {
    for (int64_t n = 0; n < count; ++n) {
      if (std::isfinite(numbers[n]) && numbers[n] >= 0) continue;
      return Status::Number(Code::kRange, argument, numbers[n], "finite numbers of at least 0");
    }
    return Status::Ok();
  }

  Kernel kernel_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeKerple(const Description& description) {
  static constexpr FieldRule kRules[] = {{.name = "kind", .kind = Field::Kind::kText, .choices = "log|power"}};
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  const bool log = TextOr(description, "kind", "log") == "log";
  return std::unique_ptr<Scheme>(std::make_unique<Kerple>(log ? Kernel::kLog : Kernel::kPower));
}

}  // namespace poslab
