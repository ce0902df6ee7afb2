// SPDX-License-Identifier: MIT
// PoPE on tiles: a tile that replaces the content by products of panels of cosines and sines, twice as wide as a head.
#pragma once

#include <memory>

#include "base/buffer.h"
#include "position/tile_scheme.h"

namespace poslab {

class PopeTile final : public LearnedTile {
 public:
  explicit PopeTile(std::unique_ptr<Rotation> angles) : angles_(std::move(angles)) {}

  bool replaces_content() const override { return true; }
  bool uses_vectors() const override { return true; }

  Status Prepare(const BindArguments& arguments) override;
  Status Forward(const TileArguments& tile) const override;
  Status Backward(const TileArguments& tile, const TileGradients& gradients) override;

  // The logit of a query and a key [dim] in double; `angles` [dim] are those of the distance, phases included.
  static double LogitReference(const float* query, const float* key, const double* angles, int64_t dim, double scale);

 private:
  Status MakePanels(const TileArguments& tile, int64_t slot) const;
  // Cosines and sines of a row's angles; those of keys with the phases of the panels' head.
  const float* CosinesOf(int64_t index, bool is_key, int64_t dim, const float** sines) const;
  void MakePanel(const float* cosines, const float* sines, int64_t dim, const float* row, float* panel) const;
  // From the gradient of a panel's row (which the scale is still missing from) to that of the vector.
  void ThroughPanel(const float* cosines, const float* sines, int64_t dim, float scale, const float* row,
                    const float* by_panel, float* by_row) const;
  void AddToPhases(const TileArguments& tile, int64_t slot);

  std::unique_ptr<Rotation> angles_;                            // a pair a lane
  Buffer<float> phases_;                                        // [heads, 2, head_dim]: cosines, then sines
  mutable const float* head_phases_ = nullptr;                  // of the panels' head
  mutable Buffer<float> turned_;                                // [2, head_dim]: of one key
  mutable Buffer<float> query_panel_, key_panel_, transposed_;  // [rows, 2 head_dim]: cosines, then sines
  Buffer<float> by_query_, by_key_;
};

}  // namespace poslab
