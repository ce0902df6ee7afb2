// SPDX-License-Identifier: MIT
#include "position/relative_scalar.h"

#include <algorithm>

#include "position/distance_scheme.h"

namespace poslab {
namespace {

constexpr int64_t kMaxDistance = 128;
constexpr double kStartDeviation = 0.02;

class RelativeScalarSlice final : public DistanceSlice {
 public:
  explicit RelativeScalarSlice(int64_t max_distance) : max_distance_(max_distance) {}

  void Values(int64_t distance, double* bias) const override {
    const float* row = tensors.value(0) + Row(distance);
    std::copy(row, row + heads, bias);
  }
  void ValuesBackward(int64_t distance, const double* gradient) override {
    double* row = tensors.gradient(0) + Row(distance);
    for (int64_t h = 0; h < heads; ++h) row[h] += gradient[h];
  }
  int64_t lowest() const override { return -max_distance_; }
  int64_t highest() const override { return max_distance_; }

 private:
  int64_t Row(int64_t distance) const {
    return (std::clamp(distance, -max_distance_, max_distance_) + max_distance_) * heads;
  }

  int64_t max_distance_;
};

class RelativeScalar final : public DistanceScheme {
 public:
  explicit RelativeScalar(int64_t max_distance) : max_distance_(max_distance) {}
  std::string_view type() const override { return "relative-scalar"; }

 protected:
  void AddTensors(int64_t heads, std::vector<ParameterSpec>* specs) const override {
    AddSpec("table", {2 * max_distance_ + 1, heads}, {Start::Kind::kNormal, kStartDeviation, 0}, specs);
  }
  std::unique_ptr<DistanceSlice> MakeSlice() const override {
    return std::make_unique<RelativeScalarSlice>(max_distance_);
  }

 private:
  int64_t max_distance_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeRelativeScalar(const Description& description) {
  const Result<int64_t> max_distance = ReadMaxDistance(description, kMaxDistance);
  if (!max_distance.ok()) return max_distance.status();
  return std::unique_ptr<Scheme>(std::make_unique<RelativeScalar>(*max_distance));
}

}  // namespace poslab
