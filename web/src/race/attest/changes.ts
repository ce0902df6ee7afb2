// SPDX-License-Identifier: MIT
// The changes at test time that a visitor can make, as a table: for which encodings each makes sense, what it asks for,
// and the object that it becomes.

import type { Encoding, Position } from "../../engine/poslab.js";
import { alibiSlopes } from "../../schemes/alibi-slopes.js";
import { isSchemeType, type SchemeType } from "../../schemes/looks.js";
import type { Switch } from "../../state/fields.js";

export const changeKinds = [
  "linear",
  "ntk",
  "dynamic",
  "yarn",
  "window",
  "grouped",
  "clamped",
  "other",
  "slopes",
  "shift",
  "stretch",
] as const;
export type ChangeKind = (typeof changeKinds)[number];
type Scaling = "linear" | "ntk" | "dynamic" | "yarn";

export interface ChangeInput {
  /** factor, window, shift or slopes factor; null where it may stay empty */ number: number | null;
  /** of "grouped"; null: as needed */ group: number | null;
  otherType: SchemeType;
}

const isScaling = (kind: ChangeKind): kind is Scaling =>
  kind === "linear" || kind === "ntk" || kind === "dynamic" || kind === "yarn";

const isDistances = (kind: ChangeKind): kind is "grouped" | "clamped" => kind === "grouped" || kind === "clamped";

/** Schemes that do nothing in attention, or count along the keys: the core refuses other distances for them by name. */
export const withoutDistances: readonly SchemeType[] = [
  "none",
  "sinusoidal",
  "learned",
  "sinusoidal-2d",
  "axial-learned",
  "learned-grid",
  "cope",
  "forgetting",
];

/** Schemes whose positions come from a table or a wave that is added have no relative form to swap in afterwards. */
export function kindsFor(encoding: Encoding): ChangeKind[] {
  return changeKinds.filter((kind) => {
    if (isScaling(kind)) return encoding.type === "rope";
    if (isDistances(kind)) return !withoutDistances.includes(encoding.type as SchemeType);
    if (kind === "slopes") return encoding.type === "alibi";
    if (kind === "stretch") return encoding.type === "learned";
    return true;
  });
}

/** Encodings without tensors of their own: weights that were trained without them can be run with them. */
export const swappable: readonly SchemeType[] = ["none", "sinusoidal", "rope", "alibi", "xpos", "sandwich"];

export type NumberRule = {
  minimum: number;
  maximum: number;
  whole: boolean;
  optional: boolean;
  initial: number | null;
};
export function numberRule(kind: ChangeKind, trainedLength: number): NumberRule | null {
  switch (kind) {
    case "linear":
    case "ntk":
    case "dynamic":
    case "yarn":
      return { minimum: 1, maximum: 1024, whole: false, optional: true, initial: null };
    case "window":
      return { minimum: 1, maximum: 65536, whole: true, optional: false, initial: trainedLength };
    // Half of the trained distances are left for far keys under Self-Extend, none are needed under ReRoPE.
    case "grouped":
    case "clamped": {
      const initial = Math.max(1, kind === "grouped" ? Math.floor(trainedLength / 2) : trainedLength - 1);
      return { minimum: 1, maximum: 65536, whole: true, optional: false, initial };
    }
    case "shift":
      return { minimum: 0, maximum: 1_000_000_000, whole: true, optional: false, initial: 100 };
    case "slopes":
      return { minimum: 0.001, maximum: 1000, whole: false, optional: false, initial: 4 };
    default:
      return null;
  }
}

/** A group that stays empty is the smallest that keeps distances below the trained length. */
export const groupRule: NumberRule = { minimum: 1, maximum: 65536, whole: true, optional: true, initial: null };

export function inRule(rule: NumberRule | null, number: number | null): boolean {
  if (!rule) return true;
  if (number === null) return rule.optional;
  return (
    Number.isFinite(number) &&
    number >= rule.minimum &&
    number <= rule.maximum &&
    (!rule.whole || Number.isInteger(number))
  );
}

export function makeChange(kind: ChangeKind, of: Encoding, heads: number, input: ChangeInput): Switch {
  const { number, group, otherType } = input;
  if (isScaling(kind)) {
    const { label: _, ...rope } = of;
    const scaling = { ropeType: kind, ...(number === null ? {} : { factor: number }) };
    return { of, position: { ...rope, scaling } as Position };
  }
  switch (kind) {
    case "window":
      return { of, window: number ?? 1 };
    case "grouped":
    case "clamped":
      return {
        of,
        distances: { policy: kind, window: number ?? 1, ...(kind === "grouped" && group ? { group } : {}) },
      };
    case "shift":
      return { of, shift: number ?? 0 };
    case "slopes":
      return { of, position: { type: "alibi", slopes: alibiSlopes(heads).map((slope) => slope * (number ?? 1)) } };
    case "stretch":
      return { of, interpolate: true };
    case "other":
      return { of, position: { type: isSchemeType(otherType) ? otherType : "none" } as Position };
  }
}
