// SPDX-License-Identifier: MIT
// T5's buckets of distances (Raffel et al. 2020, section 2.1, and the authors' code) by exact integer thresholds. With
// n buckets a side and e = floor(n / 2), distances below e have a bucket each; from there on
//   bucket = e + floor((n - e) ln(distance / e) / ln(maxDistance / e)), at most n - 1.
// The first distance of each bucket is found once: b - e = t asks for distance^(n-e) >= maxDistance^t e^(n-e-t), which
// is decided in whole numbers whenever doubles cannot be trusted (distances 16, 32, 64 of 32/128 are such edges).
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.h"
#include "base/status.h"

namespace poslab {

class T5Buckets {
 public:
  // buckets: 2 .. 4096 in all; maxDistance: above half of the buckets a side, up to 2^31 - 1.
  static Result<T5Buckets> Make(int64_t buckets, int64_t max_distance, bool bidirectional);

  // The bucket of the distance j - i, 0 .. buckets - 1, for any int64. Causal: keys to the right share bucket 0.
  // Bidirectional: keys to the right have the upper half.
  int64_t Bucket(int64_t distance) const;
  // The largest distance that has the same bucket as `distance` and every distance between.
  int64_t LastOfRun(int64_t distance) const;

  int64_t buckets() const { return buckets_; }
  bool bidirectional() const { return bidirectional_; }
  // First distance (without sign) of each bucket of a side.
  std::span<const int64_t> thresholds() const { return thresholds_.span(); }

 private:
  int64_t SideBucket(uint64_t magnitude) const;

  int64_t buckets_ = 0;
  bool bidirectional_ = false;
  Buffer<int64_t> thresholds_;
};

// Whether base^exponent >= left^t * right^(exponent - t), in whole numbers of any size. All below 2^32.
bool PowerReaches(uint64_t base, int64_t exponent, uint64_t left, int64_t t, uint64_t right);

}  // namespace poslab
