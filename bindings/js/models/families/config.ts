// SPDX-License-Identifier: MIT
// A config.json (or metadata in its spelling) read field by field: each field has the names that different families give
// it, and what is missing or of the wrong kind is said with its name.

import { PosLabError } from "../../errors.js";
import { named } from "../../named.js";

export class Config {
  readonly json: Readonly<Record<string, unknown>>;
  /** what messages call it */ readonly name: string;

  constructor(json: unknown, name = "config.json") {
    if (typeof json !== "object" || json === null || Array.isArray(json))
      throw new PosLabError("format", `${name} must be a JSON object`, { argument: name });
    this.json = json as Record<string, unknown>;
    this.name = name;
  }

  /** The first of the names that the config has with something other than null. */
  value(...names: string[]): unknown {
    for (const name of names) {
      const value = named(this.json, name);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }

  /** A whole number, 1 or larger. */
  count(...names: string[]): number {
    return this.optionalCount(...names) ?? this.#missing(names, "a whole number");
  }

  optionalCount(...names: string[]): number | undefined {
    const value = this.value(...names);
    if (value === undefined) return undefined;
    // Past 2^31 nothing in a model counts; and products of a few such sizes stay exact in 64 bits.
    if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > 2 ** 31)
      throw this.#wrong(names, value, "a whole number, 1 or larger,");
    return value as number;
  }

  /** A size for both sides, or a list of height and width. */
  pair(name: string): [number, number] {
    const value = this.value(name);
    if (!Array.isArray(value)) return [this.count(name), this.count(name)];
    const [height, width] = (value as unknown[]).map((side) => new Config({ [name]: side }, this.name).count(name));
    if (height === undefined || width === undefined || value.length !== 2)
      throw this.#wrong([name], value, "a whole number, or two (height and width),");
    return [height, width];
  }

  number(fallback: number, ...names: string[]): number {
    const value = this.value(...names);
    if (value === undefined) return fallback;
    if (typeof value !== "number" || !Number.isFinite(value)) throw this.#wrong(names, value, "a finite number");
    return value;
  }

  flag(fallback: boolean, ...names: string[]): boolean {
    const value = this.value(...names);
    if (value === undefined) return fallback;
    if (typeof value !== "boolean") throw this.#wrong(names, value, "true or false");
    return value;
  }

  text(fallback: string, ...names: string[]): string {
    const value = this.value(...names);
    if (value === undefined) return fallback;
    if (typeof value !== "string") throw this.#wrong(names, value, "a text");
    return value;
  }

  /** An object inside the config; empty when it is not there. */
  object(name: string): Config {
    return new Config(this.value(name) ?? {}, `${this.name}: ${name}`);
  }

  /** Refuses what this version does not do: the fields that would change the result. */
  refuse(isUnsupported: boolean, name: string, allowed: string): void {
    if (isUnsupported) throw this.#wrong([name], this.value(name), allowed);
  }

  #wrong(names: readonly string[], value: unknown, allowed: string): PosLabError {
    const name = names.find((candidate) => this.value(candidate) !== undefined) ?? names[0]!;
    const shown = typeof value === "object" ? "an object" : JSON.stringify(value);
    return new PosLabError("range", `${this.name}: ${name} is ${shown}; ${allowed} is allowed`, {
      argument: name,
      given: value,
      allowed,
    });
  }

  #missing(names: readonly string[], needed: string): never {
    throw new PosLabError("missing", `${this.name}: ${names.join(" or ")} is missing; ${needed} is needed`, {
      argument: names[0]!,
    });
  }
}
