// SPDX-License-Identifier: MIT
// The loops of limit.h, in the same vector instructions as the kernels.
#include "limit.h"

#include "base/simd.h"

namespace poslab_bench {
namespace {

template <int kCount>
float Chains(int64_t rounds) {
  // Near 1, so that no chain overflows or becomes denormal however long it runs.
  const v128_t factor = wasm_f32x4_splat(0.9999f), term = wasm_f32x4_splat(1e-4f);
  v128_t chain[kCount];
  for (int n = 0; n < kCount; ++n) chain[n] = wasm_f32x4_splat(static_cast<float>(n) / kCount);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int n = 0; n < kCount; ++n) chain[n] = poslab::MulAdd(chain[n], factor, term);
  }
  v128_t sum = chain[0];
  for (int n = 1; n < kCount; ++n) sum = wasm_f32x4_add(sum, chain[n]);
  return wasm_f32x4_extract_lane(sum, 0);
}

}  // namespace

float MultiplyAdds(int chains, int64_t rounds) {
  return chains == 8 ? Chains<8>(rounds) : chains == 10 ? Chains<10>(rounds) : Chains<12>(rounds);
}

float ReadAll(const float* from, int64_t count) {
  v128_t a = wasm_f32x4_splat(0), b = a, c = a, d = a;
  for (int64_t n = 0; n < count; n += 16) {
    a = wasm_f32x4_add(a, wasm_v128_load(from + n));
    b = wasm_f32x4_add(b, wasm_v128_load(from + n + 4));
    c = wasm_f32x4_add(c, wasm_v128_load(from + n + 8));
    d = wasm_f32x4_add(d, wasm_v128_load(from + n + 12));
  }
  const v128_t sum = wasm_f32x4_add(wasm_f32x4_add(a, b), wasm_f32x4_add(c, d));
  return wasm_f32x4_extract_lane(sum, 0) + wasm_f32x4_extract_lane(sum, 1) + wasm_f32x4_extract_lane(sum, 2) +
         wasm_f32x4_extract_lane(sum, 3);
}

void CopyAll(const float* from, float* to, int64_t count) {
  for (int64_t n = 0; n < count; n += 16) {
    const v128_t a = wasm_v128_load(from + n), b = wasm_v128_load(from + n + 4);
    const v128_t c = wasm_v128_load(from + n + 8), d = wasm_v128_load(from + n + 12);
    wasm_v128_store(to + n, a), wasm_v128_store(to + n + 4, b);
    wasm_v128_store(to + n + 8, c), wasm_v128_store(to + n + 12, d);
  }
}

void FillAll(float value, float* to, int64_t count) {
  const v128_t four = wasm_f32x4_splat(value);
  for (int64_t n = 0; n < count; n += 16) {
    wasm_v128_store(to + n, four), wasm_v128_store(to + n + 4, four);
    wasm_v128_store(to + n + 8, four), wasm_v128_store(to + n + 12, four);
  }
}

}  // namespace poslab_bench
