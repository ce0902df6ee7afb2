// SPDX-License-Identifier: MIT
// A tensor that still lies in its file, and what the readers of all formats give: tensors by name, and metadata.

import type { ByteSource } from "../byte-source.js";
import { type TensorType, type TensorTypeName, tensorTypes, widenBlocks } from "./tensor-types.js";

export interface StoredTensor {
  name: string;
  type: TensorTypeName;
  /** row-major, the last axis is contiguous: as safetensors has it (GGUF's own order is the reverse) */ shape: number[];
  source: ByteSource;
  /** bytes [begin, end) of the source */ begin: number;
  end: number;
}

/** One or more files that hold one model. */
export interface ModelFile {
  format: "safetensors" | "gguf" | "llama2.c";
  tensors: Map<string, StoredTensor>;
  metadata: Map<string, unknown>;
}

/** The tensor's numbers as float32, read from its file now. */
export async function readStored(tensor: StoredTensor, signal?: AbortSignal): Promise<Float32Array> {
  return widenBlocks(tensor.type, await tensor.source.read(tensor.begin, tensor.end, signal));
}

/** How many numbers a shape has, exactly. */
export function countOf(shape: readonly number[]): bigint {
  return shape.reduce((product, extent) => product * BigInt(extent), 1n);
}

/** What a tensor takes in its file; null when its rows are not whole blocks. */
export function storedBytes(type: TensorTypeName, shape: readonly number[]): bigint | null {
  const { block, bytes }: TensorType = tensorTypes[type];
  const row = shape.at(-1) ?? 1;
  if (row % block !== 0) return null;
  return (countOf(shape) / BigInt(block)) * BigInt(bytes);
}
