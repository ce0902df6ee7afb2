// SPDX-License-Identifier: MIT
// PCG-XSH-RR 64/32 (O'Neill 2014, section 6.3.1): a 64-bit linear congruential generator whose output is its high bits,
// xor-shifted and rotated by the top five. Normal draws by Box & Muller 1958.
#include "base/random.h"

#include <cmath>
#include <numbers>

#include "base/math.h"

namespace poslab {
namespace {

constexpr uint64_t kMultiplier = 6364136223846793005u;  // Knuth's MMIX generator, as PCG takes it

}  // namespace

// The reference initialisation: one step from zero, add the seed, one step more. The increment must be odd.
Random::Random(uint64_t seed, uint64_t stream) : state_{0, (stream << 1) | 1} {
  NextBits();
  state_.state += seed;
  NextBits();
}

uint32_t Random::NextBits() {
  const uint64_t old = state_.state;
  state_.state = old * kMultiplier + state_.increment;
  const uint32_t shifted = static_cast<uint32_t>(((old >> 18) ^ old) >> 27);
  const uint32_t turn = static_cast<uint32_t>(old >> 59);
  return (shifted >> turn) | (shifted << ((32 - turn) & 31));
}

uint32_t Random::Below(uint32_t bound) {
  // Draws below 2^32 mod bound are thrown away: what is left holds every remainder equally often.
  const uint32_t rejected = (0u - bound) % bound;
  for (;;) {
    const uint32_t bits = NextBits();
    if (bits >= rejected) return bits % bound;
  }
}

double Random::Uniform() {
  const uint64_t high = NextBits() >> 5;  // 27 bits
  const uint64_t low = NextBits() >> 6;   // 26 bits
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

double Random::Normal() {
  const double radius = std::sqrt(-2 * Log(1 - Uniform()));  // 1 - u lies in (0, 1]: the logarithm is finite
  const double angle = 2 * std::numbers::pi * Uniform();
  return static_cast<float>(radius * Cos(angle));
}

}  // namespace poslab
