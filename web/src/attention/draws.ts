// SPDX-License-Identifier: MIT
// Random queries and keys from a seed, made as a model makes them: each token has a vector of its own (the same token the
// same vector), an embedding adds that of the position, and two matrices a head make query and key of the sum.
//
//   q = u + W_q x, k = u + W_k x, x = content (+ position)
//
// W_k is half W_q, so that equal tokens look at each other; u is common to all queries and keys of a head, as the large
// components of trained ones are, so that a rotation shows what it does to distance on average.

import { randomLcg, randomNormal } from "d3-random";
import type { Tensor } from "../engine/poslab.js";

export const kHeadDim = 16;
/** Share of W_q in W_k, and the size of u beside entries of W x, which are about 1. */
const kAlike = 0.5;
const kCommon = 0.8;

export interface Drawn {
  /** [heads, length, headDim] */ query: Tensor;
  key: Tensor;
}

/** Normal numbers that depend on the seed and on what they are for, and on nothing else. */
export function normals(seed: number, name: string): () => number {
  const next = randomLcg(hash(`${seed} ${name}`));
  // Nearby states of a linear congruence begin alike.
  for (let n = 0; n < 4; n += 1) next();
  return randomNormal.source(next)();
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  }
  return (state >>> 0) / 2 ** 32;
}

export class RandomVectors {
  readonly dim: number;
  readonly #query: Float32Array;
  readonly #key: Float32Array;
  readonly #common: Float32Array;

  constructor(
    readonly seed: number,
    readonly heads: number,
  ) {
    this.dim = heads * kHeadDim;
    const entries = this.dim * this.dim;
    const [ofQuery, ofKey] = [normals(seed, "query"), normals(seed, "key")];
    const size = 1 / Math.sqrt(this.dim);
    this.#query = Float32Array.from({ length: entries }, () => size * ofQuery());
    const own = size * Math.sqrt(1 - kAlike * kAlike);
    this.#key = this.#query.map((entry) => kAlike * entry + own * ofKey());
    const ofCommon = normals(seed, "common");
    this.#common = Float32Array.from({ length: this.dim }, () => kCommon * ofCommon());
  }

  /** A vector a token: [length, dim]. */
  content(tokens: readonly string[]): Float32Array {
    const rows = new Float32Array(tokens.length * this.dim);
    const known = new Map<string, number>();
    tokens.forEach((token, index) => {
      const at = index * this.dim;
      const before = known.get(token);
      if (before !== undefined) return rows.copyWithin(at, before, before + this.dim);
      known.set(token, at);
      const next = normals(this.seed, `token ${token}`);
      for (let c = 0; c < this.dim; c += 1) rows[at + c] = next();
    });
    return rows;
  }

  /** Queries and keys of rows x [length, dim]. */
  project(x: Float32Array): Drawn {
    return { query: this.#times(this.#query, x), key: this.#times(this.#key, x) };
  }

  /** u + W x for every row, by heads. */
  #times(matrix: Float32Array, x: Float32Array): Tensor {
    const { dim, heads } = this;
    const length = x.length / dim;
    const data = new Float32Array(x.length);
    for (let out = 0; out < dim; out += 1) {
      const to = Math.floor(out / kHeadDim) * length * kHeadDim + (out % kHeadDim);
      const row = matrix.subarray(out * dim, (out + 1) * dim);
      const common = this.#common[out]!;
      let at = 0;
      // Four rows at once use each entry of the matrix four times.
      for (; at + 4 <= length; at += 4) {
        let [a, b, c, d] = [common, common, common, common];
        const from = at * dim;
        for (let lane = 0; lane < dim; lane += 1) {
          const entry = row[lane]!;
          a += entry * x[from + lane]!;
          b += entry * x[from + dim + lane]!;
          c += entry * x[from + 2 * dim + lane]!;
          d += entry * x[from + 3 * dim + lane]!;
        }
        data[to + at * kHeadDim] = a;
        data[to + (at + 1) * kHeadDim] = b;
        data[to + (at + 2) * kHeadDim] = c;
        data[to + (at + 3) * kHeadDim] = d;
      }
      for (; at < length; at += 1) {
        let sum = common;
        for (let lane = 0; lane < dim; lane += 1) sum += row[lane]! * x[at * dim + lane]!;
        data[to + at * kHeadDim] = sum;
      }
    }
    return { data, shape: [heads, length, kHeadDim] };
  }
}
