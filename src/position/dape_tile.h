// SPDX-License-Identifier: MIT
// DAPE's perceptron on tiles of all heads: products of its weights with a row of keys at a time, queries as lanes. What
// the static biases give the hidden units depends on the distance alone and is worked out once a diagonal.
#pragma once

#include "base/buffer.h"
#include "position/tile_scheme.h"

namespace poslab {

class DapeTile final : public LearnedTile {
 public:
  // The perceptron's tensors begin at number `first`, after those of the base.
  DapeTile(int64_t heads, int64_t width, size_t first, Hooks base)
      : base(std::move(base)), heads_(heads), width_(width), first_(first) {}

  bool all_heads() const override { return true; }

  Status Prepare(const BindArguments& arguments) override;
  Status Forward(const TileArguments& tile) const override;
  Status Backward(const TileArguments& tile, const TileGradients& gradients) override;
  void Finish() override;

  // The changed logits of one pair from the logits and biases [heads], in double; tensors as in dape.h.
  static void Reference(const double* logits, const double* biases, const float* weight1, const float* bias1,
                        const float* weight2, const float* bias2, int64_t heads, int64_t width, double* out);

  const Hooks base;  // its slice

 private:
  // Tables of a tile have a column a distance, falling, where positions step by one; otherwise a column a pair. Those of
  // the queries and one key follow one another from this column on.
  int64_t Offset(const TileArguments& tile, int64_t key) const {
    return regular_ ? tile.keys - 1 - key : key * tile.queries;
  }
  int64_t DistanceAt(const TileArguments& tile, int64_t column) const;
  Status StartTile(const TileArguments& tile) const;
  // hidden_ = what goes into the hidden units of all queries with one key; logits: [heads, queries].
  void Sums(const TileArguments& tile, int64_t key, const float* logits, int64_t logit_stride) const;
  void BackwardKey(const TileArguments& tile, const TileGradients& gradients, int64_t key);
  void ThroughDistances(const TileArguments& tile);

  int64_t heads_, width_;
  size_t first_;
  int64_t first_distance_ = 0, rows_ = 0;
  Buffer<float> biases_;           // [heads, rows_]: of the distances from first_distance_ on; empty: too many
  Buffer<double> bias_gradients_;  // likewise
  // Scratch of one tile.
  mutable bool regular_ = false;
  mutable int64_t distances_ = 0, lanes_ = 0;   // columns of tables; queries, filled up to a multiple of four
  mutable Buffer<float> static_, static_sums_;  // [heads, distances_]: biases; [width, distances_]: what they give
  mutable Buffer<float> hidden_;                // [width, lanes_]
  Buffer<float> by_hidden_;                     // [width, lanes_]
  Buffer<float> finite_, through_;              // [heads, lanes_]: logits without NaN; their gradients
  Buffer<float> by_static_, by_sums_;           // like static_ and static_sums_
  Buffer<float> by_weight1_, by_weight2_;       // [width, heads, 4], of the logits' half; [heads, width, 4]
};

}  // namespace poslab
