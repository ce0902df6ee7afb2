// SPDX-License-Identifier: MIT
// "poslab/convert": weights of rotary models from one lane layout to the other, as a stream. Lanes pair as halves (k with
// k + r/2: GPT-NeoX, Hugging Face's Llama) or adjacent (2k with 2k + 1: Su et al. 2021, Meta's Llama, llama2.c, GGUF's
// llama). The rows of q and k (weights, biases, norms of the head) are put into another order inside each head, so that
// the other rotation gives the same scores; every other tensor passes byte for byte.

import { type ByteSource, type FileLike, openSource } from "./byte-source.js";
import { PosLabError, wrongArgument } from "./errors.js";
import { formatError, type HeaderEntry, parseHeader } from "./safetensors-header.js";
import { headerEnd } from "./safetensors-layout.js";

export type Layout = "half" | "interleaved";

/** The heads of one layer; null for a layer without rotation. */
export interface HeadShape {
  headDim: number;
  /** lanes that are rotated, the first ones */ rotaryDim: number;
  /** query heads; needed only where q, k and v are one tensor */ heads?: number | null;
}

export interface ConvertOptions {
  to: Layout;
  /** the heads of the layer that a tensor belongs to */ headsOf: (tensor: string) => HeadShape | null;
  /** how q, k and v lie in a tensor called query_key_value: "grouped" (GPT-NeoX, Falcon) or "stacked" (ChatGLM) */
  fused?: "grouped" | "stacked";
  /** called for every tensor whose rows are reordered */ onConverted?: (tensor: string) => void;
}

/** As in the core: far wider than any head is. */
const kWidestHead = 2 ** 20;

/**
 * Where each lane of a converted head comes from: lane i of the new order is lane `laneOrder(...)[i]` of the old one.
 * @throws PosLabError when rotaryDim is odd, or wider than the head
 */
export function laneOrder(to: Layout, headDim: number, rotaryDim = headDim): number[] {
  if (!Number.isSafeInteger(headDim) || headDim < 1 || headDim > kWidestHead)
    throw wrongArgument("range", "headDim", headDim, `a whole number from 1 to ${kWidestHead}`);
  if (!Number.isSafeInteger(rotaryDim) || rotaryDim < 2 || rotaryDim > headDim || rotaryDim % 2)
    throw wrongArgument("range", "rotaryDim", rotaryDim, `an even number from 2 to the head's width, ${headDim},`);
  const half = rotaryDim / 2;
  return Array.from({ length: headDim }, (_, lane) => {
    if (lane >= rotaryDim) return lane;
    if (to === "half") return lane < half ? 2 * lane : 2 * (lane - half) + 1;
    return lane % 2 === 0 ? lane / 2 : half + (lane - 1) / 2;
  });
}

/** How the heads of q and k lie in a tensor. */
type Arrangement = "heads" | "grouped" | "stacked";

/** Names of tensors that hold lanes of q or k; what follows the name says weight or bias. */
const kNames: readonly [pattern: RegExp, arrangement: Arrangement | "fused"][] = [
  [/(^|\.)(q_proj|k_proj|wq|wk|q_norm|k_norm|q_layernorm|k_layernorm)\.(weight|bias)$/, "heads"],
  [/(^|\.)(qkv_proj|Wqkv)\.(weight|bias)$/, "stacked"],
  [/(^|\.)wqkv\.(weight|bias)$/, "grouped"],
  [/(^|\.)query_key_value\.(weight|bias)$/, "fused"],
];

const kPiece = 8 * 2 ** 20;

/**
 * The converted safetensors file, piece by piece: memory stays at one head's rows.
 * @throws PosLabError when the file is no safetensors file, when no tensor of q and k is found under the usual names, or
 *   when a shape does not fit the heads
 */
export async function* convertLayout(file: FileLike, options: ConvertOptions): AsyncGenerator<Uint8Array> {
  if (options.to !== "half" && options.to !== "interleaved")
    throw wrongArgument("unknownName", "to", options.to, '"half" or "interleaved"');
  const source = await openSource(file, "file");
  try {
    yield* convertSource(source, options);
  } finally {
    await source.close();
  }
}

async function* convertSource(source: ByteSource, options: ConvertOptions): AsyncGenerator<Uint8Array> {
  const { bytes: header, entries } = await readHeader(source);
  const plans = plan(entries, options);
  yield header;
  let written = header.length;
  for (const entry of [...entries].sort((one, two) => one.begin - two.begin || one.end - two.end)) {
    const begin = header.length + entry.begin;
    const end = header.length + entry.end;
    if (begin < written) throw formatError(`the tensor ${JSON.stringify(entry.name)} overlaps the one before it`);
    yield* copy(source, written, begin);
    const blocks = plans.get(entry.name);
    if (blocks) {
      yield* reorderRows(source, begin, end, blocks);
      options.onConverted?.(entry.name);
    } else yield* copy(source, begin, end);
    written = end;
  }
  yield* copy(source, written, source.size);
}

async function readHeader(source: ByteSource): Promise<{ bytes: Uint8Array; entries: HeaderEntry[] }> {
  const bytes = await source.read(0, headerEnd(await source.read(0, Math.min(8, source.size)), source.size));
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8)).replace(/[\0 ]+$/, "");
  } catch {
    throw formatError("the header is not UTF-8");
  }
  const { entries } = parseHeader(text);
  for (const { name, end } of entries)
    if (bytes.length + end > source.size)
      throw formatError(`the tensor ${JSON.stringify(name)} ends past the file's end`);
  return { bytes, entries };
}

/** Runs of rows: reordered within each head, or passed on. */
interface Block {
  rows: number;
  order: readonly number[] | null;
}

function plan(entries: readonly HeaderEntry[], options: ConvertOptions): Map<string, Block[]> {
  const plans = new Map<string, Block[]>();
  const names = new Set(entries.map(({ name }) => name));
  let isUnrotated = false;
  for (const entry of entries) {
    const known = kNames.find(([pattern]) => pattern.test(entry.name));
    if (!known) continue;
    const shape = options.headsOf(entry.name);
    if (!shape) {
      isUnrotated = true;
      continue;
    }
    const scales = [`${entry.name}_scale_inv`, `${entry.name}_scale`].find((name) => names.has(name));
    if (scales) throw unfit(entry.name, `it is quantized in blocks (${scales}), which reordering would mix`);
    plans.set(
      entry.name,
      blocksOf(entry, known[1] === "fused" ? (options.fused ?? "grouped") : known[1], shape, options.to),
    );
  }
  if (plans.size === 0 && !isUnrotated)
    throw new PosLabError(
      "missing",
      "no tensor of queries and keys was found: q_proj and k_proj, wq and wk, qkv_proj, Wqkv, wqkv and query_key_value are looked for",
      { argument: "tensors" },
    );
  return plans;
}

function blocksOf(
  { name, shape: [rows = 0] }: HeaderEntry,
  arrangement: Arrangement,
  shape: HeadShape,
  to: Layout,
): Block[] {
  const { headDim, rotaryDim, heads } = shape;
  const order = laneOrder(to, headDim, rotaryDim);
  const turned: Block = { rows: headDim, order };
  if (rows % headDim) throw unfit(name, `its ${rows} rows are no multiple of the head's width, ${headDim}`);
  const count = rows / headDim;
  if (arrangement === "heads") return Array.from({ length: count }, () => turned);
  if (!heads)
    throw unfit(name, "it holds queries, keys and values together, and the number of query heads is not known");
  const groups = (count - heads) / 2;
  if (!Number.isInteger(groups) || groups < 1 || heads % groups)
    throw unfit(name, `its ${count} heads are not ${heads} query heads with as many key as value heads`);
  const kept: Block = { rows: headDim, order: null };
  const queriesAndKeys = (queries: number, keys: number): Block[] => [
    ...Array.from({ length: queries + keys }, () => turned),
    ...Array.from({ length: keys }, () => kept),
  ];
  if (arrangement === "stacked") return queriesAndKeys(heads, groups);
  return Array.from({ length: groups }, () => queriesAndKeys(heads / groups, 1)).flat();
}

function unfit(name: string, reason: string): PosLabError {
  return new PosLabError("shape", `${name}: ${reason}`, { argument: name });
}

/** The rows of a tensor, head by head. */
async function* reorderRows(
  source: ByteSource,
  begin: number,
  end: number,
  blocks: readonly Block[],
): AsyncGenerator<Uint8Array> {
  const total = blocks.reduce((sum, { rows }) => sum + rows, 0);
  const rowBytes = total === 0 ? 0 : (end - begin) / total;
  let at = begin;
  for (const { rows, order } of blocks) {
    const next = at + rows * rowBytes;
    if (order) {
      const old = await source.read(at, next);
      const reordered = new Uint8Array(old.length);
      order.forEach((from, row) => reordered.set(old.subarray(from * rowBytes, (from + 1) * rowBytes), row * rowBytes));
      yield reordered;
    } else yield* copy(source, at, next);
    at = next;
  }
}

async function* copy(source: ByteSource, begin: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = begin; at < end; at += kPiece) yield await source.read(at, Math.min(end, at + kPiece));
}
