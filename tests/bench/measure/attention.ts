// SPDX-License-Identifier: MIT
// Attention: the plain one beside every peer, every scheme forward beside what peers can do of it, every scheme
// backward, shapes between the good ones, and decoding.

import { errorAtSampledRows } from "../peers/loops.js";
import { largestError, type AttentionProblem } from "../peers/peer.js";
import { makeAttention, must, shapeOf, type AttentionKernel, type AttentionShape } from "./kernels.js";
import { attempt, schemesOf, variantName, type Bench, type Table, type Variant } from "./place.js";
import { timeRows, type Subject } from "./timing.js";

const kResident = "inputs and output resident in wasm memory, hooks bound";
/** Where peers take seconds a run, or gigabytes. */
const kLongest: Record<string, number> = {
  "plain JS loops": 1024,
  "tfjs-wasm, batched": 1024,
  "jax-js, dotProductAttention": 2048,
  "onnxruntime-web, MultiHeadAttention": 2048,
};
const kLongestQuick: Record<string, number> = { "plain JS loops": 256, "tfjs-wasm, batched": 256 };
/** The fastest ones, which are all that is timed beside each scheme. */
const kFastest = ["onnxruntime-web, MultiHeadAttention", "tfjs-wasm, split by hand"];
const kSchemeLength = 1024;
const kCacheLength = 4096;

export async function measureAttention(bench: Bench): Promise<Table[]> {
  const lengths = bench.quick ? [256, 1024] : [512, 1024, 2048, 4096];
  const tables: Table[] = [];
  const add = async (what: string, body: () => Promise<Table>): Promise<void> => {
    tables.push(...(await attempt(bench, what, body)));
  };
  for (const length of lengths) await add(`attention, full, L = ${length}`, () => plainTable(bench, length, false));
  for (const length of lengths.slice(bench.quick ? 1 : 0))
    await add(`attention, causal, L = ${length}`, () => plainTable(bench, length, true));
  // Chromium has Node's engine: what peers are compared in is timed there too, and the rest is Node's to tell.
  if (bench.place.engine.startsWith("Chromium")) return tables;
  const types = schemesOf(bench);
  for (const type of types.filter((name) => name !== "none"))
    await add(`attention with ${type}`, () => schemeTable(bench, type));
  await add("attention backward, every scheme", () => backwardTable(bench, types));
  await add("attention, other shapes", () => shapesTable(bench));
  await add("decoding one token", () => decodingTable(bench));
  return tables;
}

function problemOf(
  attention: AttentionKernel,
  { heads, queries: length, dim, causal }: AttentionShape,
): AttentionProblem {
  must(attention.forward());
  const problem: AttentionProblem = {
    heads,
    length,
    dim,
    causal,
    query: attention.query().slice(),
    key: attention.key().slice(),
    value: attention.value().slice(),
    expected: attention.output().slice(),
  };
  const biases = attention.biasByDistance();
  const cosines = attention.cosines();
  if (biases.length > 0) problem.bias = biasMatrix(biases, heads, length);
  if (cosines.length > 0) problem.rotation = { cosines: cosines.slice(), sines: attention.sines().slice() };
  return problem;
}

/** Biases by distance [heads, 2 length - 1] as a matrix [heads, length, length]. */
function biasMatrix(biases: Float32Array, heads: number, length: number): Float32Array {
  const matrix = new Float32Array(heads * length * length);
  const distances = 2 * length - 1;
  for (let h = 0; h < heads; h += 1) {
    for (let i = 0; i < length; i += 1) {
      const first = h * distances + length - 1 - i;
      matrix.set(biases.subarray(first, first + length), (h * length + i) * length);
    }
  }
  return matrix;
}

function ourForward(attention: AttentionKernel, variant: Variant, check?: () => number): Subject {
  return {
    name: variantName(variant),
    kind: "ours",
    contains: kResident,
    run: () => must(attention.forward()),
    variant,
    ...(check ? { check } : {}),
    dispose: () => attention.delete(),
  };
}

/** Every build's kernel on the same inputs, and the problem as others see it. */
function ours(bench: Bench, type: string, shape: AttentionShape): { subjects: Subject[]; problem: AttentionProblem } {
  let problem: AttentionProblem | undefined;
  const subjects = [...bench.kernels].map(([variant, kernels]) => {
    const attention = makeAttention(kernels, type, shape);
    problem ??= problemOf(attention, shape);
    const known = problem;
    const comparable = type === "none" || known.bias !== undefined || known.rotation !== undefined;
    // What is neither a bias nor a rotation is checked by the project's tests; here the builds are compared.
    if (!comparable && variant === "simd") return ourForward(attention, variant);
    return ourForward(attention, variant, () => {
      must(attention.forward());
      const output = attention.output().slice();
      return comparable ? errorAtSampledRows(known, output) : largestError(output, known.expected);
    });
  });
  return { subjects, problem: problem! };
}

async function peersOf(bench: Bench, problem: AttentionProblem): Promise<Subject[]> {
  const subjects: Subject[] = [];
  for (const peer of bench.peers) {
    try {
      subjects.push(...((await peer.attention?.(problem)) ?? []));
    } catch (error) {
      bench.failures.push(
        `${peer.name}, L = ${problem.length}, ${bench.place.engine}: ${String(error).split("\n")[0]}`,
      );
    }
  }
  const longest = bench.quick ? { ...kLongest, ...kLongestQuick } : kLongest;
  return subjects.filter(({ name, dispose }) => {
    const fits = problem.length <= (longest[name] ?? Infinity);
    if (!fits) dispose?.();
    return fits;
  });
}

async function publicCall(
  bench: Bench,
  { heads, length, dim, causal, expected, ...given }: AttentionProblem,
): Promise<Subject> {
  const lab = await bench.place.lab("simd");
  const tensor = (data: Float32Array) => ({ data, shape: [heads, length, dim] });
  const query = tensor(given.query);
  const key = tensor(given.key);
  const value = tensor(given.value);
  const run = (): Float32Array => lab.attention({ query, key, value, mask: { causal } }).output.data;
  return {
    name: "PosLab SIMD, lab.attention",
    kind: "ours",
    contains: "the package's call: copy of the inputs in, run, copy of the output out",
    run,
    check: () => largestError(run(), expected),
    variant: "simd",
  };
}

async function plainTable(bench: Bench, length: number, causal: boolean): Promise<Table> {
  const what = causal ? "causal" : "full";
  const shape = shapeOf(length, causal);
  const { subjects, problem } = ours(bench, "none", shape);
  subjects.push(await publicCall(bench, problem), ...(await peersOf(bench, problem)), ...bench.limits());
  return {
    id: `attention/${what}/${length}`,
    topic: "attention",
    engine: bench.place.engine,
    title: `Attention, ${what}, L = ${length}, 8 heads of 64`,
    unit: "GFLOP/s",
    rows: await timeRows(subjects, { amount: flopsOf(shape), unit: "GFLOP/s" }, bench.timing),
  };
}

const flopsOf = ({ heads, queries, keys, dim, causal }: AttentionShape): number =>
  4 * heads * queries * keys * dim * (causal ? 0.5 : 1);

/** Peers get a bias matrix or a table of angles; what cannot be said that way they leave out: their plain attention. */
async function schemeTable(bench: Bench, type: string): Promise<Table> {
  const shape = shapeOf(kSchemeLength, true);
  const { subjects, problem } = ours(bench, type, shape);
  const plain = ours(bench, "none", shape);
  const given = problem.bias ? "the bias as an L x L input" : problem.rotation ? "the rotation" : null;
  const available = await peersOf(bench, given ? problem : plain.problem);
  const peers = available.filter(({ name }) => kFastest.includes(name));
  for (const peer of available) if (!peers.includes(peer)) peer.dispose?.();
  for (const peer of peers) {
    peer.name += given ? `, with ${given}` : ", without the encoding";
  }
  const without = plain.subjects.map((subject) => ({ ...subject, name: `${subject.name}, without it` }));
  const rows = [...subjects, ...without, ...peers, ...bench.limits()];
  return {
    id: `scheme/${type}`,
    topic: "attention",
    engine: bench.place.engine,
    title: `Attention with ${type}, causal, L = ${kSchemeLength}`,
    unit: "GFLOP/s",
    rows: await timeRows(rows, { amount: flopsOf(shape), unit: "GFLOP/s" }, bench.timing),
  };
}

async function backwardTable(bench: Bench, types: readonly string[]): Promise<Table> {
  const shape = shapeOf(kSchemeLength, true);
  const builds = [...bench.kernels].slice(0, bench.quick ? 1 : undefined);
  const subjects = types.flatMap((type) =>
    builds.map(([variant, kernels]): Subject => {
      const attention = makeAttention(kernels, type, shape);
      must(attention.prepareBackward());
      return {
        name: `${variantName(variant)}, ${type}`,
        kind: "ours",
        contains: "gradients of query, key, value and hooks; the forward pass is left out",
        run: () => must(attention.backward()),
        variant,
        dispose: () => attention.delete(),
      };
    }),
  );
  return {
    id: "backward",
    topic: "attention",
    engine: bench.place.engine,
    title: `Attention backward, causal, L = ${kSchemeLength} (10 H L² D / 2 operations)`,
    unit: "GFLOP/s",
    rows: await timeRows(
      [...subjects, ...bench.limits()],
      { amount: 2.5 * flopsOf(shape), unit: "GFLOP/s" },
      bench.timing,
    ),
  };
}

/** Widths, heads, windows and lengths that are no multiple of a tile: each should be near its neighbours. */
async function shapesTable(bench: Bench): Promise<Table> {
  const all: [string, AttentionShape][] = [
    ["L = 1024", shapeOf(1024, true)],
    ["L = 1023", shapeOf(1023, true)],
    ["L = 1001", shapeOf(1001, true)],
    ["D = 16", shapeOf(1024, true, { dim: 16 })],
    ["D = 32", shapeOf(1024, true, { dim: 32 })],
    ["D = 80", shapeOf(1024, true, { dim: 80 })],
    ["D = 128", shapeOf(1024, true, { dim: 128 })],
    ["1 head", shapeOf(1024, true, { heads: 1 })],
    ["16 heads", shapeOf(1024, true, { heads: 16 })],
    ["8 heads, 2 for keys and values", shapeOf(1024, true, { keyValueHeads: 2 })],
    ["8 heads, 1 for keys and values", shapeOf(1024, true, { keyValueHeads: 1 })],
    ["window 64", shapeOf(1024, true, { window: 64 })],
    ["window 256", shapeOf(1024, true, { window: 256 })],
  ];
  const shapes = bench.quick ? all.filter(([name]) => /1024|1023|32|128|window/.test(name)) : all;
  const subjects = [...bench.kernels].flatMap(([variant, kernels]) =>
    shapes.map(([name, shape]): Subject => {
      const attention = makeAttention(kernels, "none", shape);
      const work = attention.forwardFlops();
      return { ...ourForward(attention, variant), name: `${variantName(variant)}, ${name}`, work };
    }),
  );
  return {
    id: "shapes",
    topic: "attention",
    engine: bench.place.engine,
    title: "Attention, causal, other shapes (only pairs that are seen count as work)",
    unit: "GFLOP/s",
    rows: await timeRows([...subjects, ...bench.limits()], { amount: 0, unit: "GFLOP/s" }, bench.timing),
  };
}

/** One query against a cache: what counts is how fast the cache is read. */
async function decodingTable(bench: Bench): Promise<Table> {
  const shape = shapeOf(kCacheLength, true, { queries: 1 });
  const bytes = 2 * 4 * shape.heads * shape.keys * shape.dim;
  const subjects: Subject[] = [];
  const limits: Subject[] = [];
  for (const [variant, kernels] of bench.kernels) {
    const attention = makeAttention(kernels, "none", shape);
    subjects.push(ourForward(attention, variant));
    const memory = new kernels.Memory(bytes);
    limits.push({
      name: `limit, plain read, ${variant === "simd" ? "SIMD" : "relaxed SIMD"}`,
      kind: "limit",
      contains: "a sum over as many bytes as the cache has",
      run: () => memory.read(),
      variant,
      dispose: () => memory.delete(),
    });
  }
  return {
    id: "decode",
    topic: "attention",
    engine: bench.place.engine,
    title: `One token against a cache of ${kCacheLength} keys and values, 8 heads of 64`,
    unit: "GB/s",
    rows: await timeRows([...subjects, ...limits], { amount: bytes, unit: "GB/s" }, bench.timing),
  };
}
