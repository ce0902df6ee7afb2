// SPDX-License-Identifier: MIT
// What a scheme does past the trained length L: the facts at the first untrained position, and a curve from before L to
// far past it.

import type { CoreError } from "../../language/core-errors.js";
import { biasByDistance, scoresByDistance } from "./distance.js";
import { pairsOf, unfinished } from "./rotation.js";
import { attend, rowsAt } from "./scores.js";
import { acts, attempt, counting, type Subject } from "./subject.js";

export type Fact =
  | { kind: "undefined"; error: CoreError }
  /** the new row is as like its nearest trained row (cosine) */
  | { kind: "nearestRow"; cosine: number; position: number }
  /** pairs whose turn is not finished by L: they show angles never seen */
  | { kind: "unseenAngles"; pairs: number; of: number }
  /** score of a key at distance L is what it was at L - 1, for every head */
  | { kind: "sameScore" }
  | { kind: "lowerScore"; from: number; to: number }
  | { kind: "otherScore"; largest: number }
  | { kind: "nothing" };

export function factsBeyond(subject: Subject): Fact[] {
  const facts: Fact[] = [];
  if (acts(subject, "embedding")) facts.push(rowFact(subject));
  if (acts(subject, "rotation")) {
    const { length } = subject.sizes;
    const pairs = attempt(() => pairsOf(subject, length + 1)).value;
    if (pairs)
      facts.push({ kind: "unseenAngles", pairs: unfinished(pairs, length).length, of: pairs.wavelengths.length });
  }
  if (acts(subject, "score")) facts.push(scoreFact(subject));
  return facts.length ? facts : [{ kind: "nothing" }];
}

function rowFact(subject: Subject): Fact {
  const { length } = subject.sizes;
  const next = attempt(() => nearestTrained(subject, [length])[0]!);
  return next.refused === undefined
    ? { kind: "nearestRow", ...next.value }
    : { kind: "undefined", error: next.refused };
}

/** For each position the trained row most like its own, by cosine. */
export function nearestTrained(subject: Subject, positions: readonly number[]): { cosine: number; position: number }[] {
  const { length, dim } = subject.sizes;
  const all = [...counting(length), ...positions];
  const rows = { heads: 1, dim, data: rowsAt(subject, all, dim), positions: all };
  const { scores } = attend(subject, rows, rows, { scale: 1, encoded: false });
  const at = (row: number, column: number) => scores[row * all.length + column]!;
  return positions.map((_, index) => {
    const row = length + index;
    let best = { cosine: -Infinity, position: 0 };
    for (let position = 0; position < length; position += 1) {
      const cosine = at(row, position) / Math.sqrt(at(row, row) * at(position, position));
      if (cosine > best.cosine) best = { cosine, position };
    }
    return best;
  });
}

/** Below this share of the largest score two scores are the same. */
const kSame = 1e-6;

export interface HeadCurves {
  /** [heads][distances 0 ... reach] */ mean: number[][];
  /** the bias itself: content plays no part */ fixed: boolean;
}

function headCurves(subject: Subject, reach: number): HeadCurves {
  const bias = attempt(() => biasByDistance(subject, reach)).value;
  return bias ? { mean: bias, fixed: true } : { mean: scoresByDistance(subject, reach, "same").mean, fixed: false };
}

function scoreFact(subject: Subject): Fact {
  const { length } = subject.sizes;
  const curves = attempt(() => headCurves(subject, length));
  if (curves.refused !== undefined) return { kind: "undefined", error: curves.refused };
  const { mean } = curves.value;
  const steps = mean.map((head) => head[length]! - head[length - 1]!);
  const scale = Math.max(...mean.flat().map(Math.abs)) || 1;
  if (steps.every((step) => Math.abs(step) <= kSame * scale)) return { kind: "sameScore" };
  if (steps.every((step) => step < 0)) {
    const steepest = steps.indexOf(Math.min(...steps));
    return { kind: "lowerScore", from: mean[steepest]![length - 1]!, to: mean[steepest]![length]! };
  }
  return { kind: "otherScore", largest: Math.max(...steps.map(Math.abs)) };
}

export type BeyondCurve =
  { of: "rows"; points: { x: number; y: number }[] } | ({ of: "scores" } & HeadCurves) | { of: "nothing" };

/** Times the trained length that the curve reaches. */
export const kBeyond = 4;

export function curveBeyond(subject: Subject): BeyondCurve {
  const { length } = subject.sizes;
  if (acts(subject, "embedding")) {
    const positions = counting((kBeyond - 1) * length, length);
    const found = attempt(() => nearestTrained(subject, positions)).value ?? [];
    const before = counting(length).map((x) => ({ x, y: 1 }));
    return {
      of: "rows",
      points: [...before, ...found.map(({ cosine }, index) => ({ x: positions[index]!, y: cosine }))],
    };
  }
  if (subject.hooks.length === 0) return { of: "nothing" };
  // A table that ends with the grid has no curve beyond it.
  const beyond = attempt(() => headCurves(subject, kBeyond * length)).value;
  return { of: "scores", ...(beyond ?? headCurves(subject, length - 1)) };
}
