// SPDX-License-Identifier: MIT
// Reads values out of a config by name: the first of several keys that is there wins and is remembered as the source,
// a later one that says otherwise becomes a caution, and a value of the wrong kind is refused under its own name.
// null counts as absent, as it does for the programs that write these files.

import { PosLabError, wrongArgument } from "../errors.js";
import type { Caution } from "./types.js";

/** A value and the key that it came from. */
export interface Found<T> {
  value: T;
  source: string;
}

export interface NumberRule {
  /** the smallest allowed, itself included */ minimum?: number;
  /** allowed are numbers above this one */ above?: number;
  whole?: boolean;
}

export type Json = Readonly<Record<string, unknown>>;

/** Past this no length, width or count is meant seriously. */
const kLargestWhole = 2 ** 40;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export class ConfigReader {
  readonly cautions: Caution[];

  constructor(
    readonly json: Json,
    /** class defaults by key, for what the file leaves out */ readonly defaults: Json = {},
    /** whose defaults they are */ readonly family = "",
    /** how keys are shown: "text_config." before them, or another file's own names */ readonly shown: (
      key: string,
    ) => string = (key) => key,
    cautions: Caution[] = [],
  ) {
    this.cautions = cautions;
  }

  /** The same file with other defaults. */
  as(family: string, defaults: Json): ConfigReader {
    return new ConfigReader(this.json, defaults, family, this.shown, this.cautions);
  }

  /** A config inside this one. */
  inner(path: string, json: Json): ConfigReader {
    return new ConfigReader(json, this.defaults, this.family, (key) => this.shown(`${path}.${key}`), this.cautions);
  }

  caution(code: string, message: string): void {
    if (!this.cautions.some((other) => other.code === code && other.message === message))
      this.cautions.push({ code, message });
  }

  /** What stands at a dotted key, undefined when nothing or null does. */
  raw(key: string): unknown {
    let value: unknown = this.json;
    for (const part of key.split(".")) {
      if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
      value = value[part];
    }
    return value ?? undefined;
  }

  has(key: string): boolean {
    return this.raw(key) !== undefined;
  }

  #isNull(key: string): boolean {
    return Object.hasOwn(this.json, key) && this.json[key] === null;
  }

  number(keys: readonly string[], rule: NumberRule = {}): Found<number> | undefined {
    return this.#first(keys, (value, key) => checkNumber(value, this.shown(key), rule));
  }

  boolean(keys: readonly string[]): Found<boolean> | undefined {
    return this.#first(keys, (value, key) => {
      if (typeof value !== "boolean") throw wrongArgument("type", this.shown(key), value, "true or false");
      return value;
    });
  }

  text(keys: readonly string[]): Found<string> | undefined {
    return this.#first(keys, (value, key) => {
      if (typeof value !== "string") throw wrongArgument("type", this.shown(key), value, "a text");
      return value;
    });
  }

  numbers(keys: readonly string[], rule: NumberRule = {}): Found<number[]> | undefined {
    return this.#first(keys, (value, key) => {
      const name = this.shown(key);
      if (!Array.isArray(value)) throw wrongArgument("type", name, value, "a list of numbers");
      return value.map((entry, index) => checkNumber(entry, `${name}[${index}]`, rule));
    });
  }

  texts(keys: readonly string[]): Found<string[]> | undefined {
    return this.#first(keys, (value, key) => {
      if (!Array.isArray(value) || !value.every((entry) => typeof entry === "string"))
        throw wrongArgument("type", this.shown(key), value, "a list of texts");
      return value;
    });
  }

  object(keys: readonly string[]): Found<Json> | undefined {
    return this.#first(keys, (value, key) => {
      if (!isObject(value)) throw wrongArgument("type", this.shown(key), value, "an object");
      return value;
    });
  }

  /** The value, or an error that says which keys could give it. */
  needed<T>(found: Found<T> | undefined, keys: readonly string[], what: string): Found<T> {
    if (found) return found;
    const [first = "", ...others] = keys.map((key) => this.shown(key));
    const names = others.length > 0 ? `${first} (or ${others.slice(0, 3).join(", ")})` : first;
    throw new PosLabError("missing", `${names} is missing; ${what} is needed`, { argument: first, allowed: what });
  }

  #first<T>(keys: readonly string[], read: (value: unknown, key: string) => T): Found<T> | undefined {
    let first: Found<T> | undefined;
    for (const key of keys) {
      const value = this.raw(key);
      if (value === undefined) continue;
      const found = { value: read(value, key), source: this.shown(key) };
      if (!first) first = found;
      else if (JSON.stringify(found.value) !== JSON.stringify(first.value)) {
        this.caution(
          "two-keys",
          `${first.source} says ${JSON.stringify(first.value)} and ${found.source} says ${JSON.stringify(found.value)}; ${first.source} is taken`,
        );
      }
    }
    // A key that is there and null says that the class's default does not hold.
    if (first || keys.some((key) => this.#isNull(key))) return first;
    const key = keys.find((name) => Object.hasOwn(this.defaults, name) && this.defaults[name] !== null);
    return key === undefined
      ? undefined
      : { value: read(this.defaults[key], key), source: `default of ${this.family} (${key})` };
  }
}

function checkNumber(value: unknown, name: string, { minimum, above, whole }: NumberRule): number {
  const allowed = [
    whole ? "a whole number" : "a number",
    minimum === undefined ? "" : `${minimum} or larger`,
    above === undefined ? "" : `above ${above}`,
  ];
  const wanted = allowed.filter(Boolean).join(", ");
  // 64-bit integers of GGUF arrive as bigint.
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) throw wrongArgument("type", name, value, wanted);
  if (whole && (!Number.isInteger(number) || number > kLargestWhole)) throw wrongArgument("type", name, value, wanted);
  if ((minimum !== undefined && number < minimum) || (above !== undefined && number <= above))
    throw wrongArgument("range", name, value, wanted);
  return number;
}
