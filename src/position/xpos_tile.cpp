// SPDX-License-Identifier: MIT
// Damped panels around a centre, their products, and the plain way.
#include "position/xpos_tile.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/math.h"
#include "base/matmul.h"
#include "position/tile_lanes.h"

namespace poslab {
namespace {

constexpr double kOffset = 0.4;      // gamma of the paper: z_k = (2k / D + gamma) / (1 + gamma)
constexpr double kMostGrowth = 60;   // in powers of two: keys to the right of the query, which the formula lets grow
constexpr double kPanelGrowth = 30;  // what a key's factor may reach for panels to be used: 2^30 * 2^60 is finite
constexpr double kVanished = -120;   // below, a query's factor is 0: nothing a float sum could see
constexpr int64_t kSteps = 64;       // distances whose factors are worked out once: those within a tile

}  // namespace

Result<std::unique_ptr<XposTile>> XposTile::Make(int64_t head_dim, double scale_base, Rotation::Layout layout) {
  auto tile = std::make_unique<XposTile>();
  tile->head_dim_ = head_dim;
  tile->layout_ = layout;
  POSLAB_RETURN_IF_ERROR(tile->log_decay_.Resize("headDim", head_dim / 2));
  for (int64_t k = 0; k < head_dim / 2; ++k) {
    const double z = (static_cast<double>(2 * k) / static_cast<double>(head_dim) + kOffset) / (1 + kOffset);
    tile->log_decay_[k] = Log(z) / std::numbers::ln2 / scale_base;
  }
  const int64_t pairs = head_dim / 2;
  POSLAB_RETURN_IF_ERROR(tile->step_decay_.Resize("headDim", CheckedProduct({2 * kSteps - 1, pairs})));
  for (int64_t n = 0; n < 2 * kSteps - 1; ++n) {
    for (int64_t k = 0; k < pairs; ++k)
      tile->step_decay_[n * pairs + k] = tile->Decay(k, static_cast<double>(n - (kSteps - 1)));
  }
  return tile;
}

int64_t XposTile::LanePair(int64_t lane) const {
  return layout_ == Rotation::Layout::kInterleaved ? lane / 2 : lane % (head_dim_ / 2);
}

double XposTile::Decay(int64_t pair, double distance) const {
  return Exp(std::numbers::ln2 * std::min(kMostGrowth, distance * log_decay_[pair]));
}

bool XposTile::NearTogether(const TileArguments& tile) const {
  const int64_t centre = tile.key_positions[tile.first_key];
  const double steepest = -log_decay_[0];  // z_0 is the smallest
  for (int64_t n = 0; n < tile.keys; ++n) {
    const double offset = static_cast<double>(tile.key_positions[tile.first_key + n] - centre);
    if (std::fabs(offset) * steepest > kPanelGrowth) return false;
  }
  return true;
}

void XposTile::Factors(Positions positions, int64_t first, int64_t count, int64_t centre, int sign,
                       float* factors) const {
  const int64_t pairs = log_decay_.size();
  const auto start = sign * static_cast<double>(positions[first] - centre);
  // The end that grows most: there the factors are products of two that are known, unless they come near the limit.
  const double lowest = std::min(start, start + static_cast<double>(sign * (count - 1)));
  if (positions.contiguous() && count <= kSteps && lowest * log_decay_[0] < kMostGrowth / 2 &&
      -kSteps * log_decay_[0] < kMostGrowth / 2) {
    for (int64_t k = 0; k < pairs; ++k) {
      const double decay = Decay(k, start);
      for (int64_t n = 0; n < count; ++n) {
        const bool vanished = (start + static_cast<double>(sign * n)) * log_decay_[k] < kVanished;
        const double step = step_decay_[(sign * n + kSteps - 1) * pairs + k];
        factors[n * pairs + k] = vanished ? 0 : static_cast<float>(decay * step);
      }
    }
    return;
  }
  for (int64_t n = 0; n < count; ++n) {
    const double offset = sign * static_cast<double>(positions[first + n] - centre);
    for (int64_t k = 0; k < pairs; ++k) {
      const bool vanished = offset * log_decay_[k] < kVanished;
      factors[n * pairs + k] = vanished ? 0 : static_cast<float>(Decay(k, offset));
    }
  }
}

void XposTile::Damp(const float* rows, const float* factors, int64_t count, float* panel) const {
  std::fill_n(panel, count * head_dim_, 0.f);
  AddDamped(rows, factors, 1, count, panel);
}

void XposTile::AddDamped(const float* rows, const float* factors, float scale, int64_t count, float* to) const {
  const int64_t pairs = log_decay_.size();
  for (int64_t n = 0; n < count; ++n, rows += head_dim_, to += head_dim_, factors += pairs) {
    if (layout_ == Rotation::Layout::kInterleaved) {
      for (int64_t k = 0; k < pairs; ++k) {
        to[2 * k] += scale * factors[k] * rows[2 * k];
        to[2 * k + 1] += scale * factors[k] * rows[2 * k + 1];
      }
    } else {
      for (int64_t k = 0; k < pairs; ++k) {
        to[k] += scale * factors[k] * rows[k];
        to[pairs + k] += scale * factors[k] * rows[pairs + k];
      }
    }
  }
}

Status XposTile::MakePanels(const TileArguments& tile) const {
  const int64_t pairs = log_decay_.size(), centre = tile.key_positions[tile.first_key];
  POSLAB_RETURN_IF_ERROR(query_factors_.ResizeForOverwrite("query", CheckedProduct({tile.queries, pairs})));
  POSLAB_RETURN_IF_ERROR(key_factors_.ResizeForOverwrite("key", CheckedProduct({tile.keys, pairs})));
  POSLAB_RETURN_IF_ERROR(query_panel_.ResizeForOverwrite("query", CheckedProduct({tile.queries, head_dim_})));
  POSLAB_RETURN_IF_ERROR(key_panel_.ResizeForOverwrite("key", CheckedProduct({tile.keys, head_dim_})));
  Factors(tile.query_positions, tile.first_query, tile.queries, centre, 1, query_factors_.data());
  Factors(tile.key_positions, tile.first_key, tile.keys, centre, -1, key_factors_.data());
  return Status::Ok();
}

Status XposTile::Forward(const TileArguments& tile) const {
  if (tile.queries == 0 || tile.keys == 0) return Status::Ok();
  if (!NearTogether(tile)) {
    ForwardEntries(tile);
    return Status::Ok();
  }
  POSLAB_RETURN_IF_ERROR(MakePanels(tile));
  POSLAB_RETURN_IF_ERROR(transposed_.ResizeForOverwrite("query", query_panel_.size()));
  for (int64_t h = 0; h < tile.heads; ++h) {
    Damp(tile.query + h * tile.queries * head_dim_, query_factors_.data(), tile.queries, query_panel_.data());
    Damp(tile.key + h * tile.keys * head_dim_, key_factors_.data(), tile.keys, key_panel_.data());
    ProductLogits(tile, head_dim_, query_panel_.data(), key_panel_.data(), transposed_.data(),
                  tile.logits + h * tile.keys * tile.stride);
  }
  return Status::Ok();
}

Status XposTile::Backward(const TileArguments& tile, const TileGradients& gradients) {
  if (tile.queries == 0 || tile.keys == 0) return Status::Ok();
  if (!NearTogether(tile)) {
    BackwardEntries(tile, gradients);
    return Status::Ok();
  }
  POSLAB_RETURN_IF_ERROR(MakePanels(tile));
  POSLAB_RETURN_IF_ERROR(product_.ResizeForOverwrite("query", std::max(query_panel_.size(), key_panel_.size())));
  for (int64_t h = 0; h < tile.heads; ++h) {
    float* logit_gradients = gradients.logits + h * tile.keys * tile.stride;
    Damp(tile.query + h * tile.queries * head_dim_, query_factors_.data(), tile.queries, query_panel_.data());
    Damp(tile.key + h * tile.keys * head_dim_, key_factors_.data(), tile.keys, key_panel_.data());
    ClearUnseenKeys(tile, logit_gradients, head_dim_, key_panel_.data());
    const auto add = [&](const MatMulArguments& product, const float* factors, float* to) {
      if (!to) return;
      MatMul(product);
      AddDamped(product.c, factors, tile.scale, product.m, to);
    };
    MatMulArguments product;
    product.n = head_dim_, product.a = logit_gradients, product.b_row_stride = head_dim_;
    product.c = product_.data(), product.c_row_stride = head_dim_;
    // d query panel [queries, D] = (d logits [keys, queries])^T key panel
    product.m = tile.queries, product.k = tile.keys, product.b = key_panel_.data();
    product.a_row_stride = 1, product.a_column_stride = tile.stride;
    add(product, query_factors_.data(), gradients.query ? gradients.query + h * tile.queries * head_dim_ : nullptr);
    // d key panel [keys, D] = d logits query panel
    product.m = tile.keys, product.k = tile.queries, product.b = query_panel_.data();
    product.a_row_stride = tile.stride, product.a_column_stride = 1;
    add(product, key_factors_.data(), gradients.key ? gradients.key + h * tile.keys * head_dim_ : nullptr);
    ClearLogitGradients(tile, logit_gradients);
  }
  return Status::Ok();
}

double XposTile::LogitReference(const float* query, const float* key, int64_t distance, double scale) const {
  double sum = 0;
  for (int64_t lane = 0; lane < head_dim_; ++lane) {
    sum += Decay(LanePair(lane), static_cast<double>(distance)) * query[lane] * key[lane];
  }
  return scale * sum;
}

void XposTile::ForwardEntries(const TileArguments& tile) const {
  for (int64_t h = 0; h < tile.heads; ++h) {
    for (int64_t k = 0; k < tile.keys; ++k) {
      for (int64_t q = 0; q < tile.queries; ++q) {
        const int64_t distance = tile.query_positions[tile.first_query + q] - tile.key_positions[tile.first_key + k];
        tile.logits[(h * tile.keys + k) * tile.stride + q] =
            static_cast<float>(LogitReference(tile.query + (h * tile.queries + q) * head_dim_,
                                              tile.key + (h * tile.keys + k) * head_dim_, distance, tile.scale));
      }
    }
  }
}

void XposTile::BackwardEntries(const TileArguments& tile, const TileGradients& gradients) const {
  for (int64_t h = 0; h < tile.heads; ++h) {
    for (int64_t k = 0; k < tile.keys; ++k) {
      for (int64_t q = 0; q < tile.queries; ++q) {
        float* logit_gradient = gradients.logits + (h * tile.keys + k) * tile.stride + q;
        if (*logit_gradient == 0) continue;
        const double distance =
            static_cast<double>(tile.query_positions[tile.first_query + q] - tile.key_positions[tile.first_key + k]);
        const int64_t query_row = (h * tile.queries + q) * head_dim_, key_row = (h * tile.keys + k) * head_dim_;
        for (int64_t lane = 0; lane < head_dim_; ++lane) {
          const double factor = *logit_gradient * tile.scale * Decay(LanePair(lane), distance);
          if (gradients.query)
            gradients.query[query_row + lane] += static_cast<float>(factor * tile.key[key_row + lane]);
          if (gradients.key) gradients.key[key_row + lane] += static_cast<float>(factor * tile.query[query_row + lane]);
        }
        *logit_gradient = 0;
      }
    }
  }
}

}  // namespace poslab
