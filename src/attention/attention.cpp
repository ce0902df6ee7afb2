// SPDX-License-Identifier: MIT
// The forward pass: blocks of queries, tiles of keys, online softmax; everything transposed, with queries as lanes, so
// that no sum runs across a vector and neither keys nor values are packed.
#include "attention/attention.h"

#include <algorithm>
#include <cmath>

#include "attention/bands.h"
#include "attention/call.h"
#include "attention/check.h"
#include "attention/logits.h"
#include "attention/products.h"
#include "attention/softmax.h"
#include "base/transpose.h"

namespace poslab {
namespace {

class Forward {
 public:
  Forward(const Call& call, AttentionResults* results) : call_(call), results_(results), logits_(call, nullptr) {
    // Summed weights of the two ends of the value band follow the output, so that both are rescaled together.
    rows_ = call.value_dim + (call.value_band ? 2 : 0);
  }
  void LayOut(Arena* arena);
  Status Run();

 private:
  Status RunBlock(int64_t first_head, int64_t first_query, int queries);
  Status RunTile(int64_t first_head, const Tile& tile);
  void KeepScores(int64_t head, const Tile& tile, const float* scores);
  void Finish(int64_t slot, int64_t head, int64_t first_query, int queries);
  void FinishRows(int64_t slot, int64_t head, int64_t first_query, int queries);
  float* Out(int64_t slot) { return out_ + slot * rows_ * kTile; }

  const Call& call_;
  AttentionResults* results_;
  Logits logits_;
  BandScratch band_scratch_;
  int64_t rows_;
  float* scores_ = nullptr;         // [group, kTile, kTile]
  float* out_ = nullptr;            // [group, rows_, kTile]
  SoftmaxState* states_ = nullptr;  // [group]
};

void Forward::LayOut(Arena* arena) {
  logits_.LayOut(arena);
  if (call_.value_band) band_scratch_.LayOut(arena, call_.value_dim);
  scores_ = arena->Take<float>(call_.group * kTile * kTile);
  out_ = arena->Take<float>(call_.group * rows_ * kTile);
  states_ = arena->Take<SoftmaxState>(call_.group);
}

Status Forward::Run() {
  for (int64_t head = 0; head < call_.heads; head += call_.group) {
    logits_.StartHeads(head);
    for (int64_t first = 0; first < call_.queries; first += kTile) {
      const int queries = static_cast<int>(std::min<int64_t>(kTile, call_.queries - first));
      POSLAB_RETURN_IF_ERROR(RunBlock(head, first, queries));
    }
  }
  return Status::Ok();
}

Status Forward::RunBlock(int64_t first_head, int64_t first_query, int queries) {
  POSLAB_RETURN_IF_ERROR(logits_.StartBlock(first_query, queries, nullptr));
  std::fill_n(out_, call_.group * rows_ * kTile, 0.0f);
  const float* sinks = call_.arguments.sinks;
  for (int64_t slot = 0; slot < call_.group; ++slot) states_[slot].Reset(sinks ? sinks[first_head + slot] : -INFINITY);

  const Call::KeyTiles tiles = call_.TilesFor(first_query, queries);
  const bool descending = call_.tile_hook && call_.tile_hook->descending();
  for (int64_t n = tiles.begin; n < tiles.end; ++n) {
    const int64_t first_key = (descending ? tiles.begin + tiles.end - 1 - n : n) * kTile;
    const int keys = static_cast<int>(std::min<int64_t>(kTile, call_.keys - first_key));
    Tile tile;
    if (MakeTile(call_.visibility, first_query, queries, first_key, keys, &tile)) {
      POSLAB_RETURN_IF_ERROR(RunTile(first_head, tile));
    } else if (call_.carries_state()) {
      POSLAB_RETURN_IF_ERROR(logits_.Compute(tile, scores_, nullptr));
    }
  }
  for (int64_t slot = 0; slot < call_.group; ++slot) Finish(slot, first_head + slot, first_query, queries);
  return Status::Ok();
}

Status Forward::RunTile(int64_t first_head, const Tile& tile) {
  POSLAB_RETURN_IF_ERROR(logits_.Compute(tile, scores_, nullptr));
  for (int64_t slot = 0; slot < call_.group; ++slot) {
    const int64_t head = first_head + slot;
    float* scores = scores_ + slot * tile.keys * kTile;
    ReplaceHidden(call_.visibility, tile, -INFINITY, scores);
    if (results_->scores || results_->weights) KeepScores(head, tile, scores);
    UpdateSoftmax(tile, scores, &states_[slot], rows_, Out(slot));
    AddByLane(tile, logits_.rows().Values(head, tile), scores, call_.value_dim, Out(slot));
    if (!call_.value_band) continue;
    SumByDistance(call_, *call_.value_band, tile, scores, band_scratch_, Out(slot) + call_.value_dim * kTile);
    AddBandByLane(call_, *call_.value_band, head, tile, scores, band_scratch_, Out(slot));
  }
  return Status::Ok();
}

// Copies the tile's scores to where the caller wants to see them; what no tile reaches was filled with -infinity.
void Forward::KeepScores(int64_t head, const Tile& tile, const float* scores) {
  float* to = results_->scores ? results_->scores : results_->weights;
  for (int n = 0; n < tile.queries; ++n) {
    float* row = to + (head * call_.queries + tile.first_query + n) * call_.keys + tile.first_key;
    const Range keys = tile.whole ? Range{0, tile.keys} : tile.lane[n];
    for (int j = keys.begin; j < keys.end; ++j) row[j] = scores[j * kTile + n];
  }
}

void Forward::Finish(int64_t slot, int64_t head, int64_t first_query, int queries) {
  const int lanes = (queries + 3) & ~3;
  float* out = Out(slot);
  if (call_.value_band) AddBandEnds(*call_.value_band, head, lanes, out + call_.value_dim * kTile, out);
  DivideBySum(lanes, states_[slot], call_.value_dim, out);
  const HeadsView<float>& output = results_->output;
  Transpose(out, kTile, call_.value_dim, queries, output.row(head, first_query), output.row_stride);
  FinishRows(slot, head, first_query, queries);
}

void Forward::FinishRows(int64_t slot, int64_t head, int64_t first_query, int queries) {
  for (int n = 0; n < queries; ++n) {
    const int64_t row = head * call_.queries + first_query + n;
    if (results_->log_sum_exp) results_->log_sum_exp[row] = LogSumExp(states_[slot], n);
    if (!results_->weights) continue;
    float* weights = results_->weights + row * call_.keys;
    if (results_->scores) std::copy_n(results_->scores + row * call_.keys, call_.keys, weights);
    FinishWeights(states_[slot].largest[n], states_[slot].sum[n], call_.keys, weights);
  }
}

}  // namespace

AttentionWorkspace::AttentionWorkspace() : parts_(std::make_unique<Parts>()) {}
AttentionWorkspace::~AttentionWorkspace() = default;
AttentionWorkspace::AttentionWorkspace(AttentionWorkspace&&) noexcept = default;
AttentionWorkspace& AttentionWorkspace::operator=(AttentionWorkspace&&) noexcept = default;
int64_t AttentionWorkspace::bytes() const { return parts_->scratch.size(); }

Status Attention(const AttentionArguments& arguments, AttentionResults* results, AttentionWorkspace* workspace) {
  POSLAB_RETURN_IF_ERROR(CheckAttention(arguments));
  POSLAB_RETURN_IF_ERROR(CheckResults(arguments, *results));
  const Call call(arguments);
  const int64_t entries = call.heads * call.queries * call.keys;
  float* seen = results->scores ? results->scores : results->weights;
  if (seen) std::fill_n(seen, entries, -INFINITY);
  if (call.queries == 0) return Status::Ok();

  Forward forward(call, results);
  POSLAB_RETURN_IF_ERROR(workspace->parts().LayOut([&](Arena* arena) { forward.LayOut(arena); }));
  return forward.Run();
}

}  // namespace poslab
