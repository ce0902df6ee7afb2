// SPDX-License-Identifier: MIT
// The header of GGUF versions 2 and 3 (ggml's specification, docs/gguf.md): magic, version, counts, key-value pairs, tensor
// infos. Read here and not by @huggingface/gguf, which takes what follows the end of a file for zeros, lets duplicate keys
// and tensors past the end through, and reads counts and lengths without holding them against the file's size.

import type { ByteSource } from "../byte-source.js";
import { storedBytes } from "../models/stored-tensor.js";
import type { TensorTypeName } from "../models/tensor-types.js";
import { Cursor, ggufError, type GgufValue, WindowTooShort } from "./cursor.js";

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
const defaultAlignment = 32,
  largestAlignment = 2 ** 20;
/** ggml's GGML_MAX_DIMS and GGML_MAX_NAME. */
const mostDimensions = 4,
  longestName = 64,
  longestKey = 65_535;
/** More than any model has; what is kept of a key or tensor is larger than it is in the file. */
const mostKeys = 65_536,
  mostTensors = 65_536;
const firstWindow = 2 ** 20;

export interface GgufTensor {
  name: string;
  /** row-major, the last axis is contiguous (the file's own order is the reverse) */ shape: number[];
  type: TensorTypeName;
  /** bytes [begin, end) of the file, which may be shorter when only its header is at hand */ begin: number;
  end: number;
}
export interface GgufHeader {
  metadata: Map<string, GgufValue>;
  tensors: GgufTensor[];
}

/** Reads the header, and nothing behind it. @throws PosLabError (format) with the reason. */
export async function readGgufHeader(source: ByteSource, signal?: AbortSignal): Promise<GgufHeader> {
  for (let length = Math.min(firstWindow, source.size); ; length = Math.min(4 * length, source.size)) {
    try {
      return parse(await source.read(0, length, signal), source.size);
    } catch (error) {
      if (!(error instanceof WindowTooShort)) throw error;
    }
  }
}

function parse(window: Uint8Array, fileSize: number): GgufHeader {
  const cursor = new Cursor(window, fileSize);
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
    const key = cursor.name("a key", longestKey);
    if (metadata.has(key)) throw ggufError(`the key ${JSON.stringify(key)} is there twice`);
    metadata.set(key, cursor.value(JSON.stringify(key)));
  }
  const names = new Set<string>();
  const infos = Array.from({ length: tensorCount }, () => {
    const info = readInfo(cursor);
    if (names.has(info.name)) throw ggufError(`the tensor ${JSON.stringify(info.name)} is there twice`);
    names.add(info.name);
    return info;
  });
  const alignment = alignmentOf(metadata);
  const dataBegin = Math.ceil(cursor.at / alignment) * alignment;
  const tensors = infos.map((info) => place(info, dataBegin, alignment));
  checkOverlap(tensors);
  return { metadata, tensors };
}

function checkOverlap(tensors: readonly GgufTensor[]): void {
  let before: GgufTensor | undefined;
  for (const tensor of [...tensors].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (before && tensor.begin < before.end)
      throw ggufError(
        `${describeTensor(tensor)} begins at byte ${tensor.begin}, inside the tensor ${JSON.stringify(before.name)}`,
      );
    before = tensor;
  }
}

interface TensorInfo {
  name: string;
  shape: number[];
  type: TensorTypeName;
  offset: bigint;
}

function readInfo(cursor: Cursor): TensorInfo {
  const name = cursor.name("the name of a tensor", longestName);
  const shown = JSON.stringify(name);
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
  const isAllowed =
    typeof alignment === "number" && alignment % 8 === 0 && alignment > 0 && alignment <= largestAlignment;
  if (!isAllowed)
    throw ggufError(
      `general.alignment is ${describeValue(alignment)}; a multiple of 8, at most ${largestAlignment}, is allowed`,
    );
  return alignment;
}

function describeValue(value: GgufValue): string {
  return typeof value === "object"
    ? "a list"
    : typeof value === "string"
      ? JSON.stringify(value.slice(0, 40))
      : `${value}`;
}

function place({ name, shape, type, offset }: TensorInfo, dataBegin: number, alignment: number): GgufTensor {
  const shown = describeTensor({ name, shape, type });
  const bytes = storedBytes(type, shape);
  if (bytes === null) throw ggufError(`${shown} has rows that are not whole blocks`);
  if (offset % BigInt(alignment) !== 0n)
    throw ggufError(`${shown} begins at ${offset}, which is not a multiple of ${alignment}`);
  const end = BigInt(dataBegin) + offset + bytes;
  if (end > BigInt(Number.MAX_SAFE_INTEGER)) throw ggufError(`${shown} ends at byte ${end}, past any file's end`);
  return { name, shape, type, begin: Number(end - bytes), end: Number(end) };
}

/** A tensor as messages name it. */
export function describeTensor({ name, shape, type }: Pick<GgufTensor, "name" | "shape" | "type">): string {
  return `the tensor ${JSON.stringify(name)} [${shape.join(", ")}] of ${type}`;
}
