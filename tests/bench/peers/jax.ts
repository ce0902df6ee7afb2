// SPDX-License-Identifier: MIT
// jax-js with its WebAssembly backend; it takes threads only where memory can be shared, which is neither in Node nor on
// the benchmark's page.

import { defaultDevice, init, jit, nn, numpy as np, type Array as JaxArray } from "@jax-js/jax";
import type { Subject } from "../measure/timing.js";
import { bucketOf, largestError, swapped, type AttentionProblem, type Peer, type PositionProblem } from "./peer.js";

/** Angles are rounded to float32: at position 8191 that costs 7e-4. */
const kTableTolerance = 2e-3;

let started: Promise<void> | null = null;

export function startJax(): Promise<void> {
  started ??= (async () => {
    await init("wasm");
    defaultDevice("wasm");
  })();
  return started;
}

/** Calls a compiled function on inputs that stay, and downloads its result. */
function subjectOf(
  label: string,
  contains: string,
  inputs: JaxArray[],
  body: (...given: JaxArray[]) => JaxArray,
  error: (output: Float32Array) => number,
  tolerance?: number,
): Subject {
  const compiled = jit(body as (...given: never[]) => JaxArray) as typeof body;
  const run = (): Promise<Float32Array> => compiled(...inputs.map((input) => input.ref)).data();
  return {
    name: `jax-js, ${label}`,
    kind: "peer",
    contains,
    run,
    check: async () => error(await run()),
    ...(tolerance === undefined ? {} : { tolerance }),
    dispose: () => inputs.forEach((input) => input.dispose()),
  };
}

/** x [length, heads, dim] turned by cosines and sines [length, 1, dim / 2]; gives all three away. */
function turned(x: JaxArray, cosines: JaxArray, sines: JaxArray): JaxArray {
  const [a, b] = np.split(x, 2, 2) as [JaxArray, JaxArray];
  const left = a.ref.mul(cosines.ref).sub(b.ref.mul(sines.ref));
  return np.concatenate([left, b.mul(cosines).add(a.mul(sines))], 2);
}

export function attention(problem: AttentionProblem): Subject {
  const { heads, length, dim, causal, bias, rotation } = problem;
  const shape = [length, heads, dim];
  const inputs = [problem.query, problem.key, problem.value].map((data) =>
    np.array(swapped(data, heads, length, dim), { shape }),
  );
  if (bias) inputs.push(np.array(bias, { shape: [heads, length, length] }));
  if (rotation) {
    for (const data of [rotation.cosines, rotation.sines]) inputs.push(np.array(data, { shape: [length, 1, dim / 2] }));
  }
  const body = (query: JaxArray, key: JaxArray, value: JaxArray, ...more: JaxArray[]): JaxArray => {
    if (!rotation)
      return nn.dotProductAttention(query, key, value, { isCausal: causal, ...(bias ? { bias: more[0]! } : {}) });
    const [cosines, sines] = more as [JaxArray, JaxArray];
    const turnedQuery = turned(query, cosines.ref, sines.ref);
    return nn.dotProductAttention(turnedQuery, turned(key, cosines, sines), value, { isCausal: causal });
  };
  return subjectOf(
    "dotProductAttention",
    "compiled beforehand; download. Inputs (and the bias) resident",
    inputs,
    body as (...given: JaxArray[]) => JaxArray,
    (output) => largestError(swapped(output, length, heads, dim), problem.expected),
  );
}

function rotationSubject({ heads, length, dim, x, cosines, sines, expected }: PositionProblem["rotation"]): Subject {
  const rows = swapped(x, heads, length, dim);
  const shape = [length, heads, dim];
  const tables = [cosines, sines].map((data) => np.array(data, { shape: [length, 1, dim / 2] }));
  return subjectOf(
    "split, mul, concatenate",
    "query and key, download of both; inputs resident, table of cosines and sines at hand",
    [np.array(rows, { shape }), np.array(rows, { shape }), ...tables],
    (...given) => {
      const [query, key, cos, sin] = given as [JaxArray, JaxArray, JaxArray, JaxArray];
      return np.stack([turned(query, cos.ref, sin.ref), turned(key, cos, sin)], 0);
    },
    (output) => largestError(swapped(output.subarray(x.length), length, heads, dim), expected),
  );
}

function tableSubject({ length, dim, expected }: PositionProblem["table"]): Subject {
  const half = dim / 2;
  const positions = np.array(
    Float32Array.from({ length }, (_, n) => n),
    { shape: [length, 1] },
  );
  const frequencies = np.array(
    Float32Array.from({ length: half }, (_, n) => 10000 ** ((-2 * n) / dim)),
    { shape: [1, half] },
  );
  return subjectOf(
    "mul, sin, cos, stack",
    "the whole table, compiled beforehand; download",
    [positions, frequencies],
    (...given) => {
      const angles = given[0]!.mul(given[1]!);
      return np.stack([np.sin(angles.ref), np.cos(angles)], 2).reshape([length, dim]);
    },
    (output) => largestError(output, expected),
    kTableTolerance,
  );
}

function biasSubject({ heads, length, table, buckets, expected }: PositionProblem["bias"]): Subject {
  const square = Int32Array.from({ length: length * length }, (_, n) => bucketOf(n, { length, buckets }));
  return subjectOf(
    "take, transpose",
    "compiled beforehand; download of the matrix. The L x L buckets at hand",
    [
      np.array(table, { shape: [table.length / heads, heads] }),
      np.array(square, { shape: [length, length], dtype: np.int32 }),
    ],
    (...given) => np.take(given[0]!, given[1]!, 0).transpose([2, 0, 1]),
    (output) => largestError(output, expected),
  );
}

export const jax: Peer = {
  name: "jax-js",
  attention: async (problem) => [attention(problem)],
  position: async ({ rotation, table, bias }) => ({
    rotation: rotationSubject(rotation),
    table: tableSubject(table),
    bias: biasSubject(bias),
  }),
};
