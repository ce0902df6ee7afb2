// SPDX-License-Identifier: MIT
// The backward pass around its tiles: memory, blocks of queries, and what is finished once a block.
#include <algorithm>
#include <cmath>

#include "attention/backward_pass.h"
#include "attention/check.h"
#include "base/math.h"
#include "base/transpose.h"

namespace poslab {

void BackwardPass::LayOut(Arena* arena) {
  const int64_t group = call_.group, lanes = group * kTile;
  logits_.LayOut(arena);
  scores_ = arena->Take<float>(lanes * kTile);
  score_gradients_ = arena->Take<float>(lanes * kTile);
  output_rows_ = arena->Take<float>(lanes * call_.value_dim);
  output_panels_ = arena->Take<float>(lanes * call_.value_dim);
  delta_ = arena->Take<float>(lanes);
  log_sum_exp_ = arena->Take<float>(lanes);
  content_ = arena->Take<float>(lanes * call_.dim);
  band_ = call_.query_band ? arena->Take<float>(lanes * call_.dim) : nullptr;
  band_sums_ = arena->Take<float>(2 * lanes);
  value_ends_ = arena->Take<float>(2 * lanes);
  weight_sums_ = arena->Take<float>(2 * lanes);
  if (call_.value_band) value_scratch_.LayOut(arena, call_.value_dim);
  key_rows_ = arena->Take<float>(kTile * call_.dim);
  value_rows_ = arena->Take<float>(kTile * call_.value_dim);
  if (!call_.tile_hook) return;
  if (!call_.tile_hook->replaces_content()) before_ = arena->Take<float>(lanes * kTile);
  if (call_.tile_hook->uses_vectors()) {
    hook_queries_ = arena->Take<float>(lanes * call_.dim);
    hook_keys_ = arena->Take<float>(lanes * call_.dim);
  }
  if (!call_.carries_state()) return;
  const int64_t state = lanes * call_.tile_hook->state_size();
  state_gradient_ = arena->Take<float>(state);
  replay_ = arena->Take<float>(state);
  states_ = arena->Take<float>((call_.keys + kTile - 1) / kTile * state);
}

Status BackwardPass::Run() {
  for (int64_t head = 0; head < call_.heads; head += call_.group) {
    logits_.StartHeads(head);
    for (int64_t first = 0; first < call_.queries; first += kTile) {
      const int queries = static_cast<int>(std::min<int64_t>(kTile, call_.queries - first));
      POSLAB_RETURN_IF_ERROR(RunBlock(head, first, queries));
    }
    logits_.slices().Finish();
  }
  return logits_.band().Finish();
}

// The n-th tile in the forward's order.
int64_t BackwardPass::TileAt(Call::KeyTiles tiles, int64_t n) const {
  const bool descending = call_.tile_hook && call_.tile_hook->descending();
  return descending ? tiles.end - 1 - n : tiles.begin + n;
}

Status BackwardPass::RunBlock(int64_t first_head, int64_t first_query, int queries) {
  POSLAB_RETURN_IF_ERROR(logits_.StartBlock(first_query, queries, forward_.log_sum_exp));
  for (int64_t slot = 0; slot < call_.group; ++slot) StartBlock(slot, first_head + slot, first_query, queries);
  const Call::KeyTiles tiles = call_.TilesFor(first_query, queries);
  if (call_.carries_state()) {
    std::fill_n(state_gradient_, logits_.state_count(queries), 0.0f);
    POSLAB_RETURN_IF_ERROR(SweepState(first_query, queries, tiles));
  }
  if (hook_queries_) std::fill_n(hook_queries_, call_.group * queries * call_.dim, 0.0f);
  for (int64_t n = tiles.end - tiles.begin - 1; n >= 0; --n) {
    const int64_t first_key = TileAt(tiles, n) * kTile;
    const int keys = static_cast<int>(std::min<int64_t>(kTile, call_.keys - first_key));
    Tile tile;
    const bool seen = MakeTile(call_.visibility, first_query, queries, first_key, keys, &tile);
    if (!seen && !call_.carries_state()) continue;
    const float* state = states_ ? states_ + n * logits_.state_count(queries) : nullptr;
    POSLAB_RETURN_IF_ERROR(RunTile(first_head, tile, seen, state));
  }
  for (int64_t slot = 0; slot < call_.group; ++slot) FinishBlock(slot, first_head + slot, first_query, queries);
  return Status::Ok();
}

void BackwardPass::StartBlock(int64_t slot, int64_t head, int64_t first_query, int queries) {
  const int64_t dim = call_.value_dim;
  const float* log_sum_exp = forward_.log_sum_exp + head * call_.queries;
  float* rows = output_rows_ + slot * kTile * dim;
  PackQueries(forward_.output_gradient, head, first_query, queries, nullptr, nullptr, log_sum_exp, rows);
  MakePanel(rows, dim, queries, dim, output_panels_ + slot * kTile * dim);
  float *delta = Lanes(delta_, slot), *shift = Lanes(log_sum_exp_, slot);
  std::fill_n(delta, kTile, 0.0f);
  std::fill_n(shift, kTile, 0.0f);
  for (int n = 0; n < queries; ++n) {
    // Rows that see nothing keep 0: their scores are all -infinity, their weights 0.
    if (log_sum_exp[first_query + n] == -INFINITY) continue;
    shift[n] = log_sum_exp[first_query + n];
    const float* output = forward_.output.row(head, first_query + n);
    double sum = 0;
    for (int64_t d = 0; d < dim; ++d) sum += static_cast<double>(output[d]) * rows[n * dim + d];
    delta[n] = static_cast<float>(sum);
    // The sink's logit gets its weight times (0 - delta), as a key without value would.
    if (call_.arguments.sinks && gradients_->sinks)
      gradients_->sinks[head] -= static_cast<float>(
          Exp(static_cast<double>(call_.arguments.sinks[head]) - static_cast<double>(shift[n])) * sum);
  }
  std::fill_n(QuerySums(content_, slot), call_.dim * kTile, 0.0f);
  if (band_) std::fill_n(QuerySums(band_, slot), call_.dim * kTile, 0.0f);
  std::fill_n(band_sums_ + slot * 2 * kTile, 2 * kTile, 0.0f);
  std::fill_n(weight_sums_ + slot * 2 * kTile, 2 * kTile, 0.0f);
  if (call_.value_band) ScoreBandEnds(*call_.value_band, head, (queries + 3) & ~3, ValueBand(slot));
}

Status BackwardPass::SweepState(int64_t first_query, int queries, Call::KeyTiles tiles) {
  const int64_t count = logits_.state_count(queries);
  for (int64_t n = 0; n < tiles.end - tiles.begin; ++n) {
    const int64_t first_key = TileAt(tiles, n) * kTile;
    Tile tile;
    MakeTile(call_.visibility, first_query, queries, first_key,
             static_cast<int>(std::min<int64_t>(kTile, call_.keys - first_key)), &tile);
    std::copy_n(logits_.state(), count, states_ + n * count);
    POSLAB_RETURN_IF_ERROR(logits_.Compute(tile, scores_, nullptr));
  }
  return Status::Ok();
}

// What the block has summed up: ends of bands, biases, queries.
void BackwardPass::FinishBlock(int64_t slot, int64_t head, int64_t first_query, int queries) {
  const int64_t dim = call_.dim;
  HookGradients* hooks = gradients_->hooks;
  if (call_.value_band)
    AddBandEndsGradient(*call_.value_band, queries, weight_sums_ + slot * 2 * kTile, ValueBand(slot).rows,
                        BandGradient(*call_.value_band, head, hooks->value_band_table.data()));
  float* content = QuerySums(content_, slot);
  if (call_.query_bias) AddLaneSums(content, queries, hooks->query_bias.data() + head * dim);
  if (call_.query_band) {
    const Band& band = *logits_.band().band();
    float *sums = QuerySums(band_, slot), *ends = band_sums_ + slot * 2 * kTile;
    AddBandEnds(band, head, (queries + 3) & ~3, ends, sums);
    AddBandEndsGradient(band, queries, ends, logits_.Band(slot).rows, logits_.band().Gradient(head));
    if (band.bias) AddLaneSums(sums, queries, hooks->score_band_bias.data() + head * dim);
    for (int64_t n = 0; n < dim * kTile; ++n) content[n] += sums[n];
  }
  // key_rows_ is free between tiles, and kTile rows long.
  Transpose(content, kTile, dim, queries, key_rows_, static_cast<ptrdiff_t>(dim));
  ScaleRows(key_rows_, queries, dim, call_.scale, nullptr, key_rows_);
  if (hook_queries_)
    for (int64_t n = 0; n < queries * dim; ++n) key_rows_[n] += hook_queries_[slot * queries * dim + n];
  AddToQueries(key_rows_, queries, call_.rotation, call_.temperature, Turns(head, false), gradients_->query, head,
               first_query);
}

TurnGradients BackwardPass::Turns(int64_t head, bool keys) const {
  TurnGradients turns;
  turns.rows = keys ? call_.arguments.key : call_.arguments.query;
  turns.positions = keys ? call_.key_positions : call_.query_positions;
  if (call_.rotation && call_.rotation->learns) turns.rotation = gradients_->hooks->rotation.data();
  if (call_.temperature && call_.temperature->by_head) turns.temperature = &gradients_->hooks->temperature[head];
  return turns;
}

// bias[d] += scale * sum over the block's queries of sums[d][query].
void BackwardPass::AddLaneSums(const float* sums, int queries, float* bias) const {
  for (int64_t d = 0; d < call_.dim; ++d) {
    double sum = 0;
    for (int n = 0; n < queries; ++n) sum += sums[d * kTile + n];
    bias[d] += static_cast<float>(call_.scale * sum);
  }
}

namespace {

template <typename T>
Status MakeRoom(int64_t count, Buffer<T>* gradient) {
  if (!gradient->empty() || count == 0) return Status::Ok();
  return gradient->Resize("gradient.position", count);
}

// Gives the gradients of bands and biases their sizes, unless they are there to be added to.
Status MakeRoom(const Call& call, HookGradients* gradients) {
  const auto size = [&](const Band* band) {
    return band && band->table ? (band->per_head ? call.heads : 1) * band->rows * band->width : 0;
  };
  const bool has_bias = call.query_band && call.query_band->bias;
  const Hooks* hooks = call.arguments.hooks;
  POSLAB_RETURN_IF_ERROR(MakeRoom(size(hooks ? hooks->score_band.get() : nullptr), &gradients->score_band_table));
  POSLAB_RETURN_IF_ERROR(MakeRoom(size(hooks ? hooks->key_band.get() : nullptr), &gradients->key_band_table));
  const bool angles = call.rotation && call.rotation->learns, by_head = call.temperature && call.temperature->by_head;
  POSLAB_RETURN_IF_ERROR(MakeRoom(angles ? call.rotation->pairs : 0, &gradients->rotation));
  POSLAB_RETURN_IF_ERROR(MakeRoom(by_head ? call.heads : 0, &gradients->temperature));
  POSLAB_RETURN_IF_ERROR(MakeRoom(size(call.value_band), &gradients->value_band_table));
  POSLAB_RETURN_IF_ERROR(MakeRoom(has_bias ? call.heads * call.dim : 0, &gradients->score_band_bias));
  return MakeRoom(call.query_bias ? call.heads * call.dim : 0, &gradients->query_bias);
}

}  // namespace

Status AttentionBackward(const AttentionArguments& arguments, const AttentionGradientArguments& forward,
                         AttentionGradients* gradients, AttentionWorkspace* workspace) {
  POSLAB_RETURN_IF_ERROR(CheckAttention(arguments));
  POSLAB_RETURN_IF_ERROR(CheckGradients(arguments, forward, *gradients));
  const Call call(arguments);
  HookGradients unwanted;
  AttentionGradients to = *gradients;
  if (!to.hooks) to.hooks = &unwanted;
  POSLAB_RETURN_IF_ERROR(MakeRoom(call, to.hooks));
  if (call.queries == 0 || call.keys == 0) return Status::Ok();

  BackwardPass pass(call, forward, &to);
  POSLAB_RETURN_IF_ERROR(workspace->parts().LayOut([&](Arena* arena) { pass.LayOut(arena); }));
  return pass.Run();
}

}  // namespace poslab
