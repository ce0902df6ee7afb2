// SPDX-License-Identifier: MIT
// What there is to see of a scheme that adds a row to each token: the rows, single columns as waves, and how alike the
// rows of two positions are.

import { attend, rowsAt } from "./scores.js";
import { attempt, counting, type Subject } from "./subject.js";

export interface Rows {
  positions: number[];
  dim: number;
  /** [positions.length, dim] */ data: Float32Array;
}

/** Rows from 0 to twice the trained length, or as far as the scheme has any. */
export function rowsOf(subject: Subject): Rows {
  const { length, dim } = subject.sizes;
  const reach = attempt(() => rowsAt(subject, counting(2 * length), dim)).value ? 2 * length : length;
  const positions = counting(reach);
  return { positions, dim, data: rowsAt(subject, positions, dim) };
}

/** p(i) . p(j) for all pairs of these rows: [n, n]. */
export function similarity(subject: Subject, { positions, dim, data }: Rows): Float32Array {
  const tokens = { heads: 1, dim, data, positions };
  return attend(subject, tokens, tokens, { scale: 1, encoded: false }).scores;
}

/** The columns to draw as waves: the first, the last and some between, both of a pair for the fastest. */
export function wavesShown(dim: number): number[] {
  const wanted = [0, 1, dim / 8, dim / 4, dim / 2, (3 * dim) / 4, dim - 1].map(Math.floor);
  return [...new Set(wanted.filter((column) => column >= 0 && column < dim))].sort((a, b) => a - b);
}
