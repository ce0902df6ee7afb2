// SPDX-License-Identifier: MIT
// PCG-XSH-RR 64/32 (O'Neill 2014), the core's generator (src/base/random.h) for what is drawn on this side: the same seed
// gives the same numbers here and there.

const kMultiplier = 6364136223846793005n;
const kMask = (1n << 64n) - 1n;

/** Draws whole numbers 0 .. bound - 1 without bias; bound from 1 to 2^32. */
export function randomBelow(seed: number, stream = 0): (bound: number) => number {
  const increment = (BigInt(stream) << 1n) | 1n;
  let state = 0n;
  const nextBits = (): number => {
    const old = state;
    state = (old * kMultiplier + increment) & kMask;
    const shifted = Number((((old >> 18n) ^ old) >> 27n) & 0xffffffffn);
    const turn = Number(old >> 59n);
    return ((shifted >>> turn) | (shifted << ((32 - turn) & 31))) >>> 0;
  };
  nextBits();
  state = (state + BigInt(seed)) & kMask;
  nextBits();
  return (bound) => {
    const rejected = (2 ** 32 - bound) % bound;
    for (;;) {
      const bits = nextBits();
      if (bits >= rejected) return bits % bound;
    }
  };
}
