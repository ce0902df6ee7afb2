// SPDX-License-Identifier: MIT
// Numbers for the tests of layers: reproducible rows of floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace poslab_test {

inline std::vector<float> RandomRows(int64_t count, uint64_t seed, double deviation = 1) {
  poslab::Random random(seed, 77);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(deviation * random.Normal());
  return values;
}

inline std::vector<int32_t> RandomIds(int64_t count, int32_t vocabulary, uint64_t seed) {
  poslab::Random random(seed, 78);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(static_cast<uint32_t>(vocabulary)));
  return ids;
}

// The largest |a[n] - b[n]|.
template <typename A, typename B>
double LargestDifference(const A& a, const B& b) {
  double largest = 0;
  for (size_t n = 0; n < a.size(); ++n) {
    const double difference = static_cast<double>(a[n]) - static_cast<double>(b[n]);
    if (!(difference <= largest && -difference <= largest)) largest = difference < 0 ? -difference : difference;
  }
  return largest;
}

}  // namespace poslab_test
