// SPDX-License-Identifier: MIT
#include "position/draw_positions.h"

#include <algorithm>
#include <set>
#include <string>

namespace poslab {
namespace {

using Policy = PositionDraw::Policy;

// The generator draws 32 bits at a time.
constexpr int64_t kLargestMaximum = int64_t{1} << 31;

int64_t Below(Random* random, int64_t bound) { return random->Below(static_cast<uint32_t>(bound)); }

// Floyd's sample: every set of `length` numbers below `maximum` is as likely as any other.
void Sample(int64_t length, int64_t maximum, Random* random, int64_t* ids) {
  std::set<int64_t> chosen;
  for (int64_t last = maximum - length; last < maximum; ++last)
    if (!chosen.insert(Below(random, last + 1)).second) chosen.insert(last);
  std::copy(chosen.begin(), chosen.end(), ids);
}

}  // namespace

Status CheckPositionDraw(const PositionDraw& draw, int64_t length, const char* prefix) {
  const int64_t least = draw.policy == Policy::kShift ? 0 : length;
  if (draw.maximum < least || draw.maximum > kLargestMaximum) {
    return Status::Number(Code::kRange, std::string(prefix) + "maximum", static_cast<double>(draw.maximum),
                          "a whole number from {0} to {1}", static_cast<double>(least),
                          static_cast<double>(kLargestMaximum));
  }
  const int64_t most = std::max<int64_t>(1, length);
  if (draw.policy == Policy::kPose && (draw.chunks < 1 || draw.chunks > most)) {
    return Status::Number(Code::kRange, std::string(prefix) + "chunks", static_cast<double>(draw.chunks),
                          "a whole number from 1 to the length, {0}", static_cast<double>(most));
  }
  return Status::Ok();
}

int64_t LargestDrawn(const PositionDraw& draw, int64_t length) {
  return draw.policy == Policy::kShift ? draw.maximum + length - 1 : draw.maximum - 1;
}

void DrawPositions(const PositionDraw& draw, int64_t length, Random* random, int64_t* ids) {
  if (draw.policy == Policy::kRandomized) return Sample(length, draw.maximum, random, ids);
  const bool shifted = draw.policy == Policy::kShift;
  int64_t skipped = shifted ? Below(random, draw.maximum + 1) : 0, chunk = 0;
  for (int64_t n = 0; n < length; ++n) {
    // A chunk begins where floor(n chunks / length) grows.
    while (!shifted && n * draw.chunks / length > chunk) {
      skipped += Below(random, draw.maximum - length - skipped + 1);
      ++chunk;
    }
    ids[n] = n + skipped;
  }
}

}  // namespace poslab
