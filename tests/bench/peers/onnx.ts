// SPDX-License-Identifier: MIT
// onnxruntime-web, its WebAssembly execution provider on one thread. Two graphs for attention: its own fused
// MultiHeadAttention, and MatMul, Softmax, MatMul; the faster one counts.

import * as ort from "onnxruntime-web";
import type { Subject } from "../measure/timing.js";
import { writeModel, type Graph, type Node } from "./onnx-model.js";
import {
  bucketOf,
  additiveMask,
  largestError,
  swapped,
  transposed,
  type AttentionProblem,
  type Peer,
  type PositionProblem,
} from "./peer.js";

/** Angles are rounded to float32 in these graphs: at position 8191 that costs 4e-4. */
const kTableTolerance = 2e-3;
const kOwn = { domain: "com.microsoft" } as const;

ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";

/** Where the WebAssembly files are served; Node finds its own. */
export function setOnnxFiles(prefix: string): void {
  ort.env.wasm.wasmPaths = prefix;
}

const floats = (data: Float32Array, shape: number[]): ort.Tensor => new ort.Tensor("float32", data, shape);

interface GraphSubject {
  label: string;
  contains: string;
  graph: Graph;
  feeds: Record<string, ort.Tensor>;
  output: string;
  error: (output: Float32Array) => number;
  tolerance?: number;
}

async function subjectOf({ label, contains, graph, feeds, output, error, tolerance }: GraphSubject): Promise<Subject> {
  const session = await ort.InferenceSession.create(writeModel(graph), { executionProviders: ["wasm"] });
  return {
    name: `onnxruntime-web, ${label}`,
    kind: "peer",
    contains,
    run: () => session.run(feeds),
    check: async () => error((await session.run(feeds))[output]!.data),
    ...(tolerance === undefined ? {} : { tolerance }),
    dispose: () => void session.release(),
  };
}

/** [1, length, heads * dim], one operator; RotaryEmbedding before it where there is a rotation. */
export function fused(problem: AttentionProblem): Promise<Subject> {
  const { heads, length, dim, causal, bias, rotation } = problem;
  const shape = [1, length, heads * dim];
  const nodes: Node[] = [];
  const constants: Graph["constants"] = {};
  const feeds: Record<string, ort.Tensor> = {};
  for (const name of ["query", "key", "value"] as const)
    feeds[name] = floats(swapped(problem[name], heads, length, dim), shape);
  const names = { query: "query", key: "key" };
  if (rotation) {
    constants["cosines"] = { data: rotation.cosines, shape: [length, dim / 2] };
    constants["sines"] = { data: rotation.sines, shape: [length, dim / 2] };
    constants["positions"] = { data: BigInt64Array.from({ length }, (_, n) => BigInt(n)), shape: [1, length] };
    for (const side of ["query", "key"] as const) {
      names[side] = `turned_${side}`;
      const inputs = [side, "positions", "cosines", "sines"];
      nodes.push({ op: "RotaryEmbedding", ...kOwn, inputs, output: names[side], attributes: { num_heads: heads } });
    }
  }
  const inputs = [names.query, names.key, "value"];
  if (bias) {
    feeds["bias"] = floats(bias, [1, heads, length, length]);
    inputs.push("", "", "bias");
  }
  nodes.push({
    op: "MultiHeadAttention",
    ...kOwn,
    inputs,
    output: "output",
    attributes: { num_heads: heads, ...(causal ? { unidirectional: 1 } : {}) },
  });
  const given = { query: shape, key: shape, value: shape, ...(bias ? { bias: [1, heads, length, length] } : {}) };
  return subjectOf({
    label: "MultiHeadAttention",
    contains: "copy of the inputs (and the bias) in, run, copy of the output out",
    graph: { inputs: given, outputs: { output: shape }, nodes, constants },
    feeds,
    output: "output",
    error: (output) => largestError(swapped(output, length, heads, dim), problem.expected),
  });
}

/** [heads, length, dim] with keys transposed beforehand; the mask, if any, as one more input. */
function decomposed(problem: AttentionProblem): Promise<Subject> {
  const { heads, length, dim } = problem;
  const shape = [heads, length, dim];
  const mask = additiveMask(problem);
  const scale = 1 / Math.sqrt(dim);
  const feeds: Record<string, ort.Tensor> = {
    query: floats(
      problem.query.map((x) => x * scale),
      shape,
    ),
    key: floats(transposed(problem.key, heads, length, dim), [heads, dim, length]),
    value: floats(problem.value, shape),
  };
  const maskShape = [mask?.heads ?? 1, length, length];
  if (mask) feeds["mask"] = floats(mask.data, maskShape);
  return subjectOf({
    label: "MatMul, Softmax, MatMul",
    contains: "copy in, run, copy out; heads split, keys transposed and query scaled beforehand",
    graph: {
      inputs: {
        query: shape,
        key: [heads, dim, length],
        value: shape,
        ...(mask ? { mask: maskShape } : {}),
      },
      outputs: { output: shape },
      nodes: [
        { op: "MatMul", inputs: ["query", "key"], output: "scores" },
        ...(mask ? [{ op: "Add", inputs: ["scores", "mask"], output: "masked" }] : []),
        { op: "Softmax", inputs: [mask ? "masked" : "scores"], output: "weights", attributes: { axis: -1 } },
        { op: "MatMul", inputs: ["weights", "value"], output: "output" },
      ],
    },
    feeds,
    output: "output",
    error: (output) => largestError(output, problem.expected),
  });
}

function rotationSubject({ heads, length, dim, x, ...rest }: PositionProblem["rotation"]): Promise<Subject> {
  const shape = [1, length, heads * dim];
  const constants: Graph["constants"] = {
    cosines: { data: rest.cosines, shape: [length, dim / 2] },
    sines: { data: rest.sines, shape: [length, dim / 2] },
    positions: { data: BigInt64Array.from({ length }, (_, n) => BigInt(n)), shape: [1, length] },
  };
  const nodes = ["query", "key"].map((side): Node => {
    const inputs = [side, "positions", "cosines", "sines"];
    return { op: "RotaryEmbedding", ...kOwn, inputs, output: `turned_${side}`, attributes: { num_heads: heads } };
  });
  const rows = floats(swapped(x, heads, length, dim), shape);
  return subjectOf({
    label: "RotaryEmbedding",
    contains: "query and key copied in and out, run; table of cosines and sines at hand",
    graph: {
      inputs: { query: shape, key: shape },
      outputs: { turned_query: shape, turned_key: shape },
      nodes,
      constants,
    },
    feeds: { query: rows, key: rows },
    output: "turned_key",
    error: (output) => largestError(swapped(output, length, heads, dim), rest.expected),
  });
}

function tableSubject({ length, dim, expected }: PositionProblem["table"]): Promise<Subject> {
  const half = dim / 2;
  const frequencies = Float32Array.from({ length: half }, (_, n) => 10000 ** ((-2 * n) / dim));
  const constants: Graph["constants"] = {
    frequencies: { data: frequencies, shape: [1, half] },
    last: { data: BigInt64Array.of(2n), shape: [1] },
    rows: { data: BigInt64Array.of(BigInt(length), BigInt(dim)), shape: [2] },
  };
  return subjectOf({
    label: "Mul, Sin, Cos, Concat",
    contains: "copy of the positions in, run, copy of the table out",
    graph: {
      inputs: { positions: [length, 1] },
      outputs: { table: [length, dim] },
      nodes: [
        { op: "Mul", inputs: ["positions", "frequencies"], output: "angles" },
        { op: "Sin", inputs: ["angles"], output: "sines" },
        { op: "Cos", inputs: ["angles"], output: "cosines" },
        { op: "Unsqueeze", inputs: ["sines", "last"], output: "sines1" },
        { op: "Unsqueeze", inputs: ["cosines", "last"], output: "cosines1" },
        { op: "Concat", inputs: ["sines1", "cosines1"], output: "pairs", attributes: { axis: 2 } },
        { op: "Reshape", inputs: ["pairs", "rows"], output: "table" },
      ],
      constants,
    },
    feeds: {
      positions: floats(
        Float32Array.from({ length }, (_, n) => n),
        [length, 1],
      ),
    },
    output: "table",
    error: (output) => largestError(output, expected),
    tolerance: kTableTolerance,
  });
}

function biasSubject({ heads, length, table, buckets, expected }: PositionProblem["bias"]): Promise<Subject> {
  const square = BigInt64Array.from({ length: length * length }, (_, n) => BigInt(bucketOf(n, { length, buckets })));
  return subjectOf({
    label: "Gather, Transpose",
    contains: "run, copy of the matrix out; the L x L buckets at hand",
    graph: {
      inputs: { table: [table.length / heads, heads] },
      outputs: { bias: [heads, length, length] },
      nodes: [
        { op: "Gather", inputs: ["table", "buckets"], output: "gathered", attributes: { axis: 0 } },
        { op: "Transpose", inputs: ["gathered"], output: "bias", attributes: { perm: [2, 0, 1] } },
      ],
      constants: { buckets: { data: square, shape: [length, length] } },
    },
    feeds: { table: floats(table, [table.length / heads, heads]) },
    output: "bias",
    error: (output) => largestError(output, expected),
  });
}

export const onnx: Peer = {
  name: "onnxruntime-web",
  attention: async (problem) => [await fused(problem), ...(problem.rotation ? [] : [await decomposed(problem)])],
  position: async ({ rotation, table, bias }) => ({
    rotation: await rotationSubject(rotation),
    table: await tableSubject(table),
    bias: await biasSubject(bias),
  }),
};
