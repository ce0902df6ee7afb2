// SPDX-License-Identifier: MIT
// The header of llama2.c's checkpoints: seven 32-bit integers (dim, hidden, layers, heads, key/value heads, vocabulary,
// longest text), at the start in version 0 (a negative vocabulary means an untied classifier), after a magic number and
// a version in the later ones.

import { PosLabError } from "../errors.js";
import type { Json } from "./reader.js";

const kMagic = 0x616b3432; // "ak42"
const kFields = ["dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "seq_len"] as const;
/** The largest that any field is meant to be. */
const kLargest = 2 ** 24;

/** As a config, or undefined where the bytes are no such header. */
export function readLlama2cHeader(bytes: Uint8Array, size: number): Json | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hasMagic = bytes.length >= 8 && view.getUint32(0, true) === kMagic;
  const version = hasMagic ? view.getInt32(4, true) : 0;
  const start = hasMagic ? 8 : 0;
  if (bytes.length < start + 4 * kFields.length) {
    if (hasMagic) throw formatError("it ends inside its header");
    return undefined;
  }
  if (hasMagic && version !== 1 && version !== 2) throw formatError(`version ${version} is not known; 1 and 2 are`);
  const header = Object.fromEntries(
    kFields.map((name, index) => [name, view.getInt32(start + 4 * index, true)]),
  ) as Record<(typeof kFields)[number], number>;
  header.vocab_size = Math.abs(header.vocab_size);
  const { dim, n_heads: heads, n_kv_heads: keyValueHeads } = header;
  const isHeader =
    Object.values(header).every((value) => value > 0 && value <= kLargest) &&
    dim % heads === 0 &&
    keyValueHeads <= heads &&
    heads % keyValueHeads === 0;
  if (!isHeader) {
    if (hasMagic) throw formatError(`its numbers make no model: ${JSON.stringify(header)}`);
    return undefined;
  }
  // Version 0 has no mark of its own, so the weights have to be there: the token embedding alone is vocabulary x dim.
  if (!hasMagic && size < 28 + 4 * header.vocab_size * dim) return undefined;
  return { model_type: "llama2.c", ...header };
}

function formatError(reason: string): PosLabError {
  return new PosLabError("format", `llama2.c: ${reason}`, { argument: "llama2.c" });
}
