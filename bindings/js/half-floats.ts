// SPDX-License-Identifier: MIT
// Half-precision numbers by their bits: IEEE 754 binary16 and bfloat16 to float32 (exact), float32 to binary16 (to the
// nearest, ties to even; too large becomes infinity).

const bits = new DataView(new ArrayBuffer(4));

/** The value of a binary16 number. */
export function fromFloat16(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The value of a bfloat16 number: the upper half of a float32. */
export function fromBfloat16(half: number): number {
  bits.setUint32(0, (half << 16) >>> 0);
  return bits.getFloat32(0);
}

/** The nearest binary16 number of a float32. */
export function toFloat16(value: number): number {
  bits.setFloat32(0, value);
  const word = bits.getUint32(0);
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // 65520 and more round to infinity
  if (magnitude < 0x38800000) {
    // Below 2^-14 the spacing is 2^-24; adding 0.5 in float32 lets its own rounding put the value on that grid.
    bits.setUint32(0, magnitude);
    const shifted = Math.fround(bits.getFloat32(0) + 0.5);
    bits.setFloat32(0, shifted);
    return sign | (bits.getUint32(0) - 0x3f000000);
  }
  const odd = (magnitude >>> 13) & 1;
  return sign | ((magnitude - 0x38000000 + 0xfff + odd) >>> 13);
}
