// SPDX-License-Identifier: MIT
// What a scheme adds to the output by itself: attention over values that are all zero leaves nothing else.

import { attend, shapeOf, type Tokens } from "./scores.js";
import { counting, type Subject } from "./subject.js";
import { normalVectors, randomSource } from "./vectors.js";

export interface Added {
  heads: number;
  queries: number;
  dim: number;
  /** [heads, queries, dim] */ data: Float32Array;
}

/** Random tokens at 0, 1, ... */
export function randomTokens(subject: Subject, queries: number): Tokens {
  const { heads, dim } = shapeOf(subject);
  const data = normalVectors(randomSource(subject.sizes.seed), heads * queries * dim);
  return { heads, dim, data, positions: counting(queries) };
}

export function addedToOutput(subject: Subject, queries: number): Added {
  const tokens = randomTokens(subject, queries);
  const values = new Float32Array(tokens.data.length);
  const { output } = attend(subject, tokens, tokens, { causal: true, values });
  return { heads: tokens.heads, queries, dim: tokens.dim, data: output };
}
