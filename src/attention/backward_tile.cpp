// SPDX-License-Identifier: MIT
// One tile of the backward pass, from the output's gradient back to queries, keys, values and hooks.
#include <algorithm>
#include <cmath>

#include "attention/backward_pass.h"
#include "attention/products.h"
#include "attention/softmax.h"

namespace poslab {

Status BackwardPass::RunTile(int64_t first_head, const Tile& tile, bool seen, const float* state_before) {
  if (state_before) std::copy_n(state_before, logits_.state_count(tile.queries), logits_.state());
  POSLAB_RETURN_IF_ERROR(logits_.Compute(tile, scores_, before_));
  for (int64_t slot = 0; slot < call_.group; ++slot) ThroughSoftmax(slot, first_head + slot, tile, seen);
  // What replaces the content comes before slice and band in the forward pass, hence after them here.
  const bool replaces = call_.tile_hook && call_.tile_hook->replaces_content();
  if (call_.tile_hook && !replaces) POSLAB_RETURN_IF_ERROR(ThroughTileHook(tile, state_before));
  for (int64_t slot = 0; slot < call_.group; ++slot) ThroughLogits(slot, first_head + slot, tile);
  if (!replaces) return Status::Ok();
  POSLAB_RETURN_IF_ERROR(ThroughTileHook(tile, state_before));
  for (int64_t slot = 0; slot < call_.group && hook_keys_; ++slot)
    AddToKeys(hook_keys_ + slot * tile.keys * call_.dim, tile.keys, call_.rotation, Turns(first_head + slot, true),
              gradients_->key, call_.KeyHead(first_head + slot), tile.first_key);
  return Status::Ok();
}

// Scores to weights to the gradients of values and scores.
void BackwardPass::ThroughSoftmax(int64_t slot, int64_t head, const Tile& tile, bool seen) {
  const int64_t dim = call_.value_dim;
  float *weights = Scores(slot, tile), *gradients = Gradients(slot, tile);
  // A tile hook reads whole tiles.
  if (call_.tile_hook && !tile.whole) std::fill_n(gradients, tile.keys * kTile, 0.0f);
  if (!seen) return;
  ReplaceHidden(call_.visibility, tile, -INFINITY, weights);
  RecomputeWeights(tile, Lanes(log_sum_exp_, slot), weights);
  ClearAround(tile, weights);
  const float* output_rows = output_rows_ + slot * kTile * dim;

  std::fill_n(value_rows_, tile.keys * dim, 0.0f);
  AddByKey(tile, weights, {output_rows, static_cast<ptrdiff_t>(dim)}, dim, value_rows_);
  AddToKeys(value_rows_, tile.keys, nullptr, {}, gradients_->value, call_.KeyHead(head), tile.first_key);

  ScoreTile(tile, logits_.rows().Values(head, tile), output_panels_ + slot * kTile * dim, dim, gradients);
  if (call_.value_band) {
    const Band& band = *call_.value_band;
    AddBandScores(call_, band, head, tile, ValueBand(slot), value_scratch_, gradients);
    SumByDistance(call_, band, tile, weights, value_scratch_, weight_sums_ + slot * 2 * kTile);
    AddBandGradient(call_, band, tile, weights, output_rows, value_scratch_,
                    BandGradient(band, head, gradients_->hooks->value_band_table.data()));
  }
  SoftmaxBackward(tile, weights, Lanes(delta_, slot), gradients);
  ReplaceHidden(call_.visibility, tile, 0.0f, gradients);
  ClearAround(tile, gradients);
}

Status BackwardPass::ThroughTileHook(const Tile& tile, const float* state_before) {
  // The state that Compute has carried on is put back to what the tile began with.
  if (state_before) std::copy_n(state_before, logits_.state_count(tile.queries), replay_);
  TileArguments arguments = logits_.HookArguments(tile, before_ ? before_ : scores_, replay_);
  if (hook_keys_) std::fill_n(hook_keys_, call_.group * tile.keys * call_.dim, 0.0f);
  TileGradients gradients;
  gradients.logits_before = before_;
  gradients.logits = score_gradients_;
  gradients.query = hook_queries_;
  gradients.key = hook_keys_;
  if (gradients_->gates) gradients.gates = gradients_->gates + arguments.head * call_.keys;
  gradients.state = state_gradient_;
  return call_.tile_hook->Backward(arguments, gradients);
}

// Score gradients to slices, bands, queries and keys.
void BackwardPass::ThroughLogits(int64_t slot, int64_t head, const Tile& tile) {
  const Tile extent = logits_.Extent(tile);
  const bool replaced = call_.tile_hook && call_.tile_hook->replaces_content();
  const int64_t dim = call_.dim;
  const float* gradients = Gradients(slot, tile);
  logits_.slices().Collect(extent, slot, gradients);

  float* key_rows = key_rows_;
  if (hook_keys_ && !replaced)
    key_rows = hook_keys_ + slot * tile.keys * dim;
  else
    std::fill_n(key_rows, tile.keys * dim, 0.0f);
  const Rows keys = logits_.rows().Keys(head, tile);
  // A state can carry gradients to hidden entries, unless their keys hold no numbers.
  const Tile& reach = call_.tile_hook && !AllFinite(keys, tile.keys, dim) ? tile : extent;
  if (call_.query_band) {
    const Band& band = *logits_.band().band();
    SumByDistance(call_, band, extent, gradients, logits_.band_scratch(), band_sums_ + slot * 2 * kTile);
    AddBandByLane(call_, band, head, extent, gradients, logits_.band_scratch(), QuerySums(band_, slot));
    AddBandGradient(call_, band, extent, gradients, logits_.Band(slot).rows, logits_.band_scratch(),
                    logits_.band().Gradient(head));
  }
  if (call_.key_band) {
    const Band& band = *call_.key_band;
    HookGradients* hooks = gradients_->hooks;
    Buffer<float>& table = call_.arguments.hooks->key_band ? hooks->key_band_table : hooks->score_band_table;
    AddKeyBandGradients(call_, band, head, reach, keys, gradients, logits_.key_band_scratch(), key_rows,
                        BandGradient(band, head, table.data()));
  }
  if (!replaced) {
    AddByLane(reach, keys, gradients, dim, QuerySums(content_, slot));
    AddByKey(extent, gradients, {logits_.QueryRows(slot), static_cast<ptrdiff_t>(dim)}, dim, key_rows);
  }
  AddToKeys(key_rows, tile.keys, call_.rotation, Turns(head, true), gradients_->key, call_.KeyHead(head),
            tile.first_key);
}

}  // namespace poslab
