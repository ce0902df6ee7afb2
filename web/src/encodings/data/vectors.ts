// SPDX-License-Identifier: MIT
// Random vectors by seed: the content that meets an encoding. The same seed gives the same vectors everywhere.

import { randomLcg, randomNormal } from "d3-random";

/** A source of numbers in [0, 1). Neighbouring seeds of this generator start alike: they are spread and warmed up. */
export function randomSource(seed: number): () => number {
  const source = randomLcg(((seed + 1) * 0.618033988749895) % 1);
  for (let skip = 0; skip < 8; skip += 1) source();
  return source;
}

export const normalSource = (random: () => number): (() => number) => randomNormal.source(random)(0, 1);

export function normalVectors(random: () => number, count: number): Float32Array {
  return Float32Array.from({ length: count }, normalSource(random));
}

export const wholeBelow = (random: () => number, bound: number): number => Math.floor(random() * bound);
