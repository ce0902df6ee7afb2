// SPDX-License-Identifier: MIT
// The perceptron of one number is a broken line, the same for every entry of a call: its pieces are worked out once, an
// entry finds its piece and costs a multiplication, and gradients are summed by piece until Pull.
#include "position/fire.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "position/small_mlp.h"
#include "position/tile_scheme.h"

namespace poslab {
namespace {

constexpr double kWidth = 32, kThreshold = 512, kStartC = 0.1;  // of the paper's listing
constexpr double kEpsilon = 1e-6;
enum Tensor : size_t { kC, kLengthFactor, kWeight1, kBias1, kWeight2, kBias2 };

class FireTile final : public LearnedTile {
 public:
  FireTile(int64_t heads, int64_t width, double threshold) : heads_(heads), width_(width), threshold_(threshold) {}
  bool position_only() const override { return true; }
  Status Prepare(const BindArguments&) override;
  Status Forward(const TileArguments& tile) const override;
  Status Backward(const TileArguments& tile, const TileGradients& gradients) override;
  // Gradients by piece to gradients of tensors.
  void Finish() override;

 private:
  struct Piece {
    double slope, offset;
  };
  struct Normalizer {
    double value, by_c, by_factor;  // and its derivatives
  };

  double c() const { return std::fabs(static_cast<double>(tensors.value(kC)[0])); }
  double LogAt(int64_t distance) const { return Log(1 + c() * std::fabs(static_cast<double>(distance))); }
  Normalizer NormalizerOf(int64_t position) const;
  int64_t PieceOf(double x) const { return std::upper_bound(ends_.begin(), ends_.end(), x) - ends_.begin(); }
  bool Active(int64_t unit, int64_t piece) const;
  // The tile's ln(|c| |j - i| + 1), one a diagonal where positions step by one.
  void FillLogs(const TileArguments& tile) const;
  double LogOf(const TileArguments& tile, int64_t query, int64_t key) const;

  int64_t heads_, width_;
  double threshold_;
  std::vector<double> ends_;  // where pieces 0, 1, ... end, ascending; the last one has no end
  Buffer<Piece> pieces_;      // [heads, pieces]
  Buffer<double> sums_;       // [heads, pieces, 2]: gradients, and gradients times x
  mutable std::vector<double> logs_;
};

Status FireTile::Prepare(const BindArguments&) {
  const float *weight = tensors.value(kWeight1), *bias = tensors.value(kBias1);
  for (int64_t n = 0; n < width_; ++n) {
    const double bend = -static_cast<double>(bias[n]) / weight[n];
    if (std::isfinite(bend) && bend > 0) ends_.insert(ends_.begin() + PieceOf(bend), bend);
  }
  const auto count = static_cast<int64_t>(ends_.size()) + 1;
  POSLAB_RETURN_IF_ERROR(pieces_.Resize("heads", CheckedProduct({heads_, count})));
  POSLAB_RETURN_IF_ERROR(sums_.Resize("heads", CheckedProduct({heads_, count, 2})));
  for (int64_t h = 0; h < heads_; ++h) {
    for (int64_t p = 0; p < count; ++p) {
      Piece& piece = pieces_[h * count + p];
      piece.offset = tensors.value(kBias2)[h];
      for (int64_t n = 0; n < width_; ++n) {
        if (!Active(n, p)) continue;
        const double out = tensors.value(kWeight2)[h * width_ + n];
        piece.slope += out * weight[n];
        piece.offset += out * bias[n];
      }
    }
  }
  return Status::Ok();
}

bool FireTile::Active(int64_t unit, int64_t piece) const {
  const auto at = static_cast<size_t>(piece);
  const double begin = piece ? ends_[at - 1] : 0, end = at < ends_.size() ? ends_[at] : begin + 1;
  return tensors.value(kWeight1)[unit] * (begin + end) / 2 + tensors.value(kBias1)[unit] > 0;
}

FireTile::Normalizer FireTile::NormalizerOf(int64_t position) const {
  const double factor = tensors.value(kLengthFactor)[0], least = std::fabs(factor) * threshold_;
  const auto at = static_cast<double>(position);
  const double length = std::max(at, least), inside = c() * length + 1;
  return {Log(inside) + kEpsilon, length / inside, at < least ? std::copysign(c() * threshold_ / inside, factor) : 0};
}

void FireTile::FillLogs(const TileArguments& tile) const {
  logs_.clear();
  if (!tile.query_positions.contiguous() || !tile.key_positions.contiguous()) return;
  const int64_t first = tile.key_positions[tile.first_key] - tile.query_positions[tile.first_query + tile.queries - 1];
  for (int64_t n = 0; n < tile.queries + tile.keys - 1; ++n) logs_.push_back(LogAt(first + n));
}

double FireTile::LogOf(const TileArguments& tile, int64_t query, int64_t key) const {
  if (!logs_.empty()) return logs_[static_cast<size_t>(key - query + tile.queries - 1)];
  return LogAt(tile.key_positions[tile.first_key + key] - tile.query_positions[tile.first_query + query]);
}

Status FireTile::Forward(const TileArguments& tile) const {
  FillLogs(tile);
  const Piece* pieces = pieces_.data() + tile.head * (pieces_.size() / heads_);
  for (int64_t i = 0; i < tile.queries; ++i) {
    const double normalizer = NormalizerOf(tile.query_positions[tile.first_query + i]).value;
    for (int64_t j = 0; j < tile.keys; ++j) {
      const double x = LogOf(tile, i, j) / normalizer;
      const Piece& piece = pieces[PieceOf(x)];
      tile.logits[j * tile.stride + i] += static_cast<float>(piece.slope * x + piece.offset);
    }
  }
  return Status::Ok();
}

Status FireTile::Backward(const TileArguments& tile, const TileGradients& gradients) {
  FillLogs(tile);
  const int64_t count = pieces_.size() / heads_;
  for (int64_t i = 0; i < tile.queries; ++i) {
    const Normalizer normalizer = NormalizerOf(tile.query_positions[tile.first_query + i]);
    double by_log = 0, by_x = 0;  // through the numerator by c, and through the whole quotient
    for (int64_t j = 0; j < tile.keys; ++j) {
      const double gradient = gradients.logits[j * tile.stride + i];
      if (gradient == 0) continue;
      const double log = LogOf(tile, i, j), x = log / normalizer.value;
      const int64_t at = tile.head * count + PieceOf(x);
      sums_[2 * at] += gradient;
      sums_[2 * at + 1] += gradient * x;
      // d ln(c d + 1) / dc = d / (c d + 1) = (1 - e^-log) / c
      by_log -= gradient * pieces_[at].slope * (Exp(-log) - 1);
      by_x += gradient * pieces_[at].slope * x;
    }
    const double sign = tensors.value(kC)[0] < 0 ? -1 : 1;
    if (c() > 0) tensors.gradient(kC)[0] += sign * (by_log / c() - by_x * normalizer.by_c) / normalizer.value;
    tensors.gradient(kLengthFactor)[0] -= by_x * normalizer.by_factor / normalizer.value;
  }
  return Status::Ok();
}

void FireTile::Finish() {
  const float *weight = tensors.value(kWeight1), *bias = tensors.value(kBias1);
  for (int64_t at = 0; at < pieces_.size(); ++at) {
    const int64_t h = at / (pieces_.size() / heads_), piece = at % (pieces_.size() / heads_);
    const double sum = sums_[2 * at], by_x = sums_[2 * at + 1];
    if (sum == 0 && by_x == 0) continue;
    tensors.gradient(kBias2)[h] += sum;
    for (int64_t n = 0; n < width_; ++n) {
      if (!Active(n, piece)) continue;
      const double out = tensors.value(kWeight2)[h * width_ + n];
      tensors.gradient(kWeight2)[h * width_ + n] += weight[n] * by_x + bias[n] * sum;
      tensors.gradient(kWeight1)[n] += out * by_x;
      tensors.gradient(kBias1)[n] += out * sum;
    }
    sums_[2 * at] = sums_[2 * at + 1] = 0;
  }
}

class Fire final : public TileScheme {
 public:
  Fire(int64_t width, double threshold) : width_(width), threshold_(threshold) {}

  std::string_view type() const override { return "fire"; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    std::vector<ParameterSpec> specs;
    AddSpec("c", {1}, {Start::Kind::kConstant, kStartC, 0}, &specs);
    AddSpec("lengthFactor", {1}, {Start::Kind::kConstant, 1, 0}, &specs);
    SmallMlp::AddSpecs({1, width_, dimensions.heads}, &specs);
    return specs;
  }

 protected:
  std::unique_ptr<LearnedTile> MakeTile(const Dimensions& dimensions) const override {
    return std::make_unique<FireTile>(dimensions.heads, width_, threshold_);
  }

 private:
  int64_t width_;
  double threshold_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeFire(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "width", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 1024, .integer = true},
      {.name = "threshold", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  return std::unique_ptr<Scheme>(std::make_unique<Fire>(static_cast<int64_t>(NumberOr(description, "width", kWidth)),
                                                        NumberOr(description, "threshold", kThreshold)));
}

}  // namespace poslab
