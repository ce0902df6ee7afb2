// SPDX-License-Identifier: MIT
#include "position/tisa.h"

#include <cmath>

#include "base/math.h"
#include "position/distance_scheme.h"

namespace poslab {
namespace {

constexpr double kKernels = 5;
// Broad low bells around offsets that break the symmetry between the kernels.
constexpr Start kHeights{Start::Kind::kUniform, 0.08, 0.12};
constexpr Start kOffsets{Start::Kind::kNormal, 5, 0};

class TisaSlice final : public DistanceSlice {
 public:
  explicit TisaSlice(int64_t kernels) : kernels_(kernels) {}

  void Values(int64_t distance, double* bias) const override {
    for (int64_t h = 0; h < heads; ++h) {
      bias[h] = 0;
      for (int64_t n = h * kernels_; n < (h + 1) * kernels_; ++n) bias[h] += tensors.value(0)[n] * Bell(distance, n);
    }
  }

  void ValuesBackward(int64_t distance, const double* gradient) override {
    for (int64_t n = 0; n < heads * kernels_; ++n) {
      const double g = gradient[n / kernels_], bell = Bell(distance, n), away = Away(distance, n);
      const double through = g * tensors.value(0)[n] * bell;  // times the exponent's derivative
      const double sharpness = tensors.value(1)[n];
      tensors.gradient(0)[n] += g * bell;
      tensors.gradient(1)[n] -= through * away * away * (sharpness < 0 ? -1 : 1);
      tensors.gradient(2)[n] += through * 2 * std::fabs(sharpness) * away;
    }
  }

 private:
  double Away(int64_t distance, int64_t n) const { return static_cast<double>(distance) - tensors.value(2)[n]; }
  double Bell(int64_t distance, int64_t n) const {
    const double away = Away(distance, n);
    return Exp(-std::fabs(static_cast<double>(tensors.value(1)[n])) * away * away);
  }

  int64_t kernels_;
};

class Tisa final : public DistanceScheme {
 public:
  explicit Tisa(int64_t kernels) : kernels_(kernels) {}
  std::string_view type() const override { return "tisa"; }

 protected:
  void AddTensors(int64_t heads, std::vector<ParameterSpec>* specs) const override {
    AddSpec("amplitudes", {heads, kernels_}, kHeights, specs);
    AddSpec("sharpnesses", {heads, kernels_}, kHeights, specs);
    AddSpec("offsets", {heads, kernels_}, kOffsets, specs);
  }
  std::unique_ptr<DistanceSlice> MakeSlice() const override { return std::make_unique<TisaSlice>(kernels_); }

 private:
  int64_t kernels_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeTisa(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "kernels", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 4096, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return std::unique_ptr<Scheme>(
      std::make_unique<Tisa>(static_cast<int64_t>(NumberOr(description, "kernels", kKernels))));
}

}  // namespace poslab
