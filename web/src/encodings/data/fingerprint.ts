// SPDX-License-Identifier: MIT
// A few numbers by which one knows a scheme again: what the snippets of every language print. Vectors and tensors are
// ramps that any language writes exactly: ((n * 7) mod 13 - 6) / 8.

import type { Position, PosLab } from "../../engine/poslab.js";
import type { SchemeObject } from "../../state/page-link.js";
import { counting, type HookName } from "./subject.js";

export type FingerprintKind = "table" | "rotate" | "bias" | "scores";

export const kWidth = 8;
export const kHeads = 2;
export const kKeys = 6;
export const kPosition = 3;

export const ramp = (count: number): Float32Array =>
  Float32Array.from({ length: count }, (_, n) => (((n * 7) % 13) - 6) / 8);

export interface Fingerprint {
  kind: FingerprintKind;
  /** tensors that the scheme learns, filled with ramps plus an offset */ tensors: Record<
    string,
    { shape: number[]; offset: number }
  >;
  /** gates of tokens [kHeads, kKeys], a ramp plus kGateOffset, for a scheme that needs them */ gates: boolean;
  numbers: Float32Array;
}

/** Starts that are looked at: two random numbers are above zero together once in four times. */
const kSeeds = 8;
/** Logarithms of gates are below zero. */
export const kGateOffset = -1;

/** @throws PosLabError when the scheme's fields cannot go with the fingerprint's small sizes */
export function fingerprint(lab: PosLab, scheme: SchemeObject): Fingerprint {
  const plain = scheme as unknown as Position;
  const { hooks, gates } = lab.info.schemes.find(({ type }) => type === scheme.type)!;
  // Gates are given: nothing has to be learned for them, and no width known of the rows that they are read off.
  const width = gates ? {} : { dim: kWidth };
  const starts = counting(kSeeds).map((seed) =>
    lab.startParameters(plain, { heads: kHeads, headDim: kWidth, length: kKeys, ...width, seed }),
  );
  const tensors: Fingerprint["tensors"] = {};
  const position: Record<string, unknown> = { ...plain };
  for (const [name, { data, shape }] of Object.entries(starts[0]!)) {
    // What always starts positive may have to stay so (KERPLE's coefficients): such tensors are a ramp above zero.
    const offset = starts.every((start) => start[name]!.data.every((value) => value > 0)) ? 1 : 0;
    tensors[name] = { shape, offset };
    position[name] = { data: ramp(data.length).map((value) => value + offset), shape };
  }
  const complete = position as unknown as Position;
  for (const kind of kindsOf(hooks)) {
    try {
      return { kind, tensors, gates, numbers: compute(lab, complete, kind, gates) };
    } catch (error) {
      if (kind === "scores") throw error;
    }
  }
  throw new Error("a fingerprint has at least one kind");
}

/** What to ask first; the scores can be asked of every scheme. */
const kindsOf = (hooks: readonly HookName[]): FingerprintKind[] => [
  ...(hooks.includes("embedding") ? (["table"] as const) : []),
  ...(hooks.includes("rotation") && !hooks.includes("score") ? (["rotate"] as const) : []),
  ...(hooks.includes("score") && hooks.length === 1 ? (["bias"] as const) : []),
  "scores",
];

function compute(lab: PosLab, position: Position, kind: FingerprintKind, gated: boolean): Float32Array {
  switch (kind) {
    case "table":
      return lab.table(position, { length: 1, dim: kWidth, start: kPosition }).data;
    case "rotate":
      return lab.rotate({ data: ramp(kWidth), shape: [1, 1, kWidth] }, position, { positions: [kPosition] }).data;
    case "bias":
      return lab.bias(position, { heads: kHeads, queryLength: 1, keyLength: kKeys }).data;
    case "scores": {
      const query = { data: ramp(kHeads * kWidth), shape: [kHeads, 1, kWidth] };
      const key = { data: ramp(kHeads * kKeys * kWidth), shape: [kHeads, kKeys, kWidth] };
      const gates = { data: ramp(kHeads * kKeys).map((value) => value + kGateOffset), shape: [kHeads, kKeys] };
      const given = { query, key, value: key, position, scores: true, ...(gated ? { gates } : {}) };
      return lab.attention(given).scores!.data;
    }
  }
}
