// SPDX-License-Identifier: MIT
#include "attention/key_rows.h"

#include <algorithm>

namespace poslab {
namespace {

// Copying strided rows pays when so many queries read them.
constexpr int64_t kQueriesThatPay = 16;

}  // namespace

KeyRows::KeyRows(const Call& call) : call_(call) {
  const AttentionArguments& a = call.arguments;
  const bool often = call.queries >= kQueriesThatPay;
  const bool wants_rows = call.tile_hook && call.tile_hook->uses_vectors();
  pack_keys_ = call.rotation || call.visibility.key_mask || (a.key.row_stride != call.dim && (often || wants_rows));
  pack_values_ = call.visibility.key_mask || (a.value.row_stride != call.value_dim && often);
  if (call.queries == 0) return;
  const Call::KeyTiles tiles = call.TilesFor(0, call.queries);
  first_ = tiles.begin * kTile;
  count_ = std::max<int64_t>(0, std::min(tiles.end * kTile, call.keys) - first_);
}

void KeyRows::LayOut(Arena* arena) {
  const int64_t rows = call_.group == 1 ? count_ : call_.key_value_heads * kTile;
  if (pack_keys_) keys_ = arena->Take<float>(rows * call_.dim);
  if (pack_values_) values_ = arena->Take<float>(rows * call_.value_dim);
}

void KeyRows::Pack(int64_t key_head, int64_t first, int64_t count, float* keys, float* values) const {
  const AttentionArguments& a = call_.arguments;
  const uint8_t* mask = call_.visibility.key_mask;
  if (pack_keys_) PackKeys(a.key, key_head, first, count, call_.rotation, mask, keys);
  if (pack_values_) PackKeys(a.value, key_head, first, count, nullptr, mask, values);
}

void KeyRows::StartHead(int64_t head) {
  if (call_.group > 1 || packed_head_ == call_.KeyHead(head)) return;
  packed_head_ = call_.KeyHead(head);
  Pack(packed_head_, first_, count_, keys_, values_);
}

void KeyRows::StartTile(const Tile& tile) {
  if (call_.group == 1) return;
  for (int64_t head = 0; head < call_.key_value_heads; ++head)
    Pack(head, tile.first_key, tile.keys, pack_keys_ ? keys_ + head * kTile * call_.dim : nullptr,
         pack_values_ ? values_ + head * kTile * call_.value_dim : nullptr);
}

Rows KeyRows::Keys(int64_t head, const Tile& tile) const {
  const HeadsView<const float>& view = call_.arguments.key;
  if (!pack_keys_) return {view.row(call_.KeyHead(head), tile.first_key), static_cast<ptrdiff_t>(view.row_stride)};
  const auto stride = static_cast<ptrdiff_t>(call_.dim);
  if (call_.group > 1) return {keys_ + call_.KeyHead(head) * kTile * call_.dim, stride};
  return {keys_ + (tile.first_key - first_) * call_.dim, stride};
}

Rows KeyRows::Values(int64_t head, const Tile& tile) const {
  const HeadsView<const float>& view = call_.arguments.value;
  if (!pack_values_) return {view.row(call_.KeyHead(head), tile.first_key), static_cast<ptrdiff_t>(view.row_stride)};
  const auto stride = static_cast<ptrdiff_t>(call_.value_dim);
  if (call_.group > 1) return {values_ + call_.KeyHead(head) * kTile * call_.value_dim, stride};
  return {values_ + (tile.first_key - first_) * call_.value_dim, stride};
}

}  // namespace poslab
