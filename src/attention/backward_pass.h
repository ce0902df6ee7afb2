// SPDX-License-Identifier: MIT
// The backward pass: weights are recomputed from log_sum_exp tile by tile (Dao et al. 2022, algorithm 4), blocks of
// queries outside and tiles of keys inside, in the reverse of the forward's order so that a tile hook's state gradient
// can be carried back. A hook with state runs forwards once more first, to know its state before every tile.
#pragma once

#include "attention/attention.h"
#include "attention/bands.h"
#include "attention/call.h"
#include "attention/logits.h"

namespace poslab {

class BackwardPass {
 public:
  BackwardPass(const Call& call, const AttentionGradientArguments& forward, AttentionGradients* gradients)
      : call_(call), forward_(forward), gradients_(gradients), logits_(call, gradients->hooks) {}
  void LayOut(Arena* arena);
  Status Run();

 private:
  Status RunBlock(int64_t first_head, int64_t first_query, int queries);
  void StartBlock(int64_t slot, int64_t head, int64_t first_query, int queries);
  Status SweepState(int64_t first_query, int queries, Call::KeyTiles tiles);
  Status RunTile(int64_t first_head, const Tile& tile, bool seen, const float* state_before);
  void ThroughSoftmax(int64_t slot, int64_t head, const Tile& tile, bool seen);
  Status ThroughTileHook(const Tile& tile, const float* state_before);
  void ThroughLogits(int64_t slot, int64_t head, const Tile& tile);
  void FinishBlock(int64_t slot, int64_t head, int64_t first_query, int queries);

  void AddLaneSums(const float* sums, int queries, float* bias) const;

  TurnGradients Turns(int64_t head, bool keys) const;
  int64_t TileAt(Call::KeyTiles tiles, int64_t n) const;
  float* Scores(int64_t slot, const Tile& tile) { return scores_ + slot * tile.keys * kTile; }
  float* Gradients(int64_t slot, const Tile& tile) { return score_gradients_ + slot * tile.keys * kTile; }
  float* Lanes(float* all, int64_t slot) { return all + slot * kTile; }
  float* QuerySums(float* all, int64_t slot) { return all + slot * call_.dim * kTile; }
  BandBlock ValueBand(int64_t slot) {
    const int64_t at = slot * kTile * call_.value_dim;
    return {output_rows_ + at, output_panels_ + at, value_ends_ + slot * 2 * kTile};
  }

  const Call& call_;
  const AttentionGradientArguments& forward_;
  AttentionGradients* gradients_;
  Logits logits_;
  BandScratch value_scratch_;
  // One of each for every head of the group.
  float* scores_ = nullptr;           // [kTile, kTile], then weights
  float* score_gradients_ = nullptr;  // [kTile, kTile]
  float* before_ = nullptr;           // [kTile, kTile], logits that the tile hook got
  float* output_rows_ = nullptr;      // [kTile, value_dim], the output's gradient
  float* output_panels_ = nullptr;    // [value_dim, kTile]
  float* value_ends_ = nullptr;       // [2, kTile], products of the value band's ends with the output's gradient
  float* weight_sums_ = nullptr;      // [2, kTile], weights that met the ends of the value band
  float* band_sums_ = nullptr;        // [2, kTile], score gradients that met the ends of the score band
  float* delta_ = nullptr;            // [kTile], output . its gradient
  float* log_sum_exp_ = nullptr;      // [kTile], finite
  float* content_ = nullptr;          // [dim, kTile], gradient of scaled queries through the content
  float* band_ = nullptr;             // [dim, kTile], and through the score band
  float* hook_queries_ = nullptr;     // [queries, dim], through the tile hook
  float* hook_keys_ = nullptr;        // [keys, dim]
  float* state_gradient_ = nullptr;   // [queries, state_size]
  // For the whole group.
  float* states_ = nullptr;  // [tiles, group, queries, state_size]: before every tile
  float* replay_ = nullptr;  // [group, queries, state_size]
  // For one head.
  float* key_rows_ = nullptr;    // [kTile, dim]
  float* value_rows_ = nullptr;  // [kTile, value_dim]
};

}  // namespace poslab
