// SPDX-License-Identifier: MIT
// The positional kernels alone: turning queries and keys, the sinusoidal table, the T5 bias matrix.

import { largestError, type PositionKernel, type PositionProblem } from "../peers/peer.js";
import { must, type Kernels } from "./kernels.js";
import { attempt, variantName, type Bench, type Table, type Variant } from "./place.js";
import { timeRows, type Subject } from "./timing.js";

const kRotation = { heads: 8, length: 2048, dim: 64 };
const kTable = { length: 8192, dim: 512 };
const kBias = { heads: 8, length: 1024 };
/** Of T5 and of the goals: every angle in double, rounded once. */
const kTableTolerance = 1e-7;

interface Ours {
  run: () => void;
  result: () => Float32Array;
  bytes: number;
  /** which plain loop over the same bytes is its limit */ limit: "copy" | "fill";
  dispose: () => void;
}

export async function measurePosition(bench: Bench): Promise<Table[]> {
  const problem = await problemOf(bench);
  const peers = new Map<PositionKernel, Subject[]>([
    ["rotation", []],
    ["table", []],
    ["bias", []],
  ]);
  for (const peer of bench.peers) {
    try {
      for (const [kernel, subject] of Object.entries((await peer.position?.(problem)) ?? {}))
        peers.get(kernel as PositionKernel)!.push(subject);
    } catch (error) {
      bench.failures.push(`${peer.name}, positional kernels, ${bench.place.engine}: ${String(error).split("\n")[0]}`);
    }
  }
  const tables: Table[] = [];
  for (const [kernel, title] of [
    ["rotation", "RoPE on query and key [2048, 8, 64]"],
    ["table", "Sinusoidal table [8192, 512]"],
    ["bias", "T5 bias matrix [8, 1024, 1024]"],
  ] as const) {
    const body = (): Promise<Table> => kernelTable(bench, kernel, title, problem, peers.get(kernel)!);
    tables.push(...(await attempt(bench, title, body)));
  }
  return tables;
}

/** The right answers, in double where it matters. */
async function problemOf(bench: Bench): Promise<PositionProblem> {
  const lab = await bench.place.lab("simd");
  const { heads, length, dim } = kRotation;
  const half = dim / 2;
  const cosines = new Float32Array(length * half);
  const sines = new Float32Array(length * half);
  for (let n = 0; n < cosines.length; n += 1) {
    const angle = Math.floor(n / half) * 10000 ** ((-2 * (n % half)) / dim);
    cosines[n] = Math.cos(angle);
    sines[n] = Math.sin(angle);
  }
  const [kernels] = bench.kernels.values();
  const rotation = new kernels!.Rotation();
  must(rotation.make(heads, length, dim));
  const x = rotation.query().slice();
  rotation.delete();
  const turned = lab.rotate({ data: x, shape: [heads, length, dim] }, { type: "rope" });

  const expectedTable = new Float32Array(kTable.length * kTable.dim);
  for (let n = 0; n < expectedTable.length; n += 1) {
    const column = n % kTable.dim;
    const angle = Math.floor(n / kTable.dim) * 10000 ** (-(column - (column % 2)) / kTable.dim);
    expectedTable[n] = column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  }

  const distances = Int32Array.from({ length: 2 * kBias.length - 1 }, (_, n) => n - (kBias.length - 1));
  const buckets = Int32Array.from(lab.buckets({ type: "t5", bidirectional: true }, distances), Number);
  const bias = new kernels!.Bias();
  must(bias.make(kBias.heads, kBias.length));
  const table = bias.table().slice();
  bias.delete();
  const expectedBias = new Float32Array(kBias.heads * kBias.length ** 2);
  for (let n = 0; n < expectedBias.length; n += 1) {
    const i = Math.floor(n / kBias.length) % kBias.length;
    const distance = (n % kBias.length) - i;
    const head = Math.floor(n / kBias.length ** 2);
    expectedBias[n] = table[buckets[distance + kBias.length - 1]! * kBias.heads + head]!;
  }
  return {
    rotation: { ...kRotation, x, cosines, sines, expected: turned.data },
    table: { ...kTable, expected: expectedTable },
    bias: { ...kBias, table, buckets, expected: expectedBias },
  };
}

function oursOf(kernels: Kernels, kernel: PositionKernel): Ours {
  if (kernel === "rotation") {
    const rotation = new kernels.Rotation();
    must(rotation.make(kRotation.heads, kRotation.length, kRotation.dim));
    return {
      run: () => rotation.run(),
      result: () => rotation.query(),
      bytes: rotation.bytes(),
      limit: "copy",
      dispose: () => rotation.delete(),
    };
  }
  if (kernel === "table") {
    const table = new kernels.Table();
    must(table.make(kTable.length, kTable.dim));
    return {
      run: () => must(table.run()),
      result: () => table.result(),
      bytes: table.bytes(),
      limit: "fill",
      dispose: () => table.delete(),
    };
  }
  const bias = new kernels.Bias();
  must(bias.make(kBias.heads, kBias.length));
  return {
    run: () => must(bias.run()),
    result: () => bias.result(),
    bytes: bias.bytes(),
    limit: "fill",
    dispose: () => bias.delete(),
  };
}

const kContains: Record<PositionKernel, string> = {
  rotation: "query and key in place, resident; table of cosines and sines at hand",
  table: "every angle in double; the result resident",
  bias: "from the table of buckets; the result resident",
};

async function kernelTable(
  bench: Bench,
  kernel: PositionKernel,
  title: string,
  problem: PositionProblem,
  peers: readonly Subject[],
): Promise<Table> {
  const subjects: Subject[] = [];
  const limits: Subject[] = [];
  let bytes = 0;
  for (const [variant, kernels] of bench.kernels) {
    const ours = oursOf(kernels, kernel);
    bytes = ours.bytes;
    subjects.push({
      name: variantName(variant),
      kind: "ours",
      contains: kContains[kernel],
      run: ours.run,
      check: () => {
        ours.run();
        return largestError(ours.result(), problem[kernel].expected);
      },
      ...(kernel === "table" ? { tolerance: kTableTolerance } : {}),
      variant,
      dispose: ours.dispose,
    });
    limits.push(bandwidth(kernels, ours, variant));
  }
  return {
    id: `position/${kernel}`,
    topic: "position",
    engine: bench.place.engine,
    title,
    unit: "GB/s",
    rows: await timeRows([...subjects, ...peers, ...limits], { amount: bytes, unit: "GB/s" }, bench.timing),
  };
}

/** A loop that copies, or fills, as many bytes as the kernel reads and writes, or writes. */
function bandwidth(kernels: Kernels, { bytes, limit }: Ours, variant: Variant): Subject {
  const memory = new kernels.Memory(limit === "copy" ? bytes / 2 : bytes);
  return {
    name: `limit, plain ${limit}, ${variant === "simd" ? "SIMD" : "relaxed SIMD"}`,
    kind: "limit",
    contains: `a loop over as many bytes as the kernel ${limit === "copy" ? "reads and writes" : "writes"}`,
    run: () => (limit === "copy" ? memory.copy() : memory.fill()),
    variant,
    dispose: () => memory.delete(),
  };
}
