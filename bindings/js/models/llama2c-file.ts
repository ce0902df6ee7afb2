// SPDX-License-Identifier: MIT
// llama2.c's .bin, version 0 (karpathy/llama2.c, export.py and run.c): seven int32, then float32 tensors of all layers
// kind by kind, then tables of cosines and sines that are computed here instead. The tensors get the names that the same
// model has in GGUF, whose lanes are paired the same way.

import { PosLabError } from "../errors.js";
import type { ByteSource } from "../byte-source.js";
import type { ModelFile, StoredTensor } from "./stored-tensor.js";

const headerBytes = 28;
const versionOneMagic = 0x616b3432; // "ak42"

function binError(reason: string): PosLabError {
  return new PosLabError("format", `llama2.c: ${reason}`, { argument: "llama2.c" });
}

/** Reads the header. @throws PosLabError (format) with the reason. */
export async function readLlama2cFile(source: ByteSource, signal?: AbortSignal): Promise<ModelFile> {
  if (source.size < headerBytes)
    throw binError(`the file has ${source.size} bytes; the header alone takes ${headerBytes}`);
  const header = await source.read(0, headerBytes, signal);
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (view.getUint32(0, true) === versionOneMagic)
    throw binError(
      `the file has version ${view.getUint32(4, true)} of the format; version 0 (without a magic number) is read`,
    );
  const [dim, hidden, layers, heads, keyValueHeads, signedVocabulary, length] = Array.from({ length: 7 }, (_, index) =>
    view.getInt32(4 * index, true),
  ) as [number, number, number, number, number, number, number];
  // A negative vocabulary says that the classifier has weights of its own.
  const vocabulary = Math.abs(signedVocabulary);
  const sizes = { dim, hidden, layers, heads, "key/value heads": keyValueHeads, vocabulary, length };
  for (const [name, size] of Object.entries(sizes)) if (size < 1) throw binError(`the header says ${name} ${size}`);
  if (dim % heads !== 0 || heads % keyValueHeads !== 0 || (dim / heads) % 2 !== 0)
    throw binError(`dim ${dim}, ${heads} heads and ${keyValueHeads} key/value heads do not fit together`);
  const headDim = dim / heads;
  const keyValueDim = keyValueHeads * headDim;
  const kinds: [string, number[]][] = [
    ["attn_norm.weight", [dim]],
    ["attn_q.weight", [dim, dim]],
    ["attn_k.weight", [keyValueDim, dim]],
    ["attn_v.weight", [keyValueDim, dim]],
    ["attn_output.weight", [dim, dim]],
    ["ffn_norm.weight", [dim]],
    ["ffn_gate.weight", [hidden, dim]],
    ["ffn_down.weight", [dim, hidden]],
    ["ffn_up.weight", [hidden, dim]],
  ];
  const floats = (shape: number[]): number => shape.reduce((product, extent) => product * extent, 1);
  const perLayer = kinds.reduce((sum, [, shape]) => sum + floats(shape), 0);
  const tables = length * headDim;
  const own = signedVocabulary < 0 ? vocabulary * dim : 0;
  // In doubles: past 2^53 the sum is not exact, and larger than any file.
  const expected = headerBytes + 4 * (vocabulary * dim + layers * perLayer + dim + tables + own);
  if (expected !== source.size)
    throw binError(`the header's sizes make a file of ${expected} bytes, and it has ${source.size}`);
  const tensors = new Map<string, StoredTensor>();
  let at = headerBytes;
  const add = (name: string, shape: number[]): void => {
    const end = at + 4 * floats(shape);
    tensors.set(name, { name, type: "F32", shape, source, begin: at, end });
    at = end;
  };
  add("token_embd.weight", [vocabulary, dim]);
  for (const [name, shape] of kinds) for (let layer = 0; layer < layers; layer += 1) add(`blk.${layer}.${name}`, shape);
  add("output_norm.weight", [dim]);
  at += 4 * tables;
  if (own > 0) add("output.weight", [vocabulary, dim]);
  const metadata = new Map<string, unknown>([
    ["general.architecture", "llama"],
    ["llama.context_length", length],
    ["llama.embedding_length", dim],
    ["llama.block_count", layers],
    ["llama.feed_forward_length", hidden],
    ["llama.attention.head_count", heads],
    ["llama.attention.head_count_kv", keyValueHeads],
    ["llama.attention.layer_norm_rms_epsilon", 1e-5],
    ["llama.rope.freq_base", 10000],
  ]);
  return { format: "llama2.c", tensors, metadata };
}
