// SPDX-License-Identifier: MIT
// safetensors files (github.com/huggingface/safetensors, "Format"): eight bytes of header length, a JSON header, the
// tensors' bytes. A file is hostile until read: every offset and count is checked before it is used, nothing is
// allocated by a declared size, and what the format does not allow (overlaps, holes, bytes left over, a name twice) is
// refused with a reason.

import { fromBfloat16, fromFloat16, toFloat16 } from "./half-floats.js";
import type { Dtype, FileTensor, TensorFile } from "./run-types.js";
import { formatError, type HeaderEntry, parseHeader } from "./safetensors-header.js";
import type { Tensor } from "./types.js";

const itemSizes: Record<Dtype, number> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U64: 8,
  U32: 4,
  U16: 2,
  U8: 1,
  BOOL: 1,
};
/** The reference reader's own limit for a header. */
const largestHeader = 100_000_000;

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
  if (file.length < 8) throw formatError(`the file has ${file.length} bytes; the length of the header alone takes 8`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const declared = view.getBigUint64(0, true);
  if (declared > BigInt(file.length - 8))
    throw formatError(`the header is said to have ${declared} bytes, and ${file.length - 8} follow`);
  const headerLength = Number(declared);
  if (headerLength > largestHeader)
    throw formatError(`the header is said to have ${headerLength} bytes; at most ${largestHeader} are read`);
  const header = parseHeader(decodeHeader(file.subarray(8, 8 + headerLength)));
  const data = file.subarray(8 + headerLength);
  checkLayout(header.entries, data);
  const tensors = new Map<string, FileTensor>();
  for (const entry of header.entries) {
    const part = data.subarray(entry.begin, entry.end);
    tensors.set(entry.name, {
      dtype: entry.dtype as Dtype,
      shape: entry.shape,
      data: decode(entry.dtype as Dtype, part),
    });
  }
  return { tensors, metadata: header.metadata };
}

function decodeHeader(bytes: Uint8Array): string {
  if (bytes[0] !== 0x7b) throw formatError("the header does not begin with {");
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] === 0 || bytes[end - 1] === 0x20)) end -= 1; // writers pad with spaces or zeros
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, end));
  } catch {
    throw formatError("the header is not UTF-8");
  }
}

/**
 * Sizes fit shapes, and the tensors fill the data without overlap, hole or rest. (Some writers round the file up to a
 * multiple of eight: fewer than eight zeros at the end are padding, not content.)
 */
function checkLayout(entries: readonly HeaderEntry[], data: Uint8Array): void {
  const dataLength = data.length;
  for (const { name, dtype, shape, begin, end } of entries) {
    const shown = JSON.stringify(name);
    if (!Object.hasOwn(itemSizes, dtype))
      throw formatError(
        `the tensor ${shown} has the dtype ${JSON.stringify(dtype)}; ${Object.keys(itemSizes).join(", ")} are read`,
      );
    const bytes = shape.reduce((product, extent) => product * BigInt(extent), BigInt(itemSizes[dtype as Dtype]));
    if (bytes !== BigInt(end - begin)) {
      throw formatError(
        `the tensor ${shown} [${shape.join(", ")}] of ${dtype} takes ${bytes} bytes, and its offsets span ${end - begin}`,
      );
    }
    if (end > dataLength)
      throw formatError(`the tensor ${shown} ends at byte ${end} of the data, which has ${dataLength}`);
  }
  let filled = 0;
  for (const { name, begin, end } of [...entries].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < filled)
      throw formatError(
        `the tensor ${JSON.stringify(name)} begins at byte ${begin}, inside the one before it (up to ${filled})`,
      );
    if (begin > filled)
      throw formatError(
        `there is a hole before the tensor ${JSON.stringify(name)}: bytes ${filled} to ${begin} belong to none`,
      );
    filled = end;
  }
  const rest = data.subarray(filled);
  if (rest.length >= 8 || rest.some((byte) => byte !== 0))
    throw formatError(`${dataLength - filled} bytes follow the last tensor`);
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
