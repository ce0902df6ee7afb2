// SPDX-License-Identifier: MIT
// GGUF versions 2 and 3 (ggml's specification, docs/gguf.md): magic, version, counts, key-value pairs, tensor infos,
// padding, data. Read here and not by @huggingface/gguf, which takes what follows the end of a file for zeros and lets
// duplicate keys and tensors past the end through.

import type { ByteSource } from "./byte-source.js";
import { Cursor, ggufError, type GgufValue, WindowTooShort } from "./gguf-cursor.js";
import { type ModelFile, type StoredTensor, storedBytes } from "./stored-tensor.js";
import type { TensorTypeName } from "./tensor-types.js";

/** Tensor types by their numbers in the file; numbers that are missing were removed from the format. */
const typeNames: Record<number, TensorTypeName> = {
  0: "F32",
  1: "F16",
  2: "Q4_0",
  3: "Q4_1",
  6: "Q5_0",
  7: "Q5_1",
  8: "Q8_0",
  9: "Q8_1",
  10: "Q2_K",
  11: "Q3_K",
  12: "Q4_K",
  13: "Q5_K",
  14: "Q6_K",
  15: "Q8_K",
  16: "IQ2_XXS",
  17: "IQ2_XS",
  18: "IQ3_XXS",
  19: "IQ1_S",
  20: "IQ4_NL",
  21: "IQ3_S",
  22: "IQ2_S",
  23: "IQ4_XS",
  24: "I8",
  25: "I16",
  26: "I32",
  27: "I64",
  28: "F64",
  29: "IQ1_M",
  30: "BF16",
  34: "TQ1_0",
  35: "TQ2_0",
  39: "MXFP4",
};
const magic = 0x46554747; // "GGUF"
const defaultAlignment = 32;
/** ggml's GGML_MAX_DIMS and GGML_MAX_NAME. */
const mostDimensions = 4,
  longestName = 64;
/** More than any model has; what is kept of a key or tensor is larger than it is in the file. */
const mostKeys = 65_536,
  mostTensors = 262_144;
const firstWindow = 2 ** 20;

/** Reads the header of a GGUF file. @throws PosLabError (format) with the reason. */
export async function readGgufFile(source: ByteSource, signal?: AbortSignal): Promise<ModelFile> {
  for (let length = Math.min(firstWindow, source.size); ; length = Math.min(4 * length, source.size)) {
    try {
      return readHeader(await source.read(0, length, signal), source);
    } catch (error) {
      if (!(error instanceof WindowTooShort)) throw error;
    }
  }
}

function readHeader(window: Uint8Array, source: ByteSource): ModelFile {
  const cursor = new Cursor(window, source.size);
  if (cursor.uint32("the magic number") !== magic) throw ggufError('the file does not begin with "GGUF"');
  const version = cursor.uint32("the version");
  if (version === 0x02000000 || version === 0x03000000)
    throw ggufError("the file is big-endian; little-endian is read");
  if (version !== 2 && version !== 3) throw ggufError(`the version is ${version}; 2 and 3 are read`);
  // A tensor info takes at least 24 bytes, a key and its value at least 13.
  const tensorCount = cursor.count("tensors", 24, mostTensors);
  const keyCount = cursor.count("keys", 13, mostKeys);
  const metadata = new Map<string, GgufValue>();
  for (let index = 0; index < keyCount; index += 1) {
    const key = cursor.name("a key");
    if (metadata.has(key)) throw ggufError(`the key ${JSON.stringify(key)} is there twice`);
    metadata.set(key, cursor.value(JSON.stringify(key)));
  }
  const infos = Array.from({ length: tensorCount }, () => readInfo(cursor));
  const alignment = alignmentOf(metadata);
  const dataBegin = Math.ceil(cursor.at / alignment) * alignment;
  const tensors = new Map<string, StoredTensor>();
  for (const info of infos) {
    if (tensors.has(info.name)) throw ggufError(`the tensor ${JSON.stringify(info.name)} is there twice`);
    tensors.set(info.name, place(info, dataBegin, alignment, source));
  }
  return { format: "gguf", tensors, metadata };
}

interface TensorInfo {
  name: string;
  shape: number[];
  type: TensorTypeName;
  offset: bigint;
}

function readInfo(cursor: Cursor): TensorInfo {
  const name = cursor.name("the name of a tensor");
  const shown = JSON.stringify(name);
  if (new TextEncoder().encode(name).length > longestName)
    throw ggufError(`the tensor name ${shown} is longer than ${longestName} bytes`);
  const dimensions = cursor.uint32(`the dimensions of ${shown}`);
  if (dimensions > mostDimensions)
    throw ggufError(`the tensor ${shown} has ${dimensions} dimensions; at most ${mostDimensions} are allowed`);
  const shape: number[] = [];
  for (let axis = 0; axis < dimensions; axis += 1) {
    const extent = cursor.uint64(`the shape of ${shown}`);
    if (extent > BigInt(Number.MAX_SAFE_INTEGER)) throw ggufError(`the tensor ${shown} has an axis of ${extent}`);
    shape.unshift(Number(extent));
  }
  const type = cursor.uint32(`the type of ${shown}`);
  const typeName = typeNames[type];
  if (!typeName) throw ggufError(`the tensor ${shown} has the type ${type}, which is not known or was removed`);
  return { name, shape, type: typeName, offset: cursor.uint64(`the offset of ${shown}`) };
}

function alignmentOf(metadata: ReadonlyMap<string, GgufValue>): number {
  const alignment = metadata.get("general.alignment") ?? defaultAlignment;
  if (typeof alignment !== "number" || !Number.isInteger(alignment) || alignment < 1 || alignment > 2 ** 20)
    throw ggufError(`general.alignment is ${String(alignment)}; a whole number, 1 or more, is allowed`);
  return alignment;
}

function place(info: TensorInfo, dataBegin: number, alignment: number, source: ByteSource): StoredTensor {
  const { name, shape, type, offset } = info;
  const shown = `the tensor ${JSON.stringify(name)} [${shape.join(", ")}] of ${type}`;
  const bytes = storedBytes(type, shape);
  if (bytes === null) throw ggufError(`${shown} has rows that are not whole blocks`);
  if (offset % BigInt(alignment) !== 0n)
    throw ggufError(`${shown} begins at ${offset}, which is not a multiple of ${alignment}`);
  const end = BigInt(dataBegin) + offset + bytes;
  if (end > BigInt(source.size)) throw ggufError(`${shown} ends at byte ${end}, and the file has ${source.size}`);
  return { name, type, shape, source, begin: Number(end - bytes), end: Number(end) };
}
