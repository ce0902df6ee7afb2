// SPDX-License-Identifier: MIT
// Thresholds: a guess in double, and whole numbers where the guess is too near to an edge to be trusted.
#include "position/t5_buckets.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/math.h"

namespace poslab {
namespace {

constexpr int64_t kMostBuckets = 4096;
constexpr int64_t kLargestMaxDistance = (int64_t{1} << 31) - 1;
// The guess exp((t ln D + (m-t) ln e) / m) has an argument below 22, so an error below 22 * 8 * 2^-53 relative; wider:
constexpr double kGuessError = 1e-12;

// A whole number of any size, in limbs of 32 bits, least first.
using Natural = std::vector<uint32_t>;

void MultiplyBy(Natural* number, uint64_t factor) {
  uint64_t carry = 0;
  for (uint32_t& limb : *number) {
    const uint64_t product = limb * factor + carry;
    limb = static_cast<uint32_t>(product);
    carry = product >> 32;
  }
  if (carry) number->push_back(static_cast<uint32_t>(carry));
}

bool AtLeast(const Natural& a, const Natural& b) {
  if (a.size() != b.size()) return a.size() > b.size();
  return !std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

// The smallest distance of log bucket t of m: the smallest d with d^m >= max_distance^t * exact^(m - t).
int64_t Threshold(int64_t t, int64_t m, int64_t exact, int64_t max_distance) {
  const double share = static_cast<double>(t) / static_cast<double>(m);
  const double guess =
      Exp(share * Log(static_cast<double>(max_distance)) + (1 - share) * Log(static_cast<double>(exact)));
  const double nearest = std::round(guess);
  if (std::fabs(guess - nearest) > kGuessError * guess) return static_cast<int64_t>(std::ceil(guess));
  const bool reaches = PowerReaches(static_cast<uint64_t>(nearest), m, static_cast<uint64_t>(max_distance), t,
                                    static_cast<uint64_t>(exact));
  return static_cast<int64_t>(nearest) + (reaches ? 0 : 1);
}

}  // namespace

bool PowerReaches(uint64_t base, int64_t exponent, uint64_t left, int64_t t, uint64_t right) {
  Natural power = {1}, bound = {1};
  for (int64_t n = 0; n < exponent; ++n) {
    MultiplyBy(&power, base);
    MultiplyBy(&bound, n < t ? left : right);
  }
  return AtLeast(power, bound);
}

Result<T5Buckets> T5Buckets::Make(int64_t buckets, int64_t max_distance, bool bidirectional) {
  const int64_t fewest = bidirectional ? 4 : 2;
  if (buckets < fewest || buckets > kMostBuckets) {
    return Status::Number(Code::kRange, "position.buckets", static_cast<double>(buckets),
                          "a whole number from {0} to {1}", static_cast<double>(fewest),
                          static_cast<double>(kMostBuckets));
  }
  const int64_t side = bidirectional ? buckets / 2 : buckets, exact = side / 2;
  if (max_distance <= exact || max_distance > kLargestMaxDistance) {
    return Status::Number(Code::kRange, "position.maxDistance", static_cast<double>(max_distance),
                          "a whole number from {0} (one more than half of the buckets of a side) to {1}",
                          static_cast<double>(exact + 1), static_cast<double>(kLargestMaxDistance));
  }
  T5Buckets made;
  made.buckets_ = buckets;
  made.bidirectional_ = bidirectional;
  POSLAB_RETURN_IF_ERROR(made.thresholds_.Resize("position.buckets", side));
  for (int64_t b = 0; b < side; ++b) {
    made.thresholds_[b] = b < exact ? b : Threshold(b - exact, side - exact, exact, max_distance);
  }
  return made;
}

int64_t T5Buckets::SideBucket(uint64_t magnitude) const {
  const auto above =
      std::upper_bound(thresholds_.begin(), thresholds_.end(), magnitude,
                       [](uint64_t value, int64_t first) { return value < static_cast<uint64_t>(first); });
  return above - thresholds_.begin() - 1;
}

int64_t T5Buckets::Bucket(int64_t distance) const {
  // Unsigned, because the magnitude of the smallest int64 is no int64.
  if (distance <= 0) return SideBucket(uint64_t{0} - static_cast<uint64_t>(distance));
  return bidirectional_ ? thresholds_.size() + SideBucket(static_cast<uint64_t>(distance)) : 0;
}

int64_t T5Buckets::LastOfRun(int64_t distance) const {
  if (distance < 0) return -thresholds_[SideBucket(uint64_t{0} - static_cast<uint64_t>(distance))];
  if (!bidirectional_) return INT64_MAX;
  if (distance == 0) return 0;
  const int64_t next = SideBucket(static_cast<uint64_t>(distance)) + 1;
  return next < thresholds_.size() ? thresholds_[next] - 1 : INT64_MAX;
}

}  // namespace poslab
