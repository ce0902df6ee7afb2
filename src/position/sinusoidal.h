// SPDX-License-Identifier: MIT
// Sinusoidal positions (Vaswani et al. 2017, "Attention Is All You Need", section 3.5): pair k of a token at position p
// is sin(p w_k), cos(p w_k) with w_k = base^(-2k / dim), added to its embedding.
//   layout       interleaved: sin and cos alternate; concatenated: all sines, then all cosines (Transformer-XL, Marian)
//   denominator  half-dim-minus-one: w_k = base^(-k / (dim/2 - 1)) (tensor2tensor, fairseq, Whisper)
// Odd widths: with `dim` the last frequency has a sine and no cosine; with half-dim-minus-one the last column is zero.
#pragma once

#include <memory>

#include "base/buffer.h"
#include "position/angles.h"
#include "position/scheme.h"

namespace poslab {

enum class SinusoidLayout { kInterleaved, kConcatenated };
enum class SinusoidDenominator { kDim, kHalfDimMinusOne };

// w_k for a row of `dim` columns: ceil(dim / 2) of them (kDim) or floor(dim / 2) (kHalfDimMinusOne, dim >= 4).
Result<Buffer<double>> SinusoidFrequencies(double base, int64_t dim, SinusoidDenominator denominator);

// rows[n] += the sinusoid of positions[n]; rows [count, dim]. Every angle in double, rounded once.
Status AddSinusoid(Positions positions, int64_t dim, double base, SinusoidLayout layout,
                   SinusoidDenominator denominator, float* rows);

// Fields: base (10000), layout ("interleaved"), denominator ("dim").
// row [2 * pairs] = the sines, then the cosines of the angles' current row.
void RoundSinusoid(const AngleRows& angles, int64_t pairs, float* row);

Result<std::unique_ptr<Scheme>> MakeSinusoidal(const Description& description);

}  // namespace poslab
