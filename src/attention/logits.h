// SPDX-License-Identifier: MIT
// The logits of one tile for a block of queries of one head, or of all heads when a tile hook needs them together:
// content product, slice, band and tile hook, in this order (a hook that replaces the content comes first). Used by both
// directions; masks and softmax come afterwards. With a tile hook whole tiles are computed, hidden entries included.
#pragma once

#include "attention/band_window.h"
#include "attention/bands.h"
#include "attention/key_bands.h"
#include "attention/key_rows.h"
#include "attention/slices.h"

namespace poslab {

class Logits {
 public:
  // `gradients`: of the backward pass, or null.
  Logits(const Call& call, HookGradients* gradients);
  void LayOut(Arena* arena);

  // Heads first to first + call.group - 1: tables and copies.
  void StartHeads(int64_t first_head);
  // Packs the block's queries, clears the state, brings the band's rows. log_sum_exp [heads, queries], or null.
  Status StartBlock(int64_t first_query, int queries, const float* log_sum_exp);
  // scores: [group, tile.keys, kTile]. `before` (or null) gets what the tile hook got, unless it replaces the content.
  // Carries the state on.
  Status Compute(const Tile& tile, float* scores, float* before);
  // What the tile hook is called with, with another state if need be.
  TileArguments HookArguments(const Tile& tile, float* scores, float* state);

  // The tile as the hooks on logits see it.
  Tile Extent(const Tile& tile) const {
    Tile extent = tile;
    extent.whole = tile.whole || call_.tile_hook;
    return extent;
  }
  KeyRows& rows() { return rows_; }
  SliceBiases& slices() { return slices_; }
  float* state() { return state_; }
  int64_t state_count(int queries) const { return call_.group * queries * state_size_; }
  const float* QueryRows(int64_t slot) const { return query_rows_ + slot * kTile * call_.dim; }  // scaled, with bias
  BandWindow& band() { return band_; }  // the score band, side kQuery
  BandBlock Band(int64_t slot) const;
  const BandScratch& band_scratch() const { return band_scratch_; }
  const KeyBandScratch& key_band_scratch() const { return key_band_scratch_; }

 private:
  void AddBand(const Tile& tile, int64_t slot, float* scores);

  const Call& call_;
  const bool backward_;
  bool own_band_rows_ = false;  // the band meets other queries than the keys do, because of a bias
  bool vectors_ = false;        // the tile hook wants query and key rows
  int64_t state_size_ = 0;
  int64_t first_head_ = 0;
  KeyRows rows_;
  SliceBiases slices_;
  BandWindow band_;
  BandScratch band_scratch_;
  KeyBandScratch key_band_scratch_;
  float* unscaled_ = nullptr;    // [group, queries, dim] for the hook, else [kTile, dim]
  float* query_rows_ = nullptr;  // [group, kTile, dim]
  float* panels_ = nullptr;      // [group, dim, kTile]
  float* band_rows_ = nullptr;   // as query_rows_, or the same memory
  float* band_panels_ = nullptr;
  float* band_ends_ = nullptr;  // [group, 2, kTile]
  float* hook_keys_ = nullptr;  // [group, keys, dim]
  float* state_ = nullptr;      // [group, queries, state_size_]
  int64_t* reach_ = nullptr;    // [queries], of the state
};

}  // namespace poslab
