// SPDX-License-Identifier: MIT
// Where the bytes of a file come from: a path (Node), a File or Blob, bytes in memory, or anything that reads ranges.
// Nothing is read before it is asked for, and what is read is not kept, so that a file is never held twice.

import { PosLabError, wrongArgument } from "./errors.js";
import { importNode, isNode } from "./node-import.js";

/** Reads bytes [begin, end) of something of a known size: a file behind HTTP range requests, an archive's entry. */
export interface RangeReader {
  /** file name, as "model.safetensors"; its ending says what it may be */ name: string;
  /** in bytes */ size: number;
  read(begin: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** A file as callers have it. Bytes and Blobs have no name; `{ name, data }` gives them one. */
export type FileLike =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array
  | RangeReader
  | { name: string; data: Blob | ArrayBuffer | Uint8Array };

/** A file that can be read in parts. */
export class ByteSource {
  readonly name: string;
  readonly size: number;
  readonly #read: RangeReader["read"];
  readonly #close: () => Promise<void>;

  constructor(reader: RangeReader, close: () => Promise<void> = async () => {}) {
    this.name = reader.name;
    this.size = reader.size;
    this.#read = (begin, end, signal) => reader.read(begin, end, signal);
    this.#close = close;
  }

  /** Bytes [begin, end); both must lie in the file. They may be a view of memory that is the caller's: read only. */
  async read(begin: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal);
    if (begin < 0 || end < begin || end > this.size)
      throw new PosLabError("range", `${this.name}: bytes ${begin} to ${end} of ${this.size} were asked for`);
    if (begin === end) return new Uint8Array();
    const bytes = await this.#read(begin, end, signal);
    throwIfAborted(signal);
    if (bytes.length !== end - begin)
      throw new PosLabError("format", `${this.name}: ${bytes.length} bytes came where ${end - begin} were asked for`);
    return bytes;
  }

  /** The whole file: for small ones (a config, a tokenizer). */
  async readAll(limit: number, signal?: AbortSignal): Promise<Uint8Array> {
    if (this.size > limit)
      throw new PosLabError("format", `${this.name} has ${this.size} bytes; at most ${limit} are read`);
    return this.read(0, this.size, signal);
  }

  close(): Promise<void> {
    return this.#close();
  }
}

/** @throws PosLabError (aborted) when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new PosLabError("aborted", "the signal was aborted", { cause: signal.reason as unknown });
}

/** Opens one file. `argument` names it in messages. */
export async function openSource(file: FileLike, argument = "files"): Promise<ByteSource> {
  if (typeof file === "string" || file instanceof URL) return openPath(file, argument);
  if (file instanceof Blob) return fromBlob(file, file instanceof File ? file.name : "");
  if (file instanceof ArrayBuffer) return fromBytes(new Uint8Array(file), "");
  if (file instanceof Uint8Array) return fromBytes(file, "");
  if (typeof file === "object" && file !== null && typeof file.name === "string") {
    if ("read" in file && typeof file.read === "function") {
      if (!Number.isSafeInteger(file.size) || file.size < 0)
        throw wrongArgument("range", `${argument}.size`, file.size, "a size in bytes");
      return new ByteSource(file);
    }
    if ("data" in file) {
      const { name, data } = file;
      if (data instanceof Blob) return fromBlob(data, name);
      if (data instanceof ArrayBuffer) return fromBytes(new Uint8Array(data), name);
      if (data instanceof Uint8Array) return fromBytes(data, name);
    }
  }
  throw wrongArgument("type", argument, file, "a path, a File, a Blob, bytes or a range reader");
}

function fromBlob(blob: Blob, name: string): ByteSource {
  const read = async (begin: number, end: number): Promise<Uint8Array> =>
    new Uint8Array(await blob.slice(begin, end).arrayBuffer());
  return new ByteSource({ name, size: blob.size, read });
}

function fromBytes(given: Uint8Array, name: string): ByteSource {
  // A Buffer of Node is a Uint8Array whose slice() copies nothing.
  const bytes = new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  return new ByteSource({ name, size: bytes.length, read: async (begin, end) => bytes.subarray(begin, end) });
}

async function openPath(path: string | URL, argument: string): Promise<ByteSource> {
  if (!isNode) throw wrongArgument("type", argument, String(path), "a File, a Blob, bytes or a range reader (no path)");
  const { open } = await importNode("fs/promises");
  let handle;
  try {
    handle = await open(path, "r");
    const status = await handle.stat();
    if (status.isDirectory()) throw new Error("it is a folder, and the name of a file is needed");
    const { size } = status;
    const read = async (begin: number, end: number): Promise<Uint8Array> => readRange(handle!, begin, end);
    return new ByteSource({ name: fileName(path), size, read }, () => handle!.close());
  } catch (cause) {
    await handle?.close();
    throw cannotRead(path, cause);
  }
}

/** Linux reads at most 2 GiB at once. */
const largestRead = 2 ** 30;

async function readRange(
  handle: { read(buffer: Uint8Array, offset: number, length: number, at: number): Promise<{ bytesRead: number }> },
  begin: number,
  end: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - begin);
  let filled = 0;
  while (filled < bytes.length) {
    const length = Math.min(bytes.length - filled, largestRead);
    const { bytesRead } = await handle.read(bytes, filled, length, begin + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** The last part of a path. */
export function fileName(path: string | URL): string {
  return String(path).split(/[/\\]/).at(-1) ?? "";
}

/** What the system says about a path, as a PosLabError. */
export function cannotRead(path: string | URL, cause: unknown): PosLabError {
  const code = (cause as { code?: string } | undefined)?.code;
  const reason =
    code === "ENOENT"
      ? "there is no such file or folder"
      : code === "EACCES"
        ? "permission denied"
        : cause instanceof Error
          ? cause.message
          : String(cause);
  return new PosLabError("missing", `${String(path)} cannot be read: ${reason}`, { cause });
}
