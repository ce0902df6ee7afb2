// SPDX-License-Identifier: MIT
// GGUF's quantised blocks of 32 numbers as float32 (ggml's block_q4_0 and its kin): a scale in half precision, for the
// "_1" types a minimum after it, for the five-bit types a word of fifth bits, then the numbers. In a byte of two
// four-bit numbers the low one belongs to the first half of the block, the high one to the second half.

import { fromFloat16 } from "../half-floats.js";

/** Fills `out` (whole blocks) with the numbers of the blocks in `view`. */
export type Widen = (view: DataView, out: Float32Array) => void;

const half = 16;

/** Q4_0 (x = (n - 8) d) and Q4_1 (x = n d + m). */
export function q4(hasMinimum: boolean): Widen {
  return nibbles(hasMinimum, 0, 8);
}

/** Q5_0 (x = (n - 16) d) and Q5_1 (x = n d + m). */
export function q5(hasMinimum: boolean): Widen {
  return nibbles(hasMinimum, 4, 16);
}

function nibbles(hasMinimum: boolean, fifthBitBytes: 0 | 4, middle: number): Widen {
  return (view, out) => {
    let at = 0;
    for (let first = 0; first < out.length; first += 2 * half) {
      const scale = fromFloat16(view.getUint16(at, true));
      at += 2;
      const minimum = hasMinimum ? fromFloat16(view.getUint16(at, true)) : -middle * scale;
      if (hasMinimum) at += 2;
      const fifthBits = fifthBitBytes ? view.getUint32(at, true) : 0;
      at += fifthBitBytes;
      for (let j = 0; j < half; j += 1) {
        const byte = view.getUint8(at + j);
        const low = (byte & 15) | (((fifthBits >>> j) & 1) << 4);
        const high = (byte >> 4) | (((fifthBits >>> (j + half)) & 1) << 4);
        out[first + j] = low * scale + minimum;
        out[first + j + half] = high * scale + minimum;
      }
      at += half;
    }
  };
}

/** Q8_0: x = n d with signed bytes. */
export const q8: Widen = (view, out) => {
  let at = 0;
  for (let first = 0; first < out.length; first += 2 * half) {
    const scale = fromFloat16(view.getUint16(at, true));
    for (let j = 0; j < 2 * half; j += 1) out[first + j] = view.getInt8(at + 2 + j) * scale;
    at += 2 + 2 * half;
  }
};
