// SPDX-License-Identifier: MIT
// Scores against distance: one query with keys at every distance before it, all keys the same vector, so that what
// changes is the encoding's doing. A band shows what random vectors do to it.

import { mean, quantileSorted } from "d3-array";
import { attend, shapeOf, type Tokens } from "./scores.js";
import { attempt, counting, type Subject } from "./subject.js";
import { normalVectors, randomSource } from "./vectors.js";

export type Content = "same" | "unrelated";

export interface ByDistance {
  /** distances 0 ... reach */ distances: number[];
  /** [heads][distances]: mean over the draws */ mean: number[][];
  /** 10th and 90th percentile over the draws */ low: number[][];
  high: number[][];
}

/** Draws for a band; each gives every head another pair of vectors. */
export const kBandDraws = 24;

/** The vectors of each draw: a query's and a key's for every head, [heads, dim]. */
export function bandDraws(subject: Subject, content: Content, draws = kBandDraws, seed = subject.sizes.seed) {
  const { heads, dim } = shapeOf(subject);
  const random = randomSource(seed);
  return counting(draws).map(() => {
    const query = normalVectors(random, heads * dim);
    return { query, key: content === "same" ? query : normalVectors(random, heads * dim) };
  });
}

/**
 * Scores of a query at `reach` on keys at 0 ... reach. "same": the key is the query's own vector, of length 1 a dimension on
 * average; "unrelated": another random one.
 */
export function scoresByDistance(
  subject: Subject,
  reach: number,
  content: Content,
  { draws = kBandDraws, encoded = true, seed = subject.sizes.seed } = {},
): ByDistance {
  const { heads, dim } = shapeOf(subject);
  const distances = counting(reach + 1);
  const all = distances.map(() => counting(heads).map((): number[] => []));
  for (const { query, key: one } of bandDraws(subject, content, draws, seed)) {
    const key = new Float32Array(heads * (reach + 1) * dim);
    for (let head = 0; head < heads; head += 1) {
      const vector = one.subarray(head * dim, (head + 1) * dim);
      for (const place of distances) key.set(vector, (head * (reach + 1) + place) * dim);
    }
    const { scores } = attend(
      subject,
      { heads, dim, data: query, positions: [reach] },
      { heads, dim, data: key, positions: distances },
      { encoded },
    );
    for (const distance of distances) {
      for (let head = 0; head < heads; head += 1)
        all[distance]![head]!.push(scores[head * (reach + 1) + reach - distance]!);
    }
  }
  const over = (measure: (sorted: number[]) => number) =>
    counting(heads).map((head) => distances.map((distance) => measure(all[distance]![head]!)));
  for (const heads_ of all) for (const list of heads_) list.sort((a, b) => a - b);
  return {
    distances,
    mean: over((sorted) => mean(sorted)!),
    low: over((sorted) => quantileSorted(sorted, 0.1)!),
    high: over((sorted) => quantileSorted(sorted, 0.9)!),
  };
}

export interface HeadMatrix {
  heads: number;
  /** queries and keys at 0 ... side - 1 */ side: number;
  /** [heads, side, side] */ data: Float32Array;
  /** whether it is the same for every text */ fixed: boolean;
}

/**
 * What the scheme does to the scores of a text of this length. A bias of head and positions alone comes as it is; of
 * others one sees the scores of a text whose tokens are all the same random vector.
 */
export function scoreMatrix(subject: Subject, side: number): HeadMatrix {
  const { heads } = shapeOf(subject);
  const bias = attempt(() => subject.lab.bias(subject.position, { heads, queryLength: side, keyLength: side }));
  if (bias.value) return { heads, side, data: bias.value.data, fixed: true };
  const tokens = equalTokens(subject, side);
  return { heads, side, data: attend(subject, tokens, tokens).scores, fixed: false };
}

/** Tokens that are all the same random vector, another for each head. */
export function equalTokens(subject: Subject, count: number): Tokens {
  const { heads, dim } = shapeOf(subject);
  const vectors = normalVectors(randomSource(subject.sizes.seed), heads * dim);
  const data = new Float32Array(heads * count * dim);
  for (let head = 0; head < heads; head += 1) {
    for (let place = 0; place < count; place += 1)
      data.set(vectors.subarray(head * dim, (head + 1) * dim), (head * count + place) * dim);
  }
  return { heads, dim, data, positions: counting(count) };
}

/** One head of it. */
export const headOf = ({ side, data }: HeadMatrix, head: number): Float32Array =>
  data.subarray(head * side * side, (head + 1) * side * side);

/** The bias of each head at distances 0 ... reach, where it needs no content. */
export function biasByDistance(subject: Subject, reach: number): number[][] {
  const { heads } = shapeOf(subject);
  const { data } = subject.lab.bias(subject.position, { heads, queryLength: 1, keyLength: reach + 1 });
  return counting(heads).map((head) => counting(reach + 1).map((d) => data[head * (reach + 1) + reach - d]!));
}
