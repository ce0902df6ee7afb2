// SPDX-License-Identifier: MIT
// The online softmax with queries as lanes (Milakov & Gimelshein 2018, algorithm 3): each tile of scores becomes
// weights relative to the largest score so far, and what was summed before is scaled down when the largest grows.
#pragma once

#include "attention/visibility.h"

namespace poslab {

// What a block of queries has summed so far. Scores that are all -infinity leave sum 0.
struct SoftmaxState {
  float largest[kTile];  // largest score; the sink at the start, -infinity without one
  float sum[kTile];      // of e^(score - largest), the sink included
  // With a sink (-infinity: none), which takes weight from the start.
  void Reset(float sink);
};

// Turns scores (-infinity where hidden) inside tile.group into e^(score - largest) and scales the first `rows` rows of
// `out` [rows, kTile] by what the largest grew. Lanes whose scores are all -infinity get zeros.
void UpdateSoftmax(const Tile& tile, float* scores, SoftmaxState* state, int64_t rows, float* out);

// out[d][lane] /= sum; zero where the sum is. [rows, kTile]
void DivideBySum(int lanes, const SoftmaxState& state, int64_t rows, float* out);

// largest + ln(sum), in double, rounded once; -infinity where the sum is 0.
float LogSumExp(const SoftmaxState& state, int lane);

// For the backward pass: scores inside tile.group become e^(score - log_sum_exp). [lanes], finite.
void RecomputeWeights(const Tile& tile, const float* log_sum_exp, float* scores);

// gradients[key][lane] = weights * (gradients - delta[lane]) inside tile.group: the softmax's backward twin.
void SoftmaxBackward(const Tile& tile, const float* weights, const float* delta, float* gradients);

// count weights of one row from its scores: e^(score - largest) / sum, in place; zeros where the sum is 0.
void FinishWeights(float largest, float sum, int64_t count, float* row);

}  // namespace poslab
