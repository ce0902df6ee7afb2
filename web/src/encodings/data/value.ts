// SPDX-License-Identifier: MIT
// What a scheme adds to the output by itself: attention over values that are all zero leaves nothing else.

import { attend, shapeOf } from "./scores.js";
import { counting, type Subject } from "./subject.js";
import { normalVectors, randomSource } from "./vectors.js";

export interface Added {
  heads: number;
  queries: number;
  dim: number;
  /** [heads, queries, dim] */ data: Float32Array;
}

export function addedToOutput(subject: Subject, queries: number): Added {
  const { heads, dim } = shapeOf(subject);
  const random = randomSource(subject.sizes.seed);
  const tokens = { heads, dim, data: normalVectors(random, heads * queries * dim), positions: counting(queries) };
  const values = new Float32Array(heads * queries * dim);
  const { output } = attend(subject, tokens, tokens, { causal: true, values });
  return { heads, queries, dim, data: output };
}
