// SPDX-License-Identifier: MIT
// The parameters of every scheme that a visitor can change, as a table: kinds, limits and defaults. The editor, the
// share link and the labels all read it; the core checks again.

import type { Encoding } from "../engine/poslab.js";
import { readNumber, type NumberLimits } from "../state/page-link.js";
import type { SchemeType } from "./looks.js";

export type SchemeField =
  | ({ name: string; fallback: number } & NumberLimits)
  | { name: string; kind: "choice"; choices: readonly string[]; fallback: string }
  | { name: string; kind: "numbers"; fallback: string };

/** A default outside the limits is a value of its own: 0 for "all" or "none". */
const whole = (name: string, minimum: number, maximum: number, fallback: number): SchemeField => ({
  name,
  kind: "integer",
  minimum,
  maximum,
  fallback,
  ...(fallback < minimum ? { besides: fallback } : {}),
});
const real = (name: string, minimum: number, maximum: number, fallback: number): SchemeField => ({
  name,
  kind: "number",
  minimum,
  maximum,
  fallback,
});
const choice = (name: string, ...choices: string[]): SchemeField => ({
  name,
  kind: "choice",
  choices,
  fallback: choices[0]!,
});

const kBase = 10000;
const kLargestBase = 1e9;

/** 0: as wide as the trained length needs. */
const onGrid = [whole("gridHeight", 1, 4096, 1), whole("gridWidth", 1, 65536, 0)];

export const schemeFields: Record<SchemeType, readonly SchemeField[]> = {
  none: [],
  sinusoidal: [
    real("base", 1.01, kLargestBase, kBase),
    choice("layout", "interleaved", "concatenated"),
    choice("denominator", "dim", "half-dim-minus-one"),
  ],
  learned: [],
  shaw: [whole("maxDistance", 1, 4096, 16)],
  "transformer-xl": [real("base", 1.01, kLargestBase, kBase), whole("clampLength", 1, 65536, 65536)],
  t5: [whole("buckets", 2, 1024, 32), whole("maxDistance", 2, 65536, 128)],
  rope: [
    real("theta", 1.01, kLargestBase, kBase),
    choice("layout", "half", "interleaved"),
    whole("rotaryDim", 2, 512, 0),
    whole("noRopeLayerInterval", 2, 64, 0),
  ],
  alibi: [{ name: "slopes", kind: "numbers", fallback: "standard" }, whole("biasedHeads", 1, 64, 0)],
  kerple: [choice("kind", "log", "power")],
  xpos: [
    real("theta", 1.01, kLargestBase, kBase),
    real("scaleBase", 1, 1e6, 512),
    choice("layout", "interleaved", "half"),
  ],
  fire: [whole("width", 1, 256, 32), real("threshold", 1, 1e6, 512)],
  sandwich: [real("base", 1.01, kLargestBase, kBase), whole("dim", 2, 4096, 128)],
  tisa: [whole("kernels", 1, 64, 5)],
  "relative-scalar": [whole("maxDistance", 1, 4096, 128)],
  cope: [whole("positions", 1, 1024, 64)],
  forgetting: [],
  deberta: [whole("maxDistance", 1, 4096, 128), whole("buckets", 2, 1024, 0), choice("terms", "both", "c2p", "p2c")],
  dape: [choice("base", "kerple", "alibi", "t5", "sandwich", "tisa", "relative-scalar"), whole("width", 1, 256, 32)],
  pope: [real("theta", 1.01, kLargestBase, kBase)],
  "axial-rope": [
    real("theta", 1.01, kLargestBase, kBase),
    choice("layout", "half", "interleaved"),
    choice("order", "blocks", "alternating"),
    choice("frequencies", "restart", "split"),
    choice("firstAxis", "y", "x"),
    whole("gridWidth", 1, 65536, 0),
  ],
  swin: onGrid,
  levit: onGrid,
  "log-cpb": [whole("width", 1, 1024, 512), ...onGrid],
  "sinusoidal-2d": [
    real("base", 1.01, kLargestBase, kBase),
    choice("layout", "concatenated", "interleaved"),
    choice("firstAxis", "x", "y"),
    whole("gridWidth", 1, 65536, 0),
  ],
  "axial-learned": [choice("combine", "sum", "concatenate"), choice("firstAxis", "y", "x"), ...onGrid],
  "learned-grid": onGrid,
  "dynamic-bias": [whole("width", 1, 256, 32), whole("depth", 1, 8, 2), choice("distance", "linear", "log")],
};

/** Field values that a person set and that differ from the scheme's default, in the order of the table. */
export function setFields(encoding: Encoding): [string, string][] {
  const given = encoding as unknown as Record<string, unknown>;
  return schemeFields[encoding.type].flatMap((field): [string, string][] => {
    const value = given[field.name];
    if (value === undefined || value === field.fallback) return [];
    return [[field.name, Array.isArray(value) ? value.join(" ") : String(value)]];
  });
}

/** Reads one field's text. `undefined` puts the default back; a message key says why a text is refused. */
export function parseField(
  field: SchemeField,
  text: string,
): { value?: number | string | number[]; problem?: "number" | "list" | "choice" } {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === String(field.fallback)) return {};
  if (field.kind === "choice") return field.choices.includes(trimmed) ? { value: trimmed } : { problem: "choice" };
  if (field.kind === "numbers") {
    const numbers = trimmed.split(/[\s,;]+/).map(Number);
    return numbers.every((number) => Number.isFinite(number)) ? { value: numbers } : { problem: "list" };
  }
  const value = readNumber(field, trimmed);
  if (value === undefined) return { problem: "number" };
  return value === field.fallback ? {} : { value };
}

/** Whether the page takes this as the field's value: one that came with an object, not as typed text. */
export function isFieldValue(field: SchemeField, value: unknown): boolean {
  if (field.kind === "choice") return field.choices.some((choice) => choice === value);
  if (field.kind === "numbers")
    return value === field.fallback || (Array.isArray(value) && value.every(Number.isFinite));
  return typeof value === "number" && readNumber(field, String(value)) !== undefined;
}

export function sameEncoding(a: Encoding, b: Encoding): boolean {
  return stable(a) === stable(b);
}

/** JSON with sorted keys: equal objects give equal text. */
export function stable(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    item && typeof item === "object" && !Array.isArray(item)
      ? Object.fromEntries(
          Object.entries(item)
            .filter(([, v]) => v !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : item,
  );
}
