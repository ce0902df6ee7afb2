// SPDX-License-Identifier: MIT
#include "attention/logits.h"

#include <algorithm>
#include <cstring>

#include "attention/products.h"

namespace poslab {

Logits::Logits(const Call& call, HookGradients* gradients)
    : call_(call), backward_(gradients), rows_(call), slices_(call, backward_), band_(call, gradients) {
  own_band_rows_ = call.query_band && (call.query_band->bias || call.query_bias);
  vectors_ = call.tile_hook && call.tile_hook->uses_vectors();
  state_size_ = call.tile_hook ? call.tile_hook->state_size() : 0;
}

void Logits::LayOut(Arena* arena) {
  const int64_t block = call_.group * kTile * call_.dim;
  rows_.LayOut(arena);
  slices_.LayOut(arena);
  band_.LayOut(arena);
  unscaled_ = arena->Take<float>(vectors_ ? block : kTile * call_.dim);
  query_rows_ = arena->Take<float>(block);
  panels_ = arena->Take<float>(block);
  band_rows_ = own_band_rows_ ? arena->Take<float>(block) : query_rows_;
  band_panels_ = own_band_rows_ ? arena->Take<float>(block) : panels_;
  if (call_.query_band) {
    band_ends_ = arena->Take<float>(call_.group * 2 * kTile);
    band_scratch_.LayOut(arena, call_.dim);
  }
  if (call_.key_band) key_band_scratch_.LayOut(arena, call_.dim, backward_);
  if (vectors_ && call_.group > 1) hook_keys_ = arena->Take<float>(block);
  if (state_size_ == 0) return;
  state_ = arena->Take<float>(call_.group * kTile * state_size_);
  reach_ = arena->Take<int64_t>(kTile);
}

BandBlock Logits::Band(int64_t slot) const {
  const int64_t at = slot * kTile * call_.dim;
  return {band_rows_ + at, band_panels_ + at, band_ends_ + slot * 2 * kTile};
}

void Logits::StartHeads(int64_t first_head) {
  first_head_ = first_head;
  rows_.StartHead(first_head);
  slices_.Start(first_head);
}

Status Logits::StartBlock(int64_t first_query, int queries, const float* log_sum_exp) {
  const int lanes = (queries + 3) & ~3;
  POSLAB_RETURN_IF_ERROR(band_.Reach(first_head_, first_query, queries));
  for (int64_t slot = 0; slot < call_.group; ++slot) {
    const int64_t head = first_head_ + slot, at = slot * kTile * call_.dim;
    float* unscaled = vectors_ ? unscaled_ + slot * queries * call_.dim : unscaled_;
    PackQueries(call_.arguments.query, head, first_query, queries, call_.rotation, call_.temperature,
                log_sum_exp ? log_sum_exp + head * call_.queries : nullptr, unscaled);
    const float* bias = call_.query_bias ? call_.query_bias + head * call_.dim : nullptr;
    ScaleRows(unscaled, queries, call_.dim, call_.scale, bias, query_rows_ + at);
    MakePanel(query_rows_ + at, call_.dim, queries, call_.dim, panels_ + at);
    if (own_band_rows_) {
      const float* band_bias = call_.query_band->bias ? call_.query_band->bias + head * call_.dim : nullptr;
      ScaleRows(unscaled, queries, call_.dim, call_.scale, band_bias, band_rows_ + at);
      MakePanel(band_rows_ + at, call_.dim, queries, call_.dim, band_panels_ + at);
    }
    if (call_.query_band) ScoreBandEnds(*band_.band(), head, lanes, Band(slot));
  }
  if (state_size_ == 0) return Status::Ok();
  std::fill_n(state_, state_count(queries), 0.0f);
  for (int n = 0; n < queries; ++n) reach_[n] = call_.visibility.Reach(first_query + n);
  return Status::Ok();
}

void Logits::AddBand(const Tile& tile, int64_t slot, float* scores) {
  const int64_t head = first_head_ + slot;
  if (call_.query_band) AddBandScores(call_, *band_.band(), head, tile, Band(slot), band_scratch_, scores);
  if (call_.key_band)
    AddKeyBandScores(call_, *call_.key_band, head, tile, rows_.Keys(head, tile), key_band_scratch_, scores);
}

Status Logits::Compute(const Tile& tile, float* scores, float* before) {
  const Tile extent = Extent(tile);
  const bool replaced = call_.tile_hook && call_.tile_hook->replaces_content();
  const int64_t size = static_cast<int64_t>(tile.keys) * kTile;
  rows_.StartTile(tile);
  if (replaced) POSLAB_RETURN_IF_ERROR(call_.tile_hook->Forward(HookArguments(tile, scores, state_)));
  for (int64_t slot = 0; slot < call_.group; ++slot) {
    float* own = scores + slot * size;
    if (!replaced) {
      const int64_t at = slot * kTile * call_.dim;
      const Rows keys = rows_.Keys(first_head_ + slot, tile);
      if (tile.queries == 1)
        ScoreOne(extent, keys, query_rows_ + at, call_.dim, own);
      else
        ScoreTile(extent, keys, panels_ + at, call_.dim, own);
    }
    slices_.Add(extent, slot, own);
    AddBand(extent, slot, own);
  }
  if (!call_.tile_hook || replaced) return Status::Ok();
  if (before) std::copy_n(scores, call_.group * size, before);
  return call_.tile_hook->Forward(HookArguments(tile, scores, state_));
}

TileArguments Logits::HookArguments(const Tile& tile, float* scores, float* state) {
  TileArguments arguments;
  arguments.head = first_head_;
  arguments.heads = call_.group;
  arguments.first_query = tile.first_query;
  arguments.queries = tile.queries;
  arguments.first_key = tile.first_key;
  arguments.keys = tile.keys;
  arguments.query_positions = call_.query_positions;
  arguments.key_positions = call_.key_positions;
  arguments.head_dim = call_.dim;
  arguments.scale = call_.scale;
  if (call_.arguments.gates) arguments.gates = call_.arguments.gates + first_head_ * call_.keys;
  arguments.key_mask = call_.visibility.key_mask;
  arguments.logits = scores;
  arguments.stride = kTile;
  arguments.state = state;
  arguments.reach = reach_;
  if (!vectors_) return arguments;
  arguments.query = unscaled_;
  if (call_.group == 1) {
    arguments.key = rows_.Keys(first_head_, tile).data;
    return arguments;
  }
  for (int64_t slot = 0; slot < call_.group; ++slot) {
    const Rows keys = rows_.Keys(first_head_ + slot, tile);
    for (int j = 0; j < tile.keys; ++j)
      std::copy_n(keys.data + j * keys.stride, call_.dim, hook_keys_ + (slot * tile.keys + j) * call_.dim);
  }
  arguments.key = hook_keys_;
  return arguments;
}

}  // namespace poslab
