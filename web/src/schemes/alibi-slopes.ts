// SPDX-License-Identifier: MIT
// The standard slopes of ALiBi (Press et al. 2022): a geometric sequence from 2^(-8/n) for n heads, n a power of two;
// other counts take those of the next smaller power and every other one of the next larger.

export function alibiSlopes(heads: number): number[] {
  const power = 2 ** Math.floor(Math.log2(heads));
  const sequence = (count: number) => Array.from({ length: count }, (_, head) => 2 ** ((-8 * (head + 1)) / count));
  const between = sequence(2 * power).filter((_, index) => index % 2 === 0);
  return [...sequence(power), ...between].slice(0, heads);
}
