// SPDX-License-Identifier: MIT
// The header of a safetensors file: a JSON object of a fixed depth. It is scanned here instead of by JSON.parse because
// a careful reader has to refuse what JSON.parse lets pass: the same name twice, 1e3 or -0 as an offset, numbers past
// 2^53, arrays 60,000 deep.

import { PosLabError } from "./errors.js";

export interface HeaderEntry {
  name: string;
  dtype: string;
  shape: number[];
  begin: number;
  end: number;
}
export interface Header {
  entries: HeaderEntry[];
  metadata: Map<string, string>;
}

/** Why a file is refused, with its place where there is one. */
export function formatError(reason: string): PosLabError {
  return new PosLabError("format", `safetensors: ${reason}`, { argument: "safetensors" });
}

/** Parses the header's text, without its padding. */
export function parseHeader(text: string): Header {
  const scanner = new Scanner(text);
  const entries: HeaderEntry[] = [];
  let metadata: Map<string, string> | undefined;
  const names = new Set<string>();
  scanner.object((name) => {
    if (names.has(name)) throw formatError(`the name ${JSON.stringify(name)} is there twice`);
    names.add(name);
    if (name === "__metadata__") metadata = parseMetadata(scanner);
    else entries.push(parseEntry(scanner, name));
  });
  scanner.expectEnd();
  return { entries, metadata: metadata ?? new Map() };
}

function parseMetadata(scanner: Scanner): Map<string, string> {
  const metadata = new Map<string, string>();
  scanner.object((key) => {
    if (metadata.has(key)) throw formatError(`__metadata__ has ${JSON.stringify(key)} twice`);
    metadata.set(key, scanner.string("a text (values of __metadata__ are texts)"));
  });
  return metadata;
}

function parseEntry(scanner: Scanner, name: string): HeaderEntry {
  const shown = JSON.stringify(name);
  let dtype: string | undefined;
  let shape: number[] | undefined;
  let offsets: number[] | undefined;
  scanner.object((field) => {
    const twice =
      field === "dtype" ? dtype : field === "shape" ? shape : field === "data_offsets" ? offsets : undefined;
    if (twice !== undefined) throw formatError(`the tensor ${shown} has ${field} twice`);
    if (field === "dtype") dtype = scanner.string("a text (the dtype)");
    else if (field === "shape") shape = scanner.integers();
    else if (field === "data_offsets") offsets = scanner.integers();
    else
      throw formatError(
        `the tensor ${shown} has a field ${JSON.stringify(field)}; dtype, shape and data_offsets are known`,
      );
  });
  if (dtype === undefined || shape === undefined || offsets === undefined) {
    throw formatError(
      `the tensor ${shown} lacks ${dtype === undefined ? "dtype" : shape === undefined ? "shape" : "data_offsets"}`,
    );
  }
  const [begin, end] = offsets;
  if (offsets.length !== 2 || begin === undefined || end === undefined)
    throw formatError(`data_offsets of ${shown} must be two numbers`);
  if (end < begin) throw formatError(`the tensor ${shown} ends at ${end}, before it begins at ${begin}`);
  return { name, dtype, shape, begin, end };
}

/** A scanner for the few kinds of values that a header has. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  object(entry: (name: string) => void): void {
    this.#expect("{");
    if (this.#next() === "}") {
      this.#at += 1;
      return;
    }
    for (;;) {
      const name = this.string("a name in quotes");
      this.#expect(":");
      entry(name);
      if (this.#next() !== ",") break;
      this.#at += 1;
    }
    this.#expect("}");
  }

  string(wanted: string): string {
    if (this.#next() !== '"') throw this.#wrong(wanted);
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === "\\" ? 2 : 1;
    const quoted = this.#text.slice(this.#at, end + 1);
    try {
      const value: unknown = JSON.parse(quoted);
      this.#at = end + 1;
      return value as string;
    } catch {
      throw this.#wrong("a text that ends and has valid escapes");
    }
  }

  integers(): number[] {
    const values: number[] = [];
    this.#expect("[");
    if (this.#next() !== "]") {
      for (;;) {
        this.#next();
        const digits = /^(?:0|[1-9][0-9]*)(?![0-9.eE])/.exec(this.#text.slice(this.#at, this.#at + 24))?.[0];
        if (digits === undefined) throw this.#wrong("a whole number, 0 or larger");
        const value = Number(digits);
        if (!Number.isSafeInteger(value)) throw formatError(`the number ${digits} in the header is too large`);
        values.push(value);
        this.#at += digits.length;
        if (this.#next() !== ",") break;
        this.#at += 1;
      }
    }
    this.#expect("]");
    return values;
  }

  expectEnd(): void {
    if (this.#next() !== "") throw this.#wrong("the end of the header");
  }

  /** The next character that is not a space, or "" at the end. */
  #next(): string {
    while (/[ \t\n\r]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
    return this.#text[this.#at] ?? "";
  }

  #expect(character: string): void {
    if (this.#next() !== character) throw this.#wrong(`"${character}"`);
    this.#at += 1;
  }

  #wrong(wanted: string): PosLabError {
    const found = this.#text.slice(this.#at, this.#at + 12);
    return formatError(
      `the header needs ${wanted} at character ${this.#at}, and has ${found ? JSON.stringify(found) : "its end"}`,
    );
  }
}
