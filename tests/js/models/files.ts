// SPDX-License-Identifier: MIT
// Small model files for tests: GGUF and llama2.c by hand, safetensors by the package's own writer.

import { expect } from "vitest";
import { openSource } from "../../../bindings/js/byte-source.js";
import { PosLabError } from "../../../bindings/js/errors.js";
import { readGgufFile } from "../../../bindings/js/models/gguf-file.js";
import { readLlama2cFile } from "../../../bindings/js/models/llama2c-file.js";
import { readSafetensorsFile } from "../../../bindings/js/models/safetensors-file.js";
import { type ModelFile, readStored } from "../../../bindings/js/models/stored-tensor.js";

export type Format = "safetensors" | "gguf" | "llama2.c";
const readers = { safetensors: readSafetensorsFile, gguf: readGgufFile, "llama2.c": readLlama2cFile };

/** Reads a file with all its tensors, as a model that is opened would. */
export async function readWhole(bytes: Uint8Array, format: Format): Promise<ModelFile> {
  const file = await readers[format](await openSource({ name: `test.${format}`, data: bytes }));
  for (const tensor of file.tensors.values()) await readStored(tensor);
  return file;
}

/** What a file is refused with, or "accepted". */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    expect(error).toBeInstanceOf(PosLabError);
    return (error as PosLabError).message;
  }
  return "accepted";
}

/** A llama2.c checkpoint of the given sizes, weights 0, 1/8, 2/8, ... over and over. */
export function llama2cFile({
  dim = 8,
  hidden = 12,
  layers = 2,
  heads = 2,
  keyValueHeads = 1,
  vocabulary = 16,
  length = 4,
} = {}): Uint8Array {
  const size = Math.abs(vocabulary);
  const keyValueDim = (dim / heads) * keyValueHeads;
  const perLayer = 2 * dim + 2 * dim * dim + 2 * dim * keyValueDim + 3 * dim * hidden;
  const floats = size * dim + layers * perLayer + dim + (length * dim) / heads + (vocabulary < 0 ? size * dim : 0);
  const bytes = new Uint8Array(28 + 4 * floats);
  const view = new DataView(bytes.buffer);
  [dim, hidden, layers, heads, keyValueHeads, vocabulary, length].forEach((value, index) =>
    view.setInt32(4 * index, value, true),
  );
  for (let index = 0; index < floats; index += 1) view.setFloat32(28 + 4 * index, (index % 7) / 8, true);
  return bytes;
}

/** Writes GGUF: values are texts, whole numbers (uint32), booleans, or lists of texts. */
export class GgufWriter {
  readonly #parts: Uint8Array[] = [];
  #keys = 0;

  key(name: string, value: string | number | boolean | readonly string[]): this {
    this.#keys += 1;
    this.#text(name);
    if (typeof value === "string") this.#uint32(8).#text(value);
    else if (typeof value === "boolean") this.#uint32(7).#bytes(Uint8Array.of(value ? 1 : 0));
    else if (typeof value === "number") this.#uint32(4).#uint32(value);
    else {
      this.#uint32(9).#uint32(8).#uint64(value.length);
      value.forEach((text) => this.#text(text));
    }
    return this;
  }

  /** The file with float32 tensors; shapes are row-major. */
  file(tensors: Readonly<Record<string, readonly number[]>> = {}): Uint8Array {
    const infos = new GgufWriter();
    const align = (size: number): number => Math.ceil(size / 32) * 32;
    let offset = 0;
    for (const [name, shape] of Object.entries(tensors)) {
      infos.#text(name);
      infos.#uint32(shape.length);
      [...shape].reverse().forEach((extent) => infos.#uint64(extent));
      infos.#uint32(0).#uint64(offset);
      offset = align(offset + 4 * shape.reduce((product, extent) => product * extent, 1));
    }
    const head = new GgufWriter().#bytes(new TextEncoder().encode("GGUF")).#uint32(3);
    head.#uint64(Object.keys(tensors).length).#uint64(this.#keys);
    const header = [...head.#parts, ...this.#parts, ...infos.#parts];
    const begin = align(header.reduce((sum, { length }) => sum + length, 0));
    const file = new Uint8Array(begin + offset);
    let at = 0;
    for (const part of header) {
      file.set(part, at);
      at += part.length;
    }
    return file;
  }

  #bytes(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    return this;
  }
  #uint32(value: number): this {
    return this.#bytes(new Uint8Array(Uint32Array.of(value).buffer));
  }
  #uint64(value: number): this {
    return this.#bytes(new Uint8Array(BigUint64Array.of(BigInt(value)).buffer));
  }
  #text(text: string): this {
    const bytes = new TextEncoder().encode(text);
    return this.#uint64(bytes.length).#bytes(bytes);
  }
}
