// SPDX-License-Identifier: MIT
// What a peer can be asked to do. Each makes subjects to be timed from a problem and what its right results are.

import type { Subject } from "../measure/timing.js";

/** Query, key, value: [heads, length, dim]; the scheme as what peers can be given of it. */
export interface AttentionProblem {
  heads: number;
  length: number;
  dim: number;
  causal: boolean;
  query: Float32Array;
  key: Float32Array;
  value: Float32Array;
  /** added to the logits [heads, length, length] */ bias?: Float32Array;
  /** RoPE, half-split: cosines and sines [length, dim / 2] */ rotation?: {
    cosines: Float32Array;
    sines: Float32Array;
  };
  /** our output [heads, length, dim] */ expected: Float32Array;
}

export interface PositionProblem {
  rotation: {
    heads: number;
    length: number;
    dim: number;
    x: Float32Array;
    cosines: Float32Array;
    sines: Float32Array;
    /** x turned */ expected: Float32Array;
  };
  /** [length, dim], sines and cosines in turn */ table: { length: number; dim: number; expected: Float32Array };
  /** [heads, length, length] from a table [buckets, heads] by buckets of the distances -(length - 1) .. length - 1 */
  bias: { heads: number; length: number; table: Float32Array; buckets: Int32Array; expected: Float32Array };
}

/** The bucket of entry `n` of the matrix [length, length]: `buckets` runs by the distance of key and query. */
export function bucketOf(n: number, { length, buckets }: Pick<PositionProblem["bias"], "length" | "buckets">): number {
  return buckets[(n % length) - Math.floor(n / length) + length - 1]!;
}

export type PositionKernel = keyof PositionProblem;

export interface Peer {
  name: string;
  attention?: (problem: AttentionProblem) => Promise<Subject[]>;
  position?: (problem: PositionProblem) => Promise<Partial<Record<PositionKernel, Subject>>>;
}

/** The largest absolute difference; infinite when lengths differ or a number is none. */
export function largestError(given: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (given.length !== expected.length) return Infinity;
  let largest = 0;
  for (let n = 0; n < given.length; n += 1) {
    const difference = Math.abs(given[n]! - expected[n]!);
    if (!(difference <= largest)) largest = Number.isNaN(difference) ? Infinity : difference;
  }
  return largest;
}

/** [a, b, dim] to [b, a, dim]: [heads, length, dim] and [length, heads, dim] are each other's. */
export function swapped(data: Float32Array, a: number, b: number, dim: number): Float32Array {
  const result = new Float32Array(data.length);
  for (let i = 0; i < a; i += 1) {
    for (let j = 0; j < b; j += 1) {
      result.set(data.subarray((i * b + j) * dim, (i * b + j + 1) * dim), (j * a + i) * dim);
    }
  }
  return result;
}

/** [heads, length, dim] to [heads, dim, length]. */
export function transposed(data: Float32Array, heads: number, length: number, dim: number): Float32Array {
  const result = new Float32Array(data.length);
  for (let h = 0; h < heads; h += 1) {
    for (let i = 0; i < length; i += 1) {
      for (let d = 0; d < dim; d += 1) result[(h * dim + d) * length + i] = data[(h * length + i) * dim + d]!;
    }
  }
  return result;
}

/** The problem's bias with -infinity above the diagonal when causal; a single square when there is only the mask. */
export function additiveMask({ heads, length, causal, bias }: AttentionProblem): {
  data: Float32Array;
  heads: number;
} | null {
  if (!bias && !causal) return null;
  const planes = bias ? heads : 1;
  const data = bias ? bias.slice() : new Float32Array(length * length);
  if (causal) {
    for (let h = 0; h < planes; h += 1) {
      for (let i = 0; i < length; i += 1)
        data.fill(-1e9, (h * length + i) * length + i + 1, (h * length + i + 1) * length);
    }
  }
  return { data, heads: planes };
}
