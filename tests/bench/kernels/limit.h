// SPDX-License-Identifier: MIT
// What this processor can do at most: multiply-adds that never leave the registers, and plain loops that read, copy and
// fill memory. Kernels are given as a percentage of these, measured in the same run.
#pragma once

#include <cstdint>

namespace poslab_bench {

// Rounds of multiply-adds on independent chains of four floats each: 8 * chains floating-point operations a round. How
// many chains an engine keeps in registers differs, so the best of these is the limit. Returns the chains' sum.
constexpr int kChains[] = {8, 10, 12};
float MultiplyAdds(int chains, int64_t rounds);
inline double MultiplyAddFlops(int chains, int64_t rounds) { return 8.0 * chains * static_cast<double>(rounds); }

// Counts are multiples of 16 floats.
float ReadAll(const float* from, int64_t count);  // their sum
void CopyAll(const float* from, float* to, int64_t count);
void FillAll(float value, float* to, int64_t count);

}  // namespace poslab_bench
