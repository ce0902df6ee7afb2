// SPDX-License-Identifier: MIT
#include "model/pass_memory.h"

#include <algorithm>

namespace poslab {
namespace {

int64_t AttentionWidth(const ModelDescription& d) { return (d.heads + 2 * d.key_value_heads) * d.head_dim; }

}  // namespace

Status CheckPass(const ModelDescription& d, int64_t batch, int64_t length) {
  for (const auto& [name, given] : {std::pair{"batch", batch}, std::pair{"length", length}})
    if (given < 0) return Status::Number(Code::kRange, name, static_cast<double>(given), "at least 0");
  const int64_t widest = std::max({d.dim, AttentionWidth(d), d.feed_forward, d.vocabulary});
  const int64_t largest = CheckedProduct({batch, length, widest});
  if (largest < 0 || static_cast<uint64_t>(largest) > kMaxBytes / sizeof(float))
    return Status::Number(
        Code::kMemory, "length",
        static_cast<double>(batch) * static_cast<double>(length) * static_cast<double>(widest) * sizeof(float),
        "at most {0} bytes for one layer's activations", static_cast<double>(kMaxBytes));
  return Status::Ok();
}

Status BlockActivations::Prepare(const ModelDescription& d, const PassShape& shape, bool backward) {
  const bool post = d.norm_placement == ModelDescription::NormPlacement::kPost;
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.dim, &norm1));
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * AttentionWidth(d), &query_key_value));
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.heads * d.head_dim, &heads));
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.dim, &middle));
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.feed_forward, &in));
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.feed_forward, &hidden));
  if (!d.parallel && !post) POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.dim, &norm2));
  if (!d.parallel && post) POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.dim, &sum));
  if (d.gated) {
    POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.feed_forward, &gate));
    POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.feed_forward, &gate_value));
  }
  if (!backward) return Status::Ok();
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.heads, &log_sum_exp));
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * 2, &norm1_statistics));
  return Grow(shape.rows * 2, &norm2_statistics);
}

Status GradientScratch::Prepare(const ModelDescription& d, const PassShape& shape) {
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * AttentionWidth(d), &query_key_value));
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.heads * d.head_dim, &heads));
  POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.feed_forward, &hidden));
  if (d.gated) POSLAB_RETURN_IF_ERROR(Grow(shape.rows * d.feed_forward, &gate));
  return Grow(shape.rows * d.dim, &row);
}

}  // namespace poslab
