// SPDX-License-Identifier: MIT
// The band's table R W_r^T and its backward twin, both as matrix products.
#include "position/transformer_xl.h"

#include <algorithm>
#include <cmath>

#include "base/matmul.h"
#include "position/positions.h"
#include "position/sinusoidal.h"

namespace poslab {
namespace {

constexpr double kBase = 10000;
// Rows of sinusoids at hand at a time: all of them would be wider than the table that is made of them, by far.
constexpr int64_t kBlock = 256;

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
    specs[0].shape = {heads * head_dim, width};
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
    POSLAB_RETURN_IF_ERROR(Project(range, *projection, heads, head_dim, *width, &band->owned));
    band->table = band->owned.data();
    hooks->score_band = std::move(band);
    hooks->query_bias = *content_bias;
    return Status::Ok();
  }

  Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients& hook_gradients,
              ParameterGradients gradients) const override {
    Add(hook_gradients.query_bias, Find(gradients, "contentBias"));
    Add(hook_gradients.score_band_bias, Find(gradients, "positionBias"));
    const TensorView<float>* projection = Find(gradients, "projection");
    if (!projection || !projection->data || hook_gradients.score_band_table.empty()) return Status::Ok();

    // d W_r,h [D, dModel] += (d table_h [rows, D])^T R [rows, dModel]
    const Band& band = *hooks.score_band;
    const int64_t model_dim = projection->shape[1];
    return ForEachBlock({band.first, band.first + band.rows - 1}, model_dim,
                        [&](int64_t first, int64_t rows, const float* sinusoid) {
                          for (int64_t h = 0; h < arguments.dimensions.heads; ++h) {
                            MatMulArguments product;
                            product.m = band.width, product.n = model_dim, product.k = rows;
                            product.a = hook_gradients.score_band_table.data() + (h * band.rows + first) * band.width;
                            product.a_row_stride = 1, product.a_column_stride = band.width;
                            product.b = sinusoid, product.b_row_stride = model_dim;
                            product.c = projection->data + h * band.width * model_dim;
                            product.c_row_stride = model_dim;
                            product.accumulate = true;
                            MatMul(product);
                          }
                        });
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

  // Calls work(first, rows, R [rows, width]) for blocks of rows: row n of them all is the sinusoid of i - j for the
  // distance j - i = range.first + n. It is read from a block's last row backwards, because contiguous positions ascend
  // and i - j descends.
  template <typename Work>
  Status ForEachBlock(DistanceRange range, int64_t width, const Work& work) const {
    const int64_t all = range.last - range.first + 1, most = std::min(all, kBlock);
    Buffer<float> ascending, sinusoid;
    POSLAB_RETURN_IF_ERROR(ascending.ResizeForOverwrite("position.projection", CheckedProduct({most, width})));
    POSLAB_RETURN_IF_ERROR(sinusoid.ResizeForOverwrite("position.projection", CheckedProduct({most, width})));
    for (int64_t first = 0; first < all; first += kBlock) {
      const int64_t rows = std::min(kBlock, all - first);
      std::fill_n(ascending.data(), rows * width, 0.0f);
      POSLAB_RETURN_IF_ERROR(AddSinusoid({-(range.first + first + rows - 1), rows, nullptr}, width, base_,
                                         SinusoidLayout::kConcatenated, SinusoidDenominator::kDim, ascending.data()));
      for (int64_t n = 0; n < rows; ++n)
        std::copy_n(ascending.data() + (rows - 1 - n) * width, width, sinusoid.data() + n * width);
      work(first, rows, sinusoid.data());
    }
    return Status::Ok();
  }

  // table [H, rows, D] = R W_r^T, head by head.
  Status Project(DistanceRange range, const float* projection, int64_t heads, int64_t head_dim, int64_t width,
                 Buffer<float>* table) const {
    const int64_t all = range.last - range.first + 1, columns = heads * head_dim;
    POSLAB_RETURN_IF_ERROR(table->ResizeForOverwrite("position.projection", CheckedProduct({heads, all, head_dim})));
    Buffer<float> transposed;
    POSLAB_RETURN_IF_ERROR(transposed.ResizeForOverwrite("position.projection", CheckedProduct({columns, width})));
    for (int64_t n = 0; n < columns; ++n) {
      for (int64_t c = 0; c < width; ++c) transposed[c * columns + n] = projection[n * width + c];
    }
    return ForEachBlock(range, width, [&](int64_t first, int64_t rows, const float* sinusoid) {
      for (int64_t h = 0; h < heads; ++h) {
        MatMulArguments product;
        product.m = rows, product.n = head_dim, product.k = width;
        product.a = sinusoid, product.a_row_stride = width;
        product.b = transposed.data() + h * head_dim, product.b_row_stride = columns;
        product.c = table->data() + (h * all + first) * head_dim, product.c_row_stride = head_dim;
        MatMul(product);
      }
    });
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
