// SPDX-License-Identifier: MIT
// Tables of sines and cosines over the angle rows.
#include "position/sinusoidal.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "base/simd.h"
#include "position/angles.h"
#include "position/learned_tensors.h"
#include "position/positions.h"

namespace poslab {
namespace {

constexpr double kBase = 10000;  // Vaswani et al. 2017

// Four doubles as floats.
v128_t Rounded(const double* x) {
  const v128_t first = wasm_f32x4_demote_f64x2_zero(wasm_v128_load(x));
  const v128_t second = wasm_f32x4_demote_f64x2_zero(wasm_v128_load(x + 2));
  return wasm_i32x4_shuffle(first, second, 0, 1, 4, 5);
}

void AddTo(float* row, v128_t x) { wasm_v128_store(row, wasm_f32x4_add(wasm_v128_load(row), x)); }

// row[k] += x[k]
void AddRounded(const double* x, int64_t count, float* row) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) AddTo(row + k, Rounded(x + k));
  for (; k < count; ++k) row[k] += static_cast<float>(x[k]);
}

// row[2k] += even[k], row[2k + 1] += odd[k]
void AddInterleaved(const double* even, const double* odd, int64_t count, float* row) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const v128_t x = Rounded(even + k), y = Rounded(odd + k);
    AddTo(row + 2 * k, wasm_i32x4_shuffle(x, y, 0, 4, 1, 5));
    AddTo(row + 2 * k + 4, wasm_i32x4_shuffle(x, y, 2, 6, 3, 7));
  }
  for (; k < count; ++k) {
    row[2 * k] += static_cast<float>(even[k]);
    row[2 * k + 1] += static_cast<float>(odd[k]);
  }
}

// With half-dim-minus-one, a half of one column would be divided by zero.
Status CheckDim(int64_t dim, SinusoidDenominator denominator) {
  const int64_t smallest = denominator == SinusoidDenominator::kHalfDimMinusOne ? 4 : 1;
  if (dim >= smallest) return Status::Ok();
  return Status::Number(Code::kRange, "dim", static_cast<double>(dim), "a whole number of at least {0}",
                        static_cast<double>(smallest));
}

class Sinusoidal final : public Scheme {
 public:
  Sinusoidal(double base, SinusoidLayout layout, SinusoidDenominator denominator, bool scaled)
      : base_(base), layout_(layout), denominator_(denominator), scaled_(scaled) {}

  std::string_view type() const override { return "sinusoidal"; }
  bool embeds() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.model_dim > 0) POSLAB_RETURN_IF_ERROR(CheckDim(dimensions.model_dim, denominator_));
    std::vector<ParameterSpec> specs;
    if (!scaled_) return specs;
    if (dimensions.model_dim <= 0) return Status::Text(Code::kMissing, "dim", "", "the width of a token's vector");
    const double start = 1 / std::sqrt(static_cast<double>(dimensions.model_dim));
    AddSpec("scale", {1}, {Start::Kind::kConstant, start, 0}, &specs);
    specs[0].shared_by_layers = true;
    return specs;
  }

  Status AddEmbedding(Positions positions, int64_t dim, ParameterValues parameters, float* rows) const override {
    if (!scaled_) return AddSinusoid(positions, dim, base_, layout_, denominator_, rows);
    Buffer<float> waves;
    POSLAB_RETURN_IF_ERROR(Waves(positions, dim, &waves));
    const Result<const float*> scale = Numbers(parameters, "scale", {1});
    if (!scale.ok()) return scale.status();
    for (int64_t n = 0; n < waves.size(); ++n) rows[n] += **scale * waves[n];
    return Status::Ok();
  }

  Status EmbeddingBackward(Positions positions, int64_t dim, const float* row_gradients,
                           ParameterGradients gradients) const override {
    const TensorView<float>* scale = Find(gradients, "scale");
    if (!scale || !scale->data) return Status::Ok();
    Buffer<float> waves;
    POSLAB_RETURN_IF_ERROR(Waves(positions, dim, &waves));
    double sum = 0;
    for (int64_t n = 0; n < waves.size(); ++n) sum += static_cast<double>(waves[n]) * row_gradients[n];
    scale->data[0] += static_cast<float>(sum);
    return Status::Ok();
  }

 private:
  Status Waves(Positions positions, int64_t dim, Buffer<float>* waves) const {
    POSLAB_RETURN_IF_ERROR(waves->Resize("dim", CheckedProduct({positions.count, dim})));
    return AddSinusoid(positions, dim, base_, layout_, denominator_, waves->data());
  }

  double base_;
  SinusoidLayout layout_;
  SinusoidDenominator denominator_;
  bool scaled_;
};

}  // namespace

Result<Buffer<double>> SinusoidFrequencies(double base, int64_t dim, SinusoidDenominator denominator) {
  POSLAB_RETURN_IF_ERROR(CheckDim(dim, denominator));
  const bool by_half = denominator == SinusoidDenominator::kHalfDimMinusOne;
  const int64_t half = dim / 2, pairs = by_half ? half : half + dim % 2;
  const double denominator_value = by_half ? static_cast<double>(half - 1) : static_cast<double>(dim);
  Result<Buffer<double>> frequencies = Buffer<double>::Make("dim", pairs);
  if (!frequencies.ok()) return frequencies;
  for (int64_t k = 0; k < pairs; ++k) {
    const double numerator = static_cast<double>(by_half ? k : 2 * k);
    (*frequencies)[k] = Pow(base, -numerator / denominator_value);
  }
  return frequencies;
}

Status AddSinusoid(Positions positions, int64_t dim, double base, SinusoidLayout layout,
                   SinusoidDenominator denominator, float* rows) {
  POSLAB_RETURN_IF_ERROR(CheckPositions(positions, "start"));
  const Result<Buffer<double>> frequencies = SinusoidFrequencies(base, dim, denominator);
  if (!frequencies.ok()) return frequencies.status();
  Result<AngleRows> angles = AngleRows::Make(positions, frequencies->span());
  if (!angles.ok()) return angles.status();

  const int64_t sines = frequencies->size(), cosines = std::min(sines, dim - sines);
  const bool interleaved = layout == SinusoidLayout::kInterleaved;
  for (int64_t n = 0; n < positions.count; ++n) {
    angles->Row(n);
    const double *sin = angles->sines(), *cos = angles->cosines();
    float* row = rows + n * dim;
    if (interleaved) {
      AddInterleaved(sin, cos, cosines, row);
      for (int64_t k = cosines; k < sines; ++k) row[2 * k] += static_cast<float>(sin[k]);
    } else {
      AddRounded(sin, sines, row);
      AddRounded(cos, cosines, row + sines);
    }
  }
  return Status::Ok();
}

void RoundSinusoid(const AngleRows& angles, int64_t pairs, float* row) {
  std::fill_n(row, 2 * pairs, 0.0f);
  AddRounded(angles.sines(), pairs, row);
  AddRounded(angles.cosines(), pairs, row + pairs);
}

Result<std::unique_ptr<Scheme>> MakeSinusoidal(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "base", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "layout", .kind = Field::Kind::kText, .choices = "interleaved|concatenated"},
      {.name = "denominator", .kind = Field::Kind::kText, .choices = "dim|half-dim-minus-one"},
      {.name = "scaled", .kind = Field::Kind::kBoolean},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  const bool concatenated = TextOr(description, "layout", "interleaved") == "concatenated";
  const bool by_half = TextOr(description, "denominator", "dim") == "half-dim-minus-one";
  return std::unique_ptr<Scheme>(std::make_unique<Sinusoidal>(
      NumberOr(description, "base", kBase), concatenated ? SinusoidLayout::kConcatenated : SinusoidLayout::kInterleaved,
      by_half ? SinusoidDenominator::kHalfDimMinusOne : SinusoidDenominator::kDim,
      BooleanOr(description, "scaled", false)));
}

}  // namespace poslab
