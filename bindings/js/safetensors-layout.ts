// SPDX-License-Identifier: MIT
// Where the tensors of a safetensors file lie, checked before anything of them is read: works on the header alone, so
// that a file of gigabytes can be read tensor by tensor.

import type { Dtype } from "./run-types.js";
import { formatError, type HeaderEntry, parseHeader } from "./safetensors-header.js";

export const itemSizes: Record<Dtype, number> = {
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

/** Tensors by name with their bytes [begin, end) of the data, which begins after the header. */
export interface Layout {
  entries: (HeaderEntry & { dtype: Dtype })[];
  metadata: Map<string, string>;
  /** where the last tensor ends */ rest: number;
}

/** Where the header ends and the data begins, from the file's first eight bytes (or fewer, if it has no more). */
export function headerEnd(start: Uint8Array, fileSize: number): number {
  if (fileSize < 8) throw formatError(`the file has ${fileSize} bytes; the length of the header alone takes 8`);
  const declared = new DataView(start.buffer, start.byteOffset, start.byteLength).getBigUint64(0, true);
  if (declared > BigInt(fileSize - 8))
    throw formatError(`the header is said to have ${declared} bytes, and ${fileSize - 8} follow`);
  const headerLength = Number(declared);
  if (headerLength > largestHeader)
    throw formatError(`the header is said to have ${headerLength} bytes; at most ${largestHeader} are read`);
  return 8 + headerLength;
}

/**
 * Parses the header. Sizes fit shapes, and the tensors fill the data without overlap or hole; what follows the last one
 * is for `checkRest`.
 */
export function readLayout(header: Uint8Array, dataLength: number): Layout {
  const { entries, metadata } = parseHeader(decodeHeader(header));
  for (const entry of entries) checkEntry(entry, dataLength);
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
  if (dataLength - filled >= 8) throw formatError(`${dataLength - filled} bytes follow the last tensor`);
  return { entries: entries as Layout["entries"], metadata, rest: filled };
}

/** Some writers round the file up to a multiple of eight: fewer than eight zeros at the end are padding, not content. */
export function checkRest(rest: Uint8Array): void {
  if (rest.some((byte) => byte !== 0)) throw formatError(`${rest.length} bytes follow the last tensor`);
}

function checkEntry({ name, dtype, shape, begin, end }: HeaderEntry, dataLength: number): void {
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
