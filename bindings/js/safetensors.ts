// SPDX-License-Identifier: MIT
// safetensors files (github.com/huggingface/safetensors, "Format"): eight bytes of header length, a JSON header, the
// tensors' bytes. A file is hostile until read: every offset and count is checked before it is used, nothing is
// allocated by a declared size, and what the format does not allow (overlaps, holes, bytes left over, a name twice) is
// refused with a reason.

import { fromBfloat16, fromFloat16, toFloat16 } from "./half-floats.js";
import type { Dtype, FileTensor, TensorFile } from "./run-types.js";
import { formatError } from "./safetensors-header.js";
import { checkRest, headerEnd, itemSizes, readLayout } from "./safetensors-layout.js";
import type { Tensor } from "./types.js";

/**
 * Reads a whole file. Values are read by bytes, so tensors need not be aligned.
 * @throws PosLabError with code "format" and the reason.
 */
export function readSafetensors(bytes: Uint8Array | ArrayBuffer): TensorFile {
  // A Buffer of Node is a Uint8Array whose slice() copies nothing and whose buffer is shared with others.
  const file =
    bytes instanceof Uint8Array
      ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      : new Uint8Array(bytes);
  const dataBegin = headerEnd(file, file.length);
  const { entries, metadata, rest } = readLayout(file.subarray(8, dataBegin), file.length - dataBegin);
  checkRest(file.subarray(dataBegin + rest));
  const tensors = new Map<string, FileTensor>();
  for (const { name, dtype, shape, begin, end } of entries)
    tensors.set(name, { dtype, shape, data: decode(dtype, file.subarray(dataBegin + begin, dataBegin + end)) });
  return { tensors, metadata };
}

function decode(dtype: Dtype, bytes: Uint8Array): FileTensor["data"] {
  const halves = (widen: (half: number) => number): Float32Array => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Float32Array.from({ length: bytes.length / 2 }, (_, index) => widen(view.getUint16(2 * index, true)));
  };
  const aligned = (): ArrayBuffer => bytes.slice().buffer as ArrayBuffer; // a copy of these bytes alone begins at 0
  switch (dtype) {
    case "F64":
      return new Float64Array(aligned());
    case "F32":
      return new Float32Array(aligned());
    case "F16":
      return halves(fromFloat16);
    case "BF16":
      return halves(fromBfloat16);
    case "I64":
      return new BigInt64Array(aligned());
    case "U64":
      return new BigUint64Array(aligned());
    case "I32":
      return new Int32Array(aligned());
    case "U32":
      return new Uint32Array(aligned());
    case "I16":
      return new Int16Array(aligned());
    case "U16":
      return new Uint16Array(aligned());
    case "I8":
      return new Int8Array(aligned());
    case "U8":
    case "BOOL":
      return bytes.slice();
  }
}

/**
 * A tensor to write: its numbers become `dtype` (default: F64 for Float64Array, I64 for BigInt64Array, U8 for
 * Uint8Array, else F32).
 */
export interface TensorToWrite {
  data: Tensor["data"] | FileTensor["data"];
  shape: readonly number[];
  dtype?: "F64" | "F32" | "F16" | "I64" | "U8";
}

/** Writes a file that PyTorch and the reference reader open: wide types first, so that every tensor is aligned. */
export function writeSafetensors(
  tensors: Iterable<readonly [string, TensorToWrite]>,
  metadata: Record<string, string> = {},
): Uint8Array {
  const entries = [...tensors].map(([name, tensor]) => ({ name, shape: [...tensor.shape], ...encode(name, tensor) }));
  const names = new Set(entries.map(({ name }) => name));
  if (names.size !== entries.length || names.has("__metadata__"))
    throw formatError("names of tensors must differ, and __metadata__ is taken");
  entries.sort((a, b) => itemSizes[b.dtype] - itemSizes[a.dtype]);
  const parts: string[] = [];
  if (Object.keys(metadata).length > 0) parts.push(`"__metadata__":${JSON.stringify(metadata)}`);
  let offset = 0;
  for (const { name, dtype, shape, bytes } of entries) {
    parts.push(
      `${JSON.stringify(name)}:${JSON.stringify({ dtype, shape, data_offsets: [offset, offset + bytes.length] })}`,
    );
    offset += bytes.length;
  }
  let header = new TextEncoder().encode(`{${parts.join(",")}}`);
  const padding = (8 - (header.length % 8)) % 8;
  if (padding) header = new TextEncoder().encode(`{${parts.join(",")}}${" ".repeat(padding)}`);
  const file = new Uint8Array(8 + header.length + offset);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  let at = 8 + header.length;
  for (const { bytes } of entries) {
    file.set(bytes, at);
    at += bytes.length;
  }
  return file;
}

function encode(name: string, { data, shape, dtype }: TensorToWrite): { dtype: Dtype; bytes: Uint8Array } {
  const size = shape.reduce((product, extent) => product * extent, 1);
  if (data.length !== size)
    throw formatError(
      `the tensor ${JSON.stringify(name)} has ${data.length} numbers for the shape [${shape.join(", ")}]`,
    );
  const type =
    dtype ??
    (data instanceof Float64Array
      ? "F64"
      : data instanceof BigInt64Array
        ? "I64"
        : data instanceof Uint8Array
          ? "U8"
          : "F32");
  const numbers = data as ArrayLike<number>;
  const big = data instanceof BigInt64Array || data instanceof BigUint64Array;
  if (big !== (type === "I64") && type !== "I64")
    throw formatError(`the tensor ${JSON.stringify(name)} has 64-bit integers; they are written as I64`);
  const bytesOf = (array: ArrayBufferView): Uint8Array =>
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  switch (type) {
    case "F64":
      return { dtype: type, bytes: bytesOf(Float64Array.from(numbers)) };
    case "F32":
      return { dtype: type, bytes: bytesOf(data instanceof Float32Array ? data : Float32Array.from(numbers)) };
    case "F16":
      return { dtype: type, bytes: bytesOf(Uint16Array.from(numbers, toFloat16)) };
    case "I64":
      return {
        dtype: type,
        bytes: bytesOf(data instanceof BigInt64Array ? data : BigInt64Array.from(numbers, BigInt)),
      };
    case "U8":
      return { dtype: type, bytes: bytesOf(data instanceof Uint8Array ? data : Uint8Array.from(numbers)) };
  }
}
