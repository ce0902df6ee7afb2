// SPDX-License-Identifier: MIT
#include "transformer/key_value_cache.h"

#include <algorithm>

namespace poslab {
namespace {

constexpr int64_t kSmallestCapacity = 64;

Status GrowRows(int64_t heads, int64_t head_dim, int64_t from, int64_t to, int64_t kept, Buffer<float>* rows) {
  Buffer<float> larger;
  POSLAB_RETURN_IF_ERROR(larger.ResizeForOverwrite("cache", CheckedProduct({heads, to, head_dim})));
  for (int64_t head = 0; head < heads; ++head)
    std::copy_n(rows->data() + head * from * head_dim, kept * head_dim, larger.data() + head * to * head_dim);
  *rows = std::move(larger);
  return Status::Ok();
}

}  // namespace

Status KeyValueCache::Reserve(int64_t heads, int64_t head_dim, int64_t gate_heads, int64_t length, int64_t kept) {
  // Another scheme begins with an empty cache.
  if (gate_heads != gate_heads_) capacity_ = 0;
  heads_ = heads, head_dim_ = head_dim, gate_heads_ = gate_heads;
  if (length <= capacity_) return Status::Ok();
  const int64_t capacity = std::max({length, 2 * capacity_, kSmallestCapacity});
  POSLAB_RETURN_IF_ERROR(GrowRows(heads, head_dim, capacity_, capacity, kept, &keys_));
  POSLAB_RETURN_IF_ERROR(GrowRows(heads, head_dim, capacity_, capacity, kept, &values_));
  if (gate_heads > 0) POSLAB_RETURN_IF_ERROR(GrowRows(gate_heads, 1, capacity_, capacity, kept, &gates_));
  capacity_ = capacity;
  return Status::Ok();
}

void KeyValueCache::AppendGates(int64_t from, int64_t count, const float* gates, float* all) {
  for (int64_t head = 0; head < gate_heads_; ++head) {
    float* own = gates_.data() + head * capacity_;
    std::copy_n(gates + head * count, count, own + from);
    std::copy_n(own, from + count, all + head * (from + count));
  }
}

void KeyValueCache::Append(int64_t from, int64_t count, const float* rows, int64_t stride) {
  for (int64_t head = 0; head < heads_; ++head) {
    const float* key = rows + head * head_dim_;
    float* to_key = keys_.data() + (head * capacity_ + from) * head_dim_;
    float* to_value = values_.data() + (head * capacity_ + from) * head_dim_;
    for (int64_t n = 0; n < count; ++n, key += stride, to_key += head_dim_, to_value += head_dim_) {
      std::copy_n(key, head_dim_, to_key);
      std::copy_n(key + heads_ * head_dim_, head_dim_, to_value);
    }
  }
}

}  // namespace poslab
