// SPDX-License-Identifier: MIT
// Reads the beginning of a GGUF file value by value, with every length checked against the file before it is believed.
// The window that has been read may end before the header does: then `WindowTooShort` asks for a larger one.

import { PosLabError } from "../errors.js";

/** Why a file is refused. */
export function ggufError(reason: string): PosLabError {
  return new PosLabError("format", `GGUF: ${reason}`, { argument: "gguf" });
}

export class WindowTooShort extends Error {}

export type NumberArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | BigUint64Array
  | BigInt64Array
  | Float64Array;
/** 64-bit integers are numbers while a double holds them, and bigint past that. */
export type GgufValue = number | bigint | boolean | string | NumberArray | StringArray | readonly GgufValue[];

/** A list of texts that stay bytes until one is asked for: vocabularies are long, and most of one is never looked at. */
export class StringArray {
  readonly #bytes: Uint8Array;
  /** text i is bytes [ends[i - 1] + 8, ends[i]) */ readonly #ends: Uint32Array;

  constructor(bytes: Uint8Array, ends: Uint32Array) {
    this.#bytes = bytes;
    this.#ends = ends;
  }

  get length(): number {
    return this.#ends.length;
  }

  bytesAt(index: number): Uint8Array {
    return this.#bytes.subarray((index === 0 ? 0 : this.#ends[index - 1]!) + 8, this.#ends[index]);
  }

  /** What is not UTF-8 becomes U+FFFD. */
  at(index: number): string {
    return decoder.decode(this.bytesAt(index));
  }

  *[Symbol.iterator](): Generator<string> {
    for (let index = 0; index < this.length; index += 1) yield this.at(index);
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Value types by their numbers in the file; `make` reads an array of them. */
const scalars: Record<number, { bytes: number; make: (buffer: ArrayBuffer) => NumberArray }> = {
  0: { bytes: 1, make: (buffer) => new Uint8Array(buffer) },
  1: { bytes: 1, make: (buffer) => new Int8Array(buffer) },
  2: { bytes: 2, make: (buffer) => new Uint16Array(buffer) },
  3: { bytes: 2, make: (buffer) => new Int16Array(buffer) },
  4: { bytes: 4, make: (buffer) => new Uint32Array(buffer) },
  5: { bytes: 4, make: (buffer) => new Int32Array(buffer) },
  6: { bytes: 4, make: (buffer) => new Float32Array(buffer) },
  7: { bytes: 1, make: (buffer) => new Uint8Array(buffer) },
  10: { bytes: 8, make: (buffer) => new BigUint64Array(buffer) },
  11: { bytes: 8, make: (buffer) => new BigInt64Array(buffer) },
  12: { bytes: 8, make: (buffer) => new Float64Array(buffer) },
};
const booleanType = 7,
  stringType = 8,
  arrayType = 9;
/** Nobody nests deeper than once; more would only be there to exhaust the reader. */
const deepestArray = 4,
  mostNestedArrays = 65_536;

export class Cursor {
  at = 0;
  readonly #window: Uint8Array;
  readonly #view: DataView;
  readonly #fileSize: number;
  #nestedArrays = 0;

  constructor(window: Uint8Array, fileSize: number) {
    this.#window = window;
    this.#view = new DataView(window.buffer, window.byteOffset, window.byteLength);
    this.#fileSize = fileSize;
  }

  /** Moves past `count` bytes and returns where they begin. */
  skip(count: number | bigint, what: string): number {
    const begin = this.at;
    const fits = typeof count === "number" ? begin + count <= this.#fileSize : BigInt(begin) + count <= this.#fileSize;
    if (!fits) throw ggufError(`${what} takes ${count} bytes at byte ${begin}, and the file has ${this.#fileSize}`);
    if (begin + Number(count) > this.#window.length) throw new WindowTooShort();
    this.at = begin + Number(count);
    return begin;
  }

  uint32(what: string): number {
    return this.#view.getUint32(this.skip(4, what), true);
  }

  uint64(what: string): bigint {
    return this.#view.getBigUint64(this.skip(8, what), true);
  }

  /** A count of things that take at least `least` bytes each in the file. */
  count(what: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
    const count = this.uint64(`the number of ${what}`);
    const room = Math.floor((this.#fileSize - this.at) / least);
    if (count > BigInt(Math.min(room, most)))
      throw ggufError(`${count} ${what} are declared; the file has room for at most ${Math.min(room, most)}`);
    return Number(count);
  }

  /** A name: UTF-8 of at most so many bytes, or the file is refused. */
  name(what: string, longest: number): string {
    const length = this.uint64(`the length of ${what}`);
    if (length > BigInt(longest)) throw ggufError(`${what} is ${length} bytes long; at most ${longest} are allowed`);
    const begin = this.skip(length, what);
    try {
      return strictDecoder.decode(this.#window.subarray(begin, this.at));
    } catch {
      throw ggufError(`${what} at byte ${begin} is not UTF-8`);
    }
  }

  value(key: string): GgufValue {
    return this.#valueOf(this.uint32(`the type of ${key}`), key, 0);
  }

  #valueOf(type: number, key: string, depth: number): GgufValue {
    if (type === stringType) return this.#texts(key, 1).at(0);
    if (type === arrayType) return this.#array(key, depth);
    const value = this.#numbers(type, key, 1)[0]!;
    if (type === booleanType) {
      if (value !== 0 && value !== 1)
        throw ggufError(`${key} is a boolean with the value ${value}; 0 and 1 are allowed`);
      return value === 1;
    }
    return typeof value === "bigint" && BigInt(Number(value)) === value && Number.isSafeInteger(Number(value))
      ? Number(value)
      : value;
  }

  #array(key: string, depth: number): GgufValue {
    if (depth >= deepestArray) throw ggufError(`${key} has arrays ${depth + 1} deep; ${deepestArray} are read`);
    const type = this.uint32(`the type of the entries of ${key}`);
    if (type === stringType) return this.#texts(key, this.count(`texts of ${key}`, 8));
    if (type !== arrayType) return this.#numbers(type, key, this.count(`entries of ${key}`, scalars[type]?.bytes ?? 1));
    const count = this.count(`arrays in ${key}`, 12);
    this.#nestedArrays += count;
    if (this.#nestedArrays > mostNestedArrays)
      throw ggufError(`${key} has too many arrays in arrays; ${mostNestedArrays} are read`);
    return Array.from({ length: count }, () => this.#array(key, depth + 1));
  }

  #numbers(type: number, key: string, count: number): NumberArray {
    const scalar = scalars[type];
    if (!scalar) throw ggufError(`${key} has the value type ${type}; 0 to 12 are known`);
    const begin = this.skip(BigInt(count) * BigInt(scalar.bytes), key);
    return scalar.make(this.#window.slice(begin, this.at).buffer as ArrayBuffer);
  }

  #texts(key: string, count: number): StringArray {
    const begin = this.at;
    const ends = new Uint32Array(count);
    for (let index = 0; index < count; index += 1) {
      const length = this.skip(8, key);
      // Numbers where they do: there may be millions of texts.
      const [low, high] = [this.#view.getUint32(length, true), this.#view.getUint32(length + 4, true)];
      this.skip(high === 0 ? low : this.#view.getBigUint64(length, true), key);
      ends[index] = this.at - begin;
    }
    return new StringArray(this.#window.subarray(begin, this.at), ends);
  }
}
