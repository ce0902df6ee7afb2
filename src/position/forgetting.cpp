// SPDX-License-Identifier: MIT
#include "position/forgetting.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "position/forgetting_tile.h"

namespace poslab {
namespace {

constexpr double kStartBias = 5;

class Forgetting final : public TileScheme {
 public:
  std::string_view type() const override { return "forgetting"; }
  bool gates() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    std::vector<ParameterSpec> specs;
    if (dimensions.model_dim <= 0) return specs;  // gates are given
    if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    const double deviation = 1 / std::sqrt(static_cast<double>(dimensions.model_dim));
    AddSpec("gateWeight", {dimensions.heads, dimensions.model_dim}, {Start::Kind::kNormal, deviation, 0}, &specs, true);
    AddSpec("gateBias", {dimensions.heads}, {Start::Kind::kConstant, kStartBias, 0}, &specs);
    return specs;
  }

  Status MakeGates(const Dimensions& dimensions, ParameterValues parameters, const float* x, int64_t count,
                   float* gates) const override {
    const float *weight = Find(parameters, "gateWeight")->data, *bias = Find(parameters, "gateBias")->data;
    for (int64_t h = 0; h < dimensions.heads; ++h) {
      for (int64_t n = 0; n < count; ++n) {
        const double z = GateInput(weight, bias, dimensions.model_dim, h, x + n * dimensions.model_dim);
        gates[h * count + n] = static_cast<float>(std::min(z, 0.0) - Log(1 + Exp(-std::fabs(z))));
      }
    }
    return Status::Ok();
  }

  Status GatesBackward(const Dimensions& dimensions, ParameterValues parameters, const float* x, int64_t count,
                       const float* gate_gradients, float* x_gradient, ParameterGradients gradients) const override {
    const int64_t dim = dimensions.model_dim;
    const float *weight = Find(parameters, "gateWeight")->data, *bias = Find(parameters, "gateBias")->data;
    float *by_weight = Find(gradients, "gateWeight")->data, *by_bias = Find(gradients, "gateBias")->data;
    for (int64_t h = 0; h < dimensions.heads; ++h) {
      for (int64_t n = 0; n < count; ++n) {
        const float* row = x + n * dim;
        const double z = GateInput(weight, bias, dim, h, row);
        const auto gradient = static_cast<float>(gate_gradients[h * count + n] / (1 + Exp(z)));
        by_bias[h] += gradient;
        for (int64_t d = 0; d < dim; ++d) {
          by_weight[h * dim + d] += gradient * row[d];
          x_gradient[n * dim + d] += gradient * weight[h * dim + d];
        }
      }
    }
    return Status::Ok();
  }

 protected:
  std::unique_ptr<LearnedTile> MakeTile(const Dimensions&) const override { return std::make_unique<ForgettingTile>(); }

 private:
  static double GateInput(const float* weight, const float* bias, int64_t dim, int64_t head, const float* row) {
    double sum = bias[head];
    for (int64_t d = 0; d < dim; ++d) sum += static_cast<double>(weight[head * dim + d]) * row[d];
    return sum;
  }
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeForgetting(const Description& description) {
  POSLAB_RETURN_IF_ERROR(CheckFields(description, {}));
  return std::unique_ptr<Scheme>(std::make_unique<Forgetting>());
}

}  // namespace poslab
