// SPDX-License-Identifier: MIT
// PCG-XSH-RR 64/32 (O'Neill 2014, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms"): 64
// bits of state, one of 2^63 streams, integer arithmetic only, so the same seed gives the same numbers everywhere.
// pcg32 with seed 42, stream 54 begins 0xa15c02b7 0x7b47f409 0xba1d3330 (the reference implementation's demo).
#pragma once

#include <cstdint>

namespace poslab {

class Random {
 public:
  // Streams keep uses apart: the same seed with another stream is an independent sequence.
  explicit Random(uint64_t seed, uint64_t stream = 0);

  uint32_t NextBits();             // 32 random bits
  uint32_t Below(uint32_t bound);  // 0 .. bound - 1, without bias; bound >= 1
  double Uniform();                // [0, 1), 53 bits
  double Normal();                 // Box-Muller in double, rounded to a float's value so that all builds agree;
                                   // uses two Uniform draws, keeps no spare value

  struct State {
    uint64_t state, increment;
  };
  State state() const { return state_; }
  void set_state(State state) { state_ = state; }

 private:
  State state_;
};

}  // namespace poslab
