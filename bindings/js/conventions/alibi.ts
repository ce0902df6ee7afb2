// SPDX-License-Identifier: MIT
// Conventions of ALiBi: slopes where the heads are no power of two, and the forms of the bias that the softmax cannot
// tell apart.

import type { Case, Got } from "../check-case.js";
import type { PosLab } from "../poslab.js";
import type { Position } from "../types.js";
import { type Convention, schemeOf, withScheme } from "./change.js";

export function alibiConventions(item: Case, lab: PosLab): Convention[] {
  const query = item.tensors.get("input.query");
  const heads = query?.shape[0] ?? item.description.heads ?? 0;
  if (heads === 0) return [];
  const own = [...lab.slopes(schemeOf(item) as unknown as Position, { heads })];
  const slopes = (label: string, all: readonly number[]): Convention => withScheme(item, label, { slopes: all });
  const made = (slope: (head: number) => number): number[] => Array.from({ length: heads }, (_, head) => slope(head));
  const headDim = query?.shape.at(-1);
  return [
    ...(schemeOf(item).slopes === undefined || schemeOf(item).slopes === "standard"
      ? []
      : [withScheme(item, "slopes: standard", { slopes: "standard" })]),
    slopes(
      "slopes: 2^(-8h/H), also where H is no power of two",
      made((head) => 2 ** ((-8 * (head + 1)) / heads)),
    ),
    slopes(
      "slopes: 2^(-8h/H) counted from head 0",
      made((head) => 2 ** ((-8 * head) / heads)),
    ),
    slopes(
      "slopes: 2^(-h)",
      made((head) => 2 ** -(head + 1)),
    ),
    slopes(
      "slopes: down to 2^-16 (alibi_bias_max 16)",
      made((head) => 2 ** ((-16 * (head + 1)) / heads)),
    ),
    slopes(
      "slopes in ascending order",
      [...own].sort((one, two) => one - two),
    ),
    slopes("slopes of the heads turned round", [...own].reverse()),
    ...(headDim === undefined
      ? []
      : [
          slopes(
            "the bias scaled together with q k (times 1/sqrt(D))",
            own.map((slope) => slope * headDim ** -0.5),
          ),
        ]),
    ...(item.description.op === "bias" ? biasForms(item, own) : []),
  ];
}

/** Biases that are no slope times a distance; with a causal mask the softmax makes them the same. */
function biasForms(item: Case, slopes: readonly number[]): Convention[] {
  const { queryLength = 0, keyLength = 0 } = item.description;
  const start = keyLength - queryLength;
  const form = (label: string, bias: (slope: number, query: number, key: number) => number): Convention => ({
    label,
    item,
    results: (): ReadonlyMap<string, Got> => {
      const data = slopes.flatMap((slope) =>
        Array.from({ length: queryLength * keyLength }, (_, index) =>
          bias(slope, start + Math.floor(index / keyLength), index % keyLength),
        ),
      );
      return new Map([["bias", { data, shape: [slopes.length, queryLength, keyLength] }]]);
    },
  });
  return [
    form(
      "slope times the key's index (BLOOM, Falcon): the same after a causal softmax",
      (slope, _, key) => slope * key,
    ),
    form("slope times (j - i), signed: the same under a causal mask", (slope, query, key) => slope * (key - query)),
    form("no bias for later keys", (slope, query, key) => -slope * Math.max(0, query - key)),
  ];
}
