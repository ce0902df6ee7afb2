// SPDX-License-Identifier: MIT
// Plain JavaScript loops over typed arrays, as one writes them without a library; and the same in double for sampled
// rows, which is what our own results are checked against.

import type { Subject } from "../measure/timing.js";
import { largestError, type AttentionProblem, type Peer, type PositionProblem } from "./peer.js";

/** output = attention, one row after the other; scores [length] is scratch. */
function attention(problem: AttentionProblem, output: Float32Array, scores: Float32Array): void {
  const { heads, length } = problem;
  for (let h = 0; h < heads; h += 1) {
    for (let i = 0; i < length; i += 1) attentionRow(problem, h, i, output, (h * length + i) * problem.dim, scores);
  }
}

/** Writes one row to `output` from `out` on. Turned copies are made beforehand where there is a rotation. */
function attentionRow(
  { length, dim, causal, query, key, value, bias }: AttentionProblem,
  h: number,
  i: number,
  output: Float32Array | Float64Array,
  out: number,
  scores: Float32Array | Float64Array,
): void {
  const keys = causal ? i + 1 : length;
  const scale = 1 / Math.sqrt(dim);
  const q = (h * length + i) * dim;
  let largest = -Infinity;
  for (let j = 0; j < keys; j += 1) {
    const k = (h * length + j) * dim;
    let dot = 0;
    for (let d = 0; d < dim; d += 1) dot += query[q + d]! * key[k + d]!;
    scores[j] = dot * scale + (bias ? bias[(h * length + i) * length + j]! : 0);
    if (scores[j]! > largest) largest = scores[j]!;
  }
  let sum = 0;
  for (let j = 0; j < keys; j += 1) {
    scores[j] = Math.exp(scores[j]! - largest);
    sum += scores[j]!;
  }
  output.fill(0, out, out + dim);
  for (let j = 0; j < keys; j += 1) {
    const v = (h * length + j) * dim;
    const weight = scores[j]! / sum;
    for (let d = 0; d < dim; d += 1) output[out + d]! += weight * value[v + d]!;
  }
}

/** Turns rows [heads, length, dim], half-split, in place. */
function rotate(
  x: Float32Array,
  { heads, length, dim, cosines, sines }: Omit<PositionProblem["rotation"], "x" | "expected">,
): void {
  const half = dim / 2;
  for (let row = 0; row < heads * length; row += 1) {
    const place = row * dim;
    const angle = (row % length) * half;
    for (let n = 0; n < half; n += 1) {
      const a = x[place + n]!;
      const b = x[place + half + n]!;
      x[place + n] = a * cosines[angle + n]! - b * sines[angle + n]!;
      x[place + half + n] = b * cosines[angle + n]! + a * sines[angle + n]!;
    }
  }
}

function turned(problem: AttentionProblem): AttentionProblem {
  if (!problem.rotation) return problem;
  const query = problem.query.slice();
  const key = problem.key.slice();
  for (const x of [query, key]) rotate(x, { ...problem, ...problem.rotation });
  return { ...problem, query, key };
}

/** The largest error of an output at sampled rows of the first, a middle and the last head, against sums in double. */
export function errorAtSampledRows(problem: AttentionProblem, output: Float32Array): number {
  const { heads, length, dim } = problem;
  const ready = turned(problem);
  const row = new Float64Array(dim);
  const scores = new Float64Array(length);
  let largest = 0;
  for (const h of new Set([0, heads >> 1, heads - 1])) {
    for (const i of new Set([0, 1, length >> 1, length - 1])) {
      attentionRow(ready, h, i, row, 0, scores);
      const start = (h * length + i) * dim;
      largest = Math.max(largest, largestError(output.subarray(start, start + dim), row));
    }
  }
  return largest;
}

function biasMatrix({ heads, length, table, buckets }: PositionProblem["bias"], result: Float32Array): void {
  for (let h = 0; h < heads; h += 1) {
    for (let i = 0; i < length; i += 1) {
      for (let j = 0; j < length; j += 1)
        result[(h * length + i) * length + j] = table[buckets[j - i + length - 1]! * heads + h]!;
    }
  }
}

function sinusoids({ length, dim }: { length: number; dim: number }, result: Float32Array): void {
  for (let p = 0; p < length; p += 1) {
    for (let n = 0; n < dim; n += 2) {
      const angle = p * 10000 ** (-n / dim);
      result[p * dim + n] = Math.sin(angle);
      result[p * dim + n + 1] = Math.cos(angle);
    }
  }
}

export const loops: Peer = {
  name: "plain JS loops",
  attention: async (problem) => {
    const ready = turned(problem);
    const output = new Float32Array(problem.expected.length);
    const scores = new Float32Array(problem.length);
    const run = (): void => attention(ready, output, scores);
    const subject: Subject = {
      name: loops.name,
      kind: "peer",
      contains: "typed arrays in place, masked half skipped",
      run,
      check: () => {
        run();
        return largestError(output, problem.expected);
      },
    };
    return [subject];
  },
  position: async ({ rotation, table, bias }) => {
    const x = rotation.x.slice();
    const key = rotation.x.slice();
    const filled = new Float32Array(table.length * table.dim);
    const matrix = new Float32Array(bias.expected.length);
    return {
      rotation: {
        name: loops.name,
        kind: "peer",
        contains: "query and key in place, table of cosines and sines at hand",
        run: () => {
          rotate(x, rotation);
          rotate(key, rotation);
        },
        check: () => {
          const once = rotation.x.slice();
          rotate(once, rotation);
          return largestError(once, rotation.expected);
        },
      },
      table: {
        name: loops.name,
        kind: "peer",
        contains: "Math.sin and Math.cos of every angle in double",
        run: () => sinusoids(table, filled),
        check: () => {
          sinusoids(table, filled);
          return largestError(filled, table.expected);
        },
      },
      bias: {
        name: loops.name,
        kind: "peer",
        contains: "buckets of the 2 L - 1 distances at hand",
        run: () => biasMatrix(bias, matrix),
        check: () => {
          biasMatrix(bias, matrix);
          return largestError(matrix, bias.expected);
        },
      },
    };
  },
};
