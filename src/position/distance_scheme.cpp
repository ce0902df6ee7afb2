// SPDX-License-Identifier: MIT
#include "position/distance_scheme.h"

#include <algorithm>

namespace poslab {
namespace {

// Distances beyond this many are asked for one by one.
constexpr int64_t kLongestTable = 65536;

}  // namespace

Status DistanceSlice::Tabulate(DistanceRange range) {
  POSLAB_RETURN_IF_ERROR(one_.Resize("heads", heads));
  first_ = std::clamp(range.first, lowest(), highest());
  const int64_t rows = std::clamp(range.last, first_, highest()) - first_ + 1;
  if (rows > kLongestTable) return Status::Ok();
  POSLAB_RETURN_IF_ERROR(biases_.ResizeForOverwrite("position", CheckedProduct({rows, heads})));
  for (int64_t n = 0; n < rows; ++n) {
    Values(first_ + n, one_.data());
    for (int64_t h = 0; h < heads; ++h) biases_[h * rows + n] = static_cast<float>(one_[h]);
  }
  rows_ = rows;
  return learns() ? gradients_.Resize("position", biases_.size()) : Status::Ok();
}

void DistanceSlice::Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const {
  for (int64_t n = 0; n < count; ++n) {
    const int64_t row = first + n - first_;
    if (row >= 0 && row < rows_) {
      bias[n] = biases_[head * rows_ + row];
      continue;
    }
    Values(first + n, one_.data());
    bias[n] = static_cast<float>(one_[head]);
  }
}

void DistanceSlice::Accumulate(int64_t head, int64_t first, int64_t count, const double* gradient) {
  for (int64_t n = 0; learns() && n < count; ++n) {
    if (gradient[n] == 0) continue;
    const int64_t row = first + n - first_;
    if (row >= 0 && row < rows_) {
      gradients_[row * heads + head] += gradient[n];
      continue;
    }
    std::fill(one_.begin(), one_.end(), 0.0);
    one_[head] = gradient[n];
    ValuesBackward(first + n, one_.data());
  }
}

void DistanceSlice::Finish() {
  for (int64_t n = 0; n < rows_; ++n) {
    double* gradient = gradients_.data() + n * heads;
    if (std::all_of(gradient, gradient + heads, [](double entry) { return entry == 0; })) continue;
    ValuesBackward(first_ + n, gradient);
    std::fill_n(gradient, heads, 0.0);
  }
}

Result<std::vector<ParameterSpec>> DistanceScheme::Parameters(const Dimensions& dimensions) const {
  if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
  std::vector<ParameterSpec> specs;
  AddTensors(dimensions.heads, &specs);
  return specs;
}

Status DistanceScheme::Bind(const BindArguments& arguments, Hooks* hooks) const {
  POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments));
  std::unique_ptr<DistanceSlice> slice = MakeSlice();
  slice->heads = arguments.dimensions.heads;
  POSLAB_RETURN_IF_ERROR(slice->tensors.Bind(*this, arguments));
  POSLAB_RETURN_IF_ERROR(slice->Tabulate(RangeOfDistances(arguments.query_positions, arguments.key_positions)));
  hooks->slice = std::move(slice);
  return Status::Ok();
}

Status DistanceScheme::Pull(const BindArguments&, const Hooks& hooks, const HookGradients&,
                            ParameterGradients gradients) const {
  auto& slice = static_cast<DistanceSlice&>(*hooks.slice);
  if (!slice.learns()) return Status::Ok();
  slice.Finish();
  slice.tensors.Pull(gradients);
  return Status::Ok();
}

}  // namespace poslab
