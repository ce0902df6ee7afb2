// SPDX-License-Identifier: MIT
// What the page knows of a scheme beyond what can be computed: one file a scheme beside this one, found by its name. A
// scheme without a file has all that its hooks show, and says no more than that.

import type { Tensor } from "../../engine/poslab.js";
import type { Language } from "../../language/format.js";
import type { Subject } from "../data/subject.js";
import type { SchemeObject } from "../../state/page-link.js";

export interface RowCell {
  position: number;
  column: number;
}
export interface ScoreCell {
  /** from 0 */ head: number;
  query: number;
  key: number;
}
export interface PairCell {
  pair: number;
  position: number;
}

export interface SchemePage {
  /** the scheme's definition, in TeX */ formula: (scheme: SchemeObject) => string;
  /** TeX of the symbol that a field or a size has in the formula */ symbols?: Readonly<Record<string, string>>;
  /** the formula of one number with the numbers put in, in TeX, without the result */ worked?: {
    row?: (subject: Subject, cell: RowCell) => string;
    angle?: (subject: Subject, cell: PairCell) => string;
    score?: (subject: Subject, cell: ScoreCell) => string;
  };
  /** models and the convention that they use, as fields of the scheme object or in words */ users?: readonly (readonly [
    models: string | Record<Language, string>,
    convention: string | Record<Language, string>,
  ])[];
  /** author, year, title and address */ sources: readonly (readonly [name: string, address: string])[];
}

const files = import.meta.glob<{ page: SchemePage }>(["./*.ts", "!./scheme-page.ts", "!./*.test.ts"], { eager: true });

export function schemePage(type: string): SchemePage | null {
  return files[`./${type}.ts`]?.page ?? null;
}

/** A field's number, or what stands for it when it is not set. */
export const numberOf = (scheme: SchemeObject, field: string, fallback: number): number =>
  typeof scheme[field] === "number" ? scheme[field] : fallback;

/** The values of a tensor that the scheme learns. */
export const tensorOf = (subject: Subject, name: string): ArrayLike<number> =>
  (subject.position as unknown as Record<string, Tensor>)[name]!.data;

/** A number in TeX: at most six significant digits. */
export function texNumber(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return value > 0 ? "\\infty" : value < 0 ? "-\\infty" : "?";
  const text = String(Number(value.toPrecision(digits)));
  const [mantissa, exponent] = text.split("e");
  return exponent === undefined ? text : `${mantissa} \\times 10^{${Number(exponent)}}`;
}
