// SPDX-License-Identifier: MIT
// TensorFlow.js core with its WebAssembly backend on one thread. Attention twice: as one writes it (batched products),
// and split by hand into two-dimensional products, which its kernels are much better at.

import * as tf from "@tensorflow/tfjs-core";
import { setThreadsCount, setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import type { Subject } from "../measure/timing.js";
import {
  bucketOf,
  additiveMask,
  largestError,
  transposed,
  type AttentionProblem,
  type Peer,
  type PositionProblem,
} from "./peer.js";

/** Angles are rounded to float32: at position 8191 that costs 4e-4. */
const kTableTolerance = 2e-3;

let started: Promise<void> | null = null;

/** Chooses the backend, once. `files` says where its WebAssembly files are served; Node finds its own. */
export function startTensorflow(files?: string): Promise<void> {
  started ??= (async () => {
    if (files !== undefined) setWasmPaths(files);
    setThreadsCount(1);
    await tf.setBackend("wasm");
    await tf.ready();
  })();
  return started;
}

/** Runs `body` on inputs that stay, downloads what it returns, and frees the rest. */
function subjectOf(
  label: string,
  contains: string,
  inputs: tf.Tensor[],
  body: () => tf.Tensor,
  error: (output: Float32Array) => number,
  tolerance?: number,
): Subject {
  const run = async (): Promise<Float32Array> => {
    const result = tf.tidy(body);
    const data = await result.data();
    result.dispose();
    return data;
  };
  return {
    name: `tfjs-wasm, ${label}`,
    kind: "peer",
    contains,
    run,
    check: async () => error(await run()),
    ...(tolerance === undefined ? {} : { tolerance }),
    dispose: () => inputs.forEach((input) => input.dispose()),
  };
}

const plane = (data: Float32Array, n: number, size: number): Float32Array => data.subarray(n * size, (n + 1) * size);

/** x [rows, dim] turned: (a cos - b sin, b cos + a sin) of its halves. */
function turnedRows(x: tf.Tensor, rows: number, dim: number, cosines: tf.Tensor, sines: tf.Tensor): tf.Tensor {
  const half = dim / 2;
  const a = tf.slice(x, [0, 0], [rows, half]);
  const b = tf.slice(x, [0, half], [rows, half]);
  const left = tf.add(tf.mul(a, cosines), tf.neg(tf.mul(b, sines)));
  return tf.concat([left, tf.add(tf.mul(b, cosines), tf.mul(a, sines))], 1);
}

export function splitByHead(problem: AttentionProblem): Subject {
  const { heads, length, dim, rotation } = problem;
  const scale = tf.scalar(1 / Math.sqrt(dim));
  const size = length * dim;
  const rows = (data: Float32Array): tf.Tensor[] =>
    Array.from({ length: heads }, (_, h) => tf.tensor(plane(data, h, size), [length, dim]));
  const queries = rows(problem.query);
  const values = rows(problem.value);
  const turned = rotation && {
    cosines: tf.tensor(rotation.cosines, [length, dim / 2]),
    sines: tf.tensor(rotation.sines, [length, dim / 2]),
  };
  // Keys are transposed beforehand, unless they have to be turned first.
  const columns = transposed(problem.key, heads, length, dim);
  const keys = turned
    ? rows(problem.key)
    : Array.from({ length: heads }, (_, h) => tf.tensor(plane(columns, h, size), [dim, length]));
  const mask = additiveMask(problem);
  const masks = mask
    ? Array.from({ length: mask.heads }, (_, h) => tf.tensor(plane(mask.data, h, length * length), [length, length]))
    : [];
  const turn = (x: tf.Tensor): tf.Tensor => (turned ? turnedRows(x, length, dim, turned.cosines, turned.sines) : x);
  return subjectOf(
    "split by hand",
    "a head at a time: products, scale, bias, softmax; stack; download. Inputs resident, heads split beforehand",
    [scale, ...queries, ...values, ...keys, ...masks, ...(turned ? [turned.cosines, turned.sines] : [])],
    () =>
      tf.stack(
        queries.map((query, h) => {
          const scores = tf.mul(tf.matMul(turn(query), turn(keys[h]!), false, turned !== undefined), scale);
          const mask = masks[masks.length === 1 ? 0 : h];
          return tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), values[h]!);
        }),
      ),
    (output) => largestError(output, problem.expected),
  );
}

function batched(problem: AttentionProblem): Subject {
  const { heads, length, dim } = problem;
  const shape = [heads, length, dim];
  const scale = tf.scalar(1 / Math.sqrt(dim));
  const query = tf.tensor(problem.query, shape);
  const key = tf.tensor(problem.key, shape);
  const value = tf.tensor(problem.value, shape);
  const mask = additiveMask(problem);
  const added = mask && tf.tensor(mask.data, [mask.heads, length, length]);
  return subjectOf(
    "batched",
    "batched products, scale, bias, softmax; download. Inputs resident",
    [scale, query, key, value, ...(added ? [added] : [])],
    () => {
      const scores = tf.mul(tf.matMul(query, key, false, true), scale);
      return tf.matMul(tf.softmax(added ? tf.add(scores, added) : scores), value);
    },
    (output) => largestError(output, problem.expected),
  );
}

function rotationSubject({ heads, length, dim, x, expected, ...tables }: PositionProblem["rotation"]): Subject {
  const rows = heads * length;
  const repeated = (data: Float32Array): tf.Tensor => {
    const all = new Float32Array(heads * data.length);
    for (let h = 0; h < heads; h += 1) all.set(data, h * data.length);
    return tf.tensor(all, [rows, dim / 2]);
  };
  const cosines = repeated(tables.cosines);
  const sines = repeated(tables.sines);
  const query = tf.tensor(x, [rows, dim]);
  const key = tf.tensor(x, [rows, dim]);
  const subject = subjectOf(
    "slice, mul, concat",
    "query and key, download of both; inputs resident, table of cosines and sines at hand",
    [cosines, sines, query, key],
    () => tf.stack([query, key].map((side) => turnedRows(side, rows, dim, cosines, sines))),
    (output) => largestError(output.subarray(x.length), expected),
  );
  return subject;
}

function tableSubject({ length, dim, expected }: PositionProblem["table"]): Subject {
  const half = dim / 2;
  const positions = tf.tensor(
    Float32Array.from({ length }, (_, n) => n),
    [length, 1],
  );
  const frequencies = tf.tensor(
    Float32Array.from({ length: half }, (_, n) => 10000 ** ((-2 * n) / dim)),
    [1, half],
  );
  return subjectOf(
    "mul, sin, cos, concat",
    "the whole table; download",
    [positions, frequencies],
    () => {
      const angles = tf.mul(positions, frequencies);
      const columns = [tf.sin(angles), tf.cos(angles)].map((part) => tf.reshape(part, [length, half, 1]));
      return tf.reshape(tf.concat(columns, 2), [length, dim]);
    },
    (output) => largestError(output, expected),
    kTableTolerance,
  );
}

function biasSubject({ heads, length, table, buckets, expected }: PositionProblem["bias"]): Subject {
  const square = Int32Array.from({ length: length * length }, (_, n) => bucketOf(n, { length, buckets }));
  const numbers = tf.tensor(table, [table.length / heads, heads]);
  const indices = tf.tensor1d(square, "int32");
  return subjectOf(
    "gather, transpose",
    "the matrix; download. The L x L buckets at hand",
    [numbers, indices],
    () => tf.transpose(tf.gather(numbers, indices, 0), [1, 0]),
    (output) => largestError(output, expected),
  );
}

export const tensorflow: Peer = {
  name: "tfjs-wasm",
  attention: async (problem) => [splitByHead(problem), ...(problem.rotation ? [] : [batched(problem)])],
  position: async ({ rotation, table, bias }) => ({
    rotation: rotationSubject(rotation),
    table: tableSubject(table),
    bias: biasSubject(bias),
  }),
};
