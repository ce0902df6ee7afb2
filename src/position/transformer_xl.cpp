// SPDX-License-Identifier: MIT
// The band's rows R W_r^T and their backward twin, both as matrix products.
#include "position/transformer_xl.h"

#include <algorithm>
#include <cmath>

#include "base/matmul.h"
#include "base/transpose.h"
#include "position/angles.h"
#include "position/positions.h"
#include "position/sinusoidal.h"

namespace poslab {
namespace {

constexpr double kBase = 10000;
// Rows of sinusoids at hand at a time, and numbers (256 KiB) unless even 16 rows are more: all of them would be wider
// than the table that is made of them, by far.
constexpr int64_t kBlock = 256;
constexpr int64_t kSinusoids = 65536;
// A table of all heads that is larger (512 KiB) is not made: attention makes its rows as it needs them.
constexpr int64_t kWhole = 131072;

// table [H, rows, D] = R W_r^T, rows of sinusoids R for ascending distances j - i, and its backward twin.
class ProjectedSinusoids final : public BandRows {
 public:
  // projection: [H * head_dim, width]
  ProjectedSinusoids(double base, int64_t distance, const float* projection, int64_t head_dim, int64_t width)
      : base_(base), distance_(distance), projection_(projection), head_dim_(head_dim), width_(width) {}

  // Whether one head's rows can be had at all.
  Status Check(int64_t rows) const {
    const int64_t size = CheckedProduct({rows, head_dim_});
    if (size >= 0 && static_cast<uint64_t>(size) <= kMaxBytes / sizeof(float)) return Status::Ok();
    Buffer<float> table;
    return table.ResizeForOverwrite("position.projection", size);
  }

  Status Fill(int64_t head, int64_t heads, int64_t first, int64_t count, float* rows) const override {
    const int64_t columns = heads * head_dim_;
    Buffer<float> transposed;
    POSLAB_RETURN_IF_ERROR(transposed.ResizeForOverwrite("position.projection", CheckedProduct({columns, width_})));
    Transpose(projection_ + head * head_dim_ * width_, width_, columns, width_, transposed.data(), columns);
    return ForEachBlock(first, count, [&](int64_t at, int64_t height, const float* sinusoid) {
      for (int64_t h = 0; h < heads; ++h) {
        MatMulArguments product;
        product.m = height, product.n = head_dim_, product.k = width_;
        product.a = sinusoid, product.a_row_stride = width_;
        product.b = transposed.data() + h * head_dim_, product.b_row_stride = columns;
        product.c = rows + (h * count + at) * head_dim_, product.c_row_stride = head_dim_;
        MatMul(product);
      }
    });
  }

  // d W_r,h [D, width] += (d table_h [rows, D])^T R [rows, width]
  Status Pull(int64_t head, int64_t heads, int64_t first, int64_t count, const float* row_gradients,
              ParameterGradients gradients) const override {
    const auto projection = std::find_if(gradients.begin(), gradients.end(),
                                         [](const TensorView<float>& tensor) { return tensor.name == "projection"; });
    if (projection == gradients.end() || !projection->data) return Status::Ok();
    return ForEachBlock(first, count, [&](int64_t at, int64_t height, const float* sinusoid) {
      for (int64_t h = 0; h < heads; ++h) {
        MatMulArguments product;
        product.m = head_dim_, product.n = width_, product.k = height;
        product.a = row_gradients + (h * count + at) * head_dim_;
        product.a_row_stride = 1, product.a_column_stride = head_dim_;
        product.b = sinusoid, product.b_row_stride = width_;
        product.c = projection->data + (head + h) * head_dim_ * width_;
        product.c_row_stride = width_;
        product.accumulate = true;
        MatMul(product);
      }
    });
  }

 private:
  // Calls work(at, rows, R [rows, width]) for blocks of the rows from `first` on: row n of them is the sinusoid of i - j
  // for the distance j - i = distance + first + n. Contiguous positions ascend and i - j descends: angles are read from
  // the last one backwards.
  template <typename Work>
  Status ForEachBlock(int64_t first, int64_t count, const Work& work) const {
    const Result<Buffer<double>> frequencies = SinusoidFrequencies(base_, width_, SinusoidDenominator::kDim);
    if (!frequencies.ok()) return frequencies.status();
    const int64_t block = std::clamp<int64_t>(kSinusoids / width_, kBlock / 16, kBlock);
    // One set of angles serves more blocks of wide sinusoids.
    const int64_t stretch = kBlock * kBlock / block;
    Buffer<float> sinusoid;
    POSLAB_RETURN_IF_ERROR(
        sinusoid.ResizeForOverwrite("position.projection", CheckedProduct({std::min(block, count), width_})));
    for (int64_t start = 0; start < count; start += stretch) {
      const int64_t last = std::min(start + stretch, count) - 1;
      const Positions positions{-(distance_ + first + last), last + 1 - start, nullptr};
      POSLAB_RETURN_IF_ERROR(CheckPositions(positions, "start"));
      Result<AngleRows> angles = AngleRows::Make(positions, frequencies->span());
      if (!angles.ok()) return angles.status();
      for (int64_t at = start; at <= last; at += block) {
        const int64_t rows = std::min(block, last + 1 - at);
        for (int64_t n = 0; n < rows; ++n) {
          angles->Row(last - at - n);
          RoundSinusoid(*angles, frequencies->size(), sinusoid.data() + n * width_);
        }
        work(at, rows, sinusoid.data());
      }
    }
    return Status::Ok();
  }

  double base_;
  int64_t distance_;  // j - i of row 0
  const float* projection_;
  int64_t head_dim_, width_;
};

class TransformerXl final : public Scheme {
 public:
  TransformerXl(double base, int64_t clamp_length) : base_(base), clamp_length_(clamp_length) {}

  std::string_view type() const override { return "transformer-xl"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    const int64_t heads = dimensions.heads, head_dim = dimensions.head_dim, width = dimensions.model_dim;
    if (heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    if (head_dim <= 0) return Status::Text(Code::kMissing, "headDim", "", "the width of a query and key head");
    if (width <= 0) return Status::Text(Code::kMissing, "dim", "", "the width of a token's vector");
    if (width % 2) {
      return Status::Number(Code::kRange, "dim", static_cast<double>(width), "an even number (sines and cosines)");
    }
    std::vector<ParameterSpec> specs(3);
    specs[0].name = "projection";
    specs[0].shape = {CheckedProduct({heads, head_dim}), width};
    specs[0].start = {Start::Kind::kNormal, 1 / std::sqrt(static_cast<double>(width)), 0};
    specs[0].decay = true;
    specs[1].name = "contentBias";
    specs[2].name = "positionBias";
    for (size_t n : {1, 2}) specs[n].shape = {heads, head_dim};
    return specs;
  }

  // The width of a given projection need not be known from elsewhere.
  Status CheckParameters(const Dimensions& dimensions, ParameterValues parameters) const override {
    Dimensions known = dimensions;
    const TensorView<const float>* projection = Find(parameters, "projection");
    if (!projection) return Status::Text(Code::kMissing, "position.projection", "", "a tensor [H*D, dModel]");
    if (known.model_dim <= 0 && projection->shape.size() == 2) known.model_dim = projection->shape[1];
    return Scheme::CheckParameters(known, parameters);
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments));
    const Dimensions& dimensions = arguments.dimensions;
    const int64_t heads = dimensions.heads, head_dim = dimensions.head_dim;
    const Result<int64_t> width = ProjectionWidth(arguments);
    if (!width.ok()) return width.status();
    const Result<const float*> projection =
        Numbers(arguments.parameters, "projection", {CheckedProduct({heads, head_dim}), *width});
    if (!projection.ok()) return projection.status();
    const Result<const float*> content_bias = Numbers(arguments.parameters, "contentBias", {heads, head_dim});
    if (!content_bias.ok()) return content_bias.status();
    const Result<const float*> position_bias = Numbers(arguments.parameters, "positionBias", {heads, head_dim});
    if (!position_bias.ok()) return position_bias.status();

    auto band = std::make_unique<Band>();
    const DistanceRange range = ClampedRange(arguments);
    band->first = range.first;
    band->rows = range.last - range.first + 1;
    band->width = head_dim;
    band->per_head = true;
    band->bias = *position_bias;
    const int64_t size = CheckedProduct({heads, band->rows, head_dim});
    auto rows = std::make_unique<ProjectedSinusoids>(base_, range.first, *projection, head_dim, *width);
    if (size >= 0 && size <= kWhole) {
      POSLAB_RETURN_IF_ERROR(band->owned.ResizeForOverwrite("position.projection", size));
      POSLAB_RETURN_IF_ERROR(rows->Fill(0, heads, 0, band->rows, band->owned.data()));
      band->table = band->owned.data();
    } else {
      POSLAB_RETURN_IF_ERROR(rows->Check(band->rows));
      band->made = std::move(rows);
    }
    hooks->score_band = std::move(band);
    hooks->query_bias = *content_bias;
    return Status::Ok();
  }

  Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients& hook_gradients,
              ParameterGradients gradients) const override {
    Add(hook_gradients.query_bias, Find(gradients, "contentBias"));
    Add(hook_gradients.score_band_bias, Find(gradients, "positionBias"));
    if (hook_gradients.score_band_table.empty()) return Status::Ok();
    const Band& band = *hooks.score_band;
    const int64_t heads = arguments.dimensions.heads;
    const TensorView<const float>* projection = Find(arguments.parameters, "projection");
    return ProjectedSinusoids(base_, band.first, projection->data, band.width, projection->shape[1])
        .Pull(0, heads, 0, band.rows, hook_gradients.score_band_table.data(), gradients);
  }

 private:
  static Result<int64_t> ProjectionWidth(const BindArguments& arguments) {
    const TensorView<const float>* projection = Find(arguments.parameters, "projection");
    if (!projection) return Status::Text(Code::kMissing, "position.projection", "", "a tensor [H*D, dModel]");
    const int64_t width = projection->shape.size() == 2 ? projection->shape[1] : 0;
    if (width <= 0 || width % 2) {
      return Status::Number(Code::kShape, "position.projection", static_cast<double>(width),
                            "a matrix [H*D, dModel] with an even dModel (sines and cosines)");
    }
    return width;
  }

  DistanceRange ClampedRange(const BindArguments& arguments) const {
    DistanceRange range = RangeOfDistances(arguments.query_positions, arguments.key_positions);
    if (clamp_length_) {
      range.first = std::clamp(range.first, -clamp_length_, clamp_length_);
      range.last = std::clamp(range.last, -clamp_length_, clamp_length_);
    }
    return range;
  }

  static void Add(const Buffer<float>& from, const TensorView<float>* to) {
    if (!to || !to->data) return;
    for (int64_t n = 0; n < from.size(); ++n) to->data[n] += from[n];
  }

  double base_;
  int64_t clamp_length_;  // 0: none
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeTransformerXl(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "base", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "clampLength", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = kLargestWhole, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return std::unique_ptr<Scheme>(std::make_unique<TransformerXl>(
      NumberOr(description, "base", kBase), static_cast<int64_t>(NumberOr(description, "clampLength", 0))));
}

}  // namespace poslab
