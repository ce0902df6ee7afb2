// SPDX-License-Identifier: MIT
// Row look-up and its backward twin, the scatter of row gradients.
#include "position/learned.h"

#include <algorithm>

#include "position/positions.h"
#include "position/table_resize.h"

namespace poslab {
namespace {

constexpr double kStartDeviation = 0.02;  // as BERT and GPT-2
constexpr double kLargestRows = 1e9;

class Learned final : public Scheme {
 public:
  Learned(int64_t offset, int64_t rows, int64_t stretch_to) : offset_(offset), rows_(rows), stretch_to_(stretch_to) {}

  std::string_view type() const override { return "learned"; }
  bool embeds() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.model_dim <= 0) return Status::Text(Code::kMissing, "dim", "", "the width of a row of the table");
    if (rows_ == 0 && dimensions.trained_length <= 0) {
      return Status::Text(Code::kMissing, "position.rows", "", "how many rows the table has");
    }
    const int64_t rows = rows_ ? rows_ : std::max<int64_t>(1, dimensions.trained_length + offset_);
    std::vector<ParameterSpec> specs(1);
    specs[0].name = "table";
    specs[0].shape = {rows, dimensions.model_dim};
    specs[0].start = {Start::Kind::kNormal, kStartDeviation, 0};
    specs[0].shared_by_layers = true;
    return specs;
  }

  // A table that is given may have any number of rows (that many positions are defined), unless `rows` says how many.
  Status CheckParameters(const Dimensions& dimensions, ParameterValues parameters) const override {
    Learned as_given = *this;
    const TensorView<const float>* table = Find(parameters, "table");
    if (table && table->shape.size() == 2) {
      if (as_given.rows_ == 0) as_given.rows_ = table->shape[0];
      Dimensions known = dimensions;
      if (known.model_dim <= 0) known.model_dim = table->shape[1];
      return as_given.Scheme::CheckParameters(known, parameters);
    }
    if (as_given.rows_ == 0 && dimensions.trained_length <= 0) as_given.rows_ = 1;
    return as_given.Scheme::CheckParameters(dimensions, parameters);
  }

  Status AddEmbedding(Positions positions, int64_t dim, ParameterValues parameters, float* rows) const override {
    const TensorView<const float>* table = Find(parameters, "table");
    if (!table || !table->data) return Status::Text(Code::kMissing, "position.table", "", "a tensor");
    POSLAB_RETURN_IF_ERROR(CheckRows(positions, dim, table->shape));
    for (int64_t n = 0; n < positions.count; ++n) {
      for (const Tap& tap : TapsOf(positions[n], table->shape[0])) {
        const float* from = table->data + tap.at * dim;
        float* __restrict to = rows + n * dim;
        for (int64_t c = 0; c < dim; ++c) to[c] += static_cast<float>(tap.share * from[c]);
      }
    }
    return Status::Ok();
  }

  Status EmbeddingBackward(Positions positions, int64_t dim, const float* row_gradients,
                           ParameterGradients gradients) const override {
    const TensorView<float>* table = Find(gradients, "table");
    if (!table || !table->data) return Status::Ok();
    POSLAB_RETURN_IF_ERROR(CheckRows(positions, dim, table->shape));
    for (int64_t n = 0; n < positions.count; ++n) {
      for (const Tap& tap : TapsOf(positions[n], table->shape[0])) {
        const float* from = row_gradients + n * dim;
        float* __restrict to = table->data + tap.at * dim;
        for (int64_t c = 0; c < dim; ++c) to[c] += static_cast<float>(tap.share * from[c]);
      }
    }
    return Status::Ok();
  }

  int64_t DefinedLength(ParameterValues parameters) const override {
    const TensorView<const float>* table = Find(parameters, "table");
    const int64_t rows = table && !table->shape.empty() ? table->shape[0] : rows_;
    return rows > offset_ && stretch_to_ ? stretch_to_ : std::max<int64_t>(0, rows - offset_);
  }

 private:
  Status CheckRows(Positions positions, int64_t dim, const std::vector<int64_t>& shape) const {
    if (shape.size() != 2 || shape[1] != dim) {
      return Status::Number(Code::kShape, "position.table", shape.size() == 2 ? static_cast<double>(shape[1]) : 0,
                            "a table with rows of {0} numbers", static_cast<double>(dim));
    }
    POSLAB_RETURN_IF_ERROR(CheckPositions(positions, "positions"));
    const int64_t first_place = stretch_to_ ? 0 : -offset_;
    const int64_t places = !stretch_to_ ? shape[0] : shape[0] > offset_ && offset_ >= 0 ? stretch_to_ : 0;
    const auto first = static_cast<double>(first_place), last = static_cast<double>(first_place + places - 1);
    // Of contiguous positions the two ends tell; of given ids each.
    const int64_t step = positions.contiguous() ? std::max<int64_t>(1, positions.count - 1) : 1;
    for (int64_t n = 0; n < positions.count; n += step) {
      const int64_t place = positions[n] - first_place;
      if (place >= 0 && place < places) continue;
      // The first position that is outside, not merely the end that was looked at.
      const double given = positions.contiguous() && place >= places
                               ? std::max(static_cast<double>(positions.start), last + 1)
                               : static_cast<double>(positions[n]);
      return Status::Number(Code::kNotDefined, "position", given, "a position from {0} to {1}: the table has {2} rows",
                            first, last, static_cast<double>(shape[0]));
    }
    return Status::Ok();
  }

  // The rows that make up the one of a position, which has passed CheckRows.
  std::vector<Tap> TapsOf(int64_t position, int64_t rows) const {
    if (!stretch_to_) return {{position + offset_, 1}};
    std::vector<Tap> taps = StretchTaps(position, rows - offset_, stretch_to_);
    for (Tap& tap : taps) tap.at += offset_;
    return taps;
  }

  int64_t offset_;
  int64_t rows_;        // 0: not said
  int64_t stretch_to_;  // 0: not stretched
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeLearned(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "offset",
       .kind = Field::Kind::kNumber,
       .minimum = -kLargestRows,
       .maximum = kLargestRows,
       .integer = true},
      {.name = "rows", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = kLargestRows, .integer = true},
      {.name = "stretchTo", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = kLargestRows, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return std::unique_ptr<Scheme>(std::make_unique<Learned>(
      static_cast<int64_t>(NumberOr(description, "offset", 0)), static_cast<int64_t>(NumberOr(description, "rows", 0)),
      static_cast<int64_t>(NumberOr(description, "stretchTo", 0))));
}

}  // namespace poslab
