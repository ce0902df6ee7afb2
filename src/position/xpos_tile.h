// SPDX-License-Identifier: MIT
// xPos's tile: logits = scale * sum over pairs k of z_k^((i - j) / scaleBase) (q_k . k_k), from rotated rows. Forward
// and backward as matrix products of damped panels where the tile's positions are near one another, entry by entry
// where ids jump by more than a panel's powers can bear.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/status.h"
#include "position/scheme.h"

namespace poslab {

class XposTile final : public TileHook {
 public:
  static Result<std::unique_ptr<XposTile>> Make(int64_t head_dim, double scale_base, Rotation::Layout layout);

  bool replaces_content() const override { return true; }
  bool uses_vectors() const override { return true; }
  Status Forward(const TileArguments& tile) const override;
  Status Backward(const TileArguments& tile, const TileGradients& gradients) override;

  // The defining sum in double: what Forward is tested against.
  double LogitReference(const float* query, const float* key, int64_t distance, double scale) const;

 private:
  bool NearTogether(const TileArguments& tile) const;
  int64_t LanePair(int64_t lane) const;
  double Decay(int64_t pair, double distance) const;
  void Factors(Positions positions, int64_t first, int64_t count, int64_t centre, int sign, float* factors) const;
  // panel [rows, head_dim] = rows * factors of their positions.
  void Damp(const float* rows, const float* factors, int64_t count, float* panel) const;
  // to [rows, head_dim] += scale * factors * rows.
  void AddDamped(const float* rows, const float* factors, float scale, int64_t count, float* to) const;
  Status MakePanels(const TileArguments& tile) const;
  void ForwardEntries(const TileArguments& tile) const;
  void BackwardEntries(const TileArguments& tile, const TileGradients& gradients) const;

  int64_t head_dim_ = 0;
  Rotation::Layout layout_ = Rotation::Layout::kInterleaved;
  Buffer<double> log_decay_;   // [pairs]: log2(z_k) / scaleBase
  Buffer<double> step_decay_;  // [127, pairs]: the decay over distances from -63 to 63
  // Scratch of one call: a hook belongs to one call and calls its tiles one after the other.
  mutable Buffer<float> query_factors_, key_factors_;  // [queries, pairs], [keys, pairs]
  mutable Buffer<float> query_panel_, key_panel_;      // [queries, head_dim], [keys, head_dim]
  mutable Buffer<float> transposed_;                   // [head_dim, queries]
  mutable Buffer<float> product_;                      // gradient of a panel
};

}  // namespace poslab
