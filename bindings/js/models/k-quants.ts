// SPDX-License-Identifier: MIT
// GGUF's "K" blocks of 256 numbers as float32 (ggml's block_q4_K, block_q5_K, block_q6_K): groups of 32 (Q6_K: of 16)
// whose scales are themselves quantised, below one scale (and for Q4_K and Q5_K one scale of minima) in half precision.

import { fromFloat16 } from "../half-floats.js";
import type { Widen } from "./quants.js";

const superBlock = 256;

/**
 * The six-bit scale and minimum of group `group` (of 8) from the 12 bytes at `at`: the first four groups in the low six
 * bits of bytes 0-3 and 4-7; the last four in the nibbles of bytes 8-11 with their upper two bits in bytes 0-7.
 */
function scaleAndMinimum(view: DataView, at: number, group: number): [number, number] {
  if (group < 4) return [view.getUint8(at + group) & 63, view.getUint8(at + group + 4) & 63];
  const nibbles = view.getUint8(at + group + 4);
  return [
    (nibbles & 15) | ((view.getUint8(at + group - 4) >> 6) << 4),
    (nibbles >> 4) | ((view.getUint8(at + group) >> 6) << 4),
  ];
}

/** Q4_K: half d, half dmin, 12 bytes of scales, 128 bytes; x = d s n - dmin m. */
export const q4K: Widen = (view, out) => fourOrFiveBits(view, out, false);
/** Q5_K: as Q4_K with 32 bytes of fifth bits before the 128. */
export const q5K: Widen = (view, out) => fourOrFiveBits(view, out, true);

function fourOrFiveBits(view: DataView, out: Float32Array, isFive: boolean): void {
  const scales = 4,
    fifthBits = 16,
    numbers = isFive ? 48 : 16,
    bytes = numbers + 128;
  for (let first = 0, at = 0; first < out.length; first += superBlock, at += bytes) {
    const d = fromFloat16(view.getUint16(at, true));
    const dMinimum = fromFloat16(view.getUint16(at + 2, true));
    for (let group = 0; group < 8; group += 1) {
      const [scale, minimum] = scaleAndMinimum(view, at + scales, group);
      // Two groups share 32 bytes: the even one has the low nibbles.
      const shift = 4 * (group % 2);
      const from = at + numbers + 32 * (group >> 1);
      for (let j = 0; j < 32; j += 1) {
        const fifth = isFive ? (view.getUint8(at + fifthBits + j) >> group) & 1 : 0;
        const number = ((view.getUint8(from + j) >> shift) & 15) | (fifth << 4);
        out[first + 32 * group + j] = d * scale * number - dMinimum * minimum;
      }
    }
  }
}

/** Q6_K: 128 bytes of low nibbles, 64 of upper bit pairs, 16 signed scales, half d; x = d s (n - 32). */
export const q6K: Widen = (view, out) => {
  const upper = 128,
    scales = 192,
    bytes = 210;
  for (let first = 0, at = 0; first < out.length; first += superBlock, at += bytes) {
    const d = fromFloat16(view.getUint16(at + bytes - 2, true));
    for (let index = 0; index < superBlock; index += 1) {
      // 128 numbers share 64 bytes of nibbles and 32 of pairs; quarters of 32 follow each other in them.
      const part = index >> 7;
      const quarter = (index >> 5) & 3;
      const j = index & 31;
      const nibble = (view.getUint8(at + 64 * part + 32 * (quarter & 1) + j) >> (quarter < 2 ? 0 : 4)) & 15;
      const pair = (view.getUint8(at + upper + 32 * part + j) >> (2 * quarter)) & 3;
      const scale = view.getInt8(at + scales + (index >> 4));
      out[first + index] = d * scale * ((nibble | (pair << 4)) - 32);
    }
  }
};
