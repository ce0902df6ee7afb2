// SPDX-License-Identifier: MIT
// CoPE on tiles: products of the queries and the vectors of all counts that the tile can meet, then queries as lanes, from
// the last key to the first. Past the last count nothing is left to work out but an addition a key.
#pragma once

#include <vector>

#include "base/buffer.h"
#include "position/tile_lanes.h"
#include "position/tile_scheme.h"

namespace poslab {

class CopeTile final : public LearnedTile {
 public:
  explicit CopeTile(int64_t positions) : positions_(positions) {}

  bool descending() const override { return true; }
  bool uses_vectors() const override { return true; }
  // The counts of a head's queries: their whole parts, then what is beyond those. Any count from positions - 1 on once it
  // got there.
  int64_t state_size() const override { return 2; }

  Status Prepare(const BindArguments& arguments) override;
  Status Forward(const TileArguments& tile) const override;
  Status Backward(const TileArguments& tile, const TileGradients& gradients) override;

  // What a query adds to the logits [keys] of keys that all count, in double; `table` is [positions, dim].
  static std::vector<double> Reference(const std::vector<double>& logits, const float* query, const float* table,
                                       int64_t positions, int64_t dim);

 private:
  // A count in two parts, so that what it gains from a gate is rounded as a number below 2 is, however far it got.
  struct Count {
    v128_t whole, share;  // share: from 0 to 1
    void Add(v128_t gate);
  };
  // Between which two counts the lanes are: their products, and how far on the way to the upper one.
  struct Place {
    v128_t below, above, share;
    int64_t at[4];  // of the lower one in products_
  };

  // The counts from first_ to first_ + columns_ - 2 that the tile can meet, and their products with its queries.
  Status MakeProducts(const TileArguments& tile, int64_t slot) const;
  Place PlaceOf(Count count, int64_t query, int64_t queries) const;
  Count LoadCount(const TileArguments& tile, int64_t slot, int64_t query) const;
  v128_t Limit() const { return wasm_f32x4_splat(static_cast<float>(positions_ - 1)); }
  bool AnyBelow(Count count) const { return wasm_v128_any_true(wasm_f32x4_lt(count.whole, Limit())); }
  void BackwardLanes(const TileArguments& tile, const TileGradients& gradients, int64_t slot, int64_t query);
  Status ThroughProducts(const TileArguments& tile, const TileGradients& gradients, int64_t slot);

  int64_t positions_;
  int64_t transposed_columns_ = 0;
  Buffer<float> transposed_;  // the table [dim, columns], its last row once more
  mutable int64_t first_ = 0, columns_ = 0;
  mutable Buffer<float> products_;  // [queries, columns_]
  Buffer<float> by_product_;        // likewise
  Buffer<float> counts_, gates_;    // [keys, 2, 4], [keys, 4]
  Buffer<float> by_table_;          // [columns_, dim]
};

}  // namespace poslab
