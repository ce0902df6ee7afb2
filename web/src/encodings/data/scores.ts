// SPDX-License-Identifier: MIT
// Scores before the softmax, through the package's attention: the probe that works for every scheme, whatever its hook. For
// a scheme that adds to embeddings, its rows are added to the vectors first; the rest is attention's own doing.

import type { AttentionOptions } from "../../engine/poslab.js";
import { gatesOf } from "./gates.js";
import type { Subject } from "./subject.js";
import { acts } from "./subject.js";

export interface Tokens {
  heads: number;
  /** width of a row */ dim: number;
  /** [heads, positions.length, dim] */ data: Float32Array;
  positions: readonly number[];
}

/** Rows of an embedding scheme at these positions: [positions.length, dim]. */
export function rowsAt(subject: Subject, positions: readonly number[], dim: number): Float32Array {
  const rows = new Float32Array(positions.length * dim);
  let done = 0;
  while (done < positions.length) {
    // Neighbours come in one call.
    let count = 1;
    while (done + count < positions.length && positions[done + count] === positions[done]! + count) count += 1;
    const { data } = subject.lab.table(subject.position, { length: count, dim, start: positions[done]! });
    rows.set(data, done * dim);
    done += count;
  }
  return rows;
}

/** Tokens with their positions' rows added, where the scheme has rows. */
export function embedded(subject: Subject, tokens: Tokens): Tokens {
  if (!acts(subject, "embedding")) return tokens;
  const rows = rowsAt(subject, tokens.positions, tokens.dim);
  const data = tokens.data.map((value, index) => value + rows[index % rows.length]!);
  return { ...tokens, data };
}

export interface Scored {
  /** [heads, queries, keys], -Infinity where hidden */ scores: Float32Array;
  /** [heads, queries, dim] */ output: Float32Array;
}

export interface AttendOptions {
  causal?: boolean;
  scale?: number;
  /** default: the keys */ values?: Float32Array;
  /** default true; false leaves the scheme out */ encoded?: boolean;
}

/** What `lab.attention` is given for queries on keys under the scheme. */
export function callOf(subject: Subject, queries: Tokens, keys: Tokens, options: AttendOptions): AttentionOptions {
  const { causal = false, scale, values, encoded = true } = options;
  const [query, key] = encoded ? [embedded(subject, queries), embedded(subject, keys)] : [queries, keys];
  const shape = (tokens: Tokens) => [tokens.heads, tokens.positions.length, tokens.dim];
  const gates = encoded ? gatesOf(subject, keys) : undefined;
  const given = { data: key.data, shape: shape(key) };
  return {
    query: query === key ? given : { data: query.data, shape: shape(query) },
    key: given,
    value: values || key !== keys ? { data: values ?? keys.data, shape: shape(keys) } : given,
    position: encoded && subject.hooks.some((hook) => hook !== "embedding") ? subject.position : { type: "none" },
    mask: { causal },
    queryPositions: queries.positions,
    keyPositions: keys.positions,
    ...(scale === undefined ? {} : { scale }),
    ...(gates ? { gates } : {}),
  };
}

/** Queries on keys under the scheme. */
export function attend(subject: Subject, queries: Tokens, keys: Tokens, options: AttendOptions = {}): Scored {
  const { scores, output } = subject.lab.attention({ ...callOf(subject, queries, keys, options), scores: true });
  return { scores: scores!.data, output: output.data };
}

/** Heads and width that the scheme's tensors are made for. */
export function shapeOf(subject: Subject): { heads: number; dim: number } {
  const { dim, heads, headDim } = subject.sizes;
  return subject.hooks.every((hook) => hook === "embedding") && subject.hooks.length > 0
    ? { heads: 1, dim }
    : { heads, dim: headDim };
}
