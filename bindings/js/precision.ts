// SPDX-License-Identifier: MIT
// What narrow numbers do to a rotation: from which position on ids and angles cannot be told apart any more, and how far
// cosine and sine are off, pair by pair, when frequencies, ids and their product are kept in a narrow type (as a model cast
// to that type computes them; in float32 that is how transformers computes). Exact angles are computed in double.

import { wrongArgument } from "./errors.js";
import { fromFloat16, toFloat16 } from "./half-floats.js";
import type { AttentionLab } from "./attention-lab.js";
import { readCount } from "./tensors.js";
import type { Position } from "./types.js";

export type NarrowType = "float32" | "bfloat16" | "float16";

export interface TypePrecision {
  type: NarrowType;
  /** the first position whose id is rounded to the one before it; null: none below the length */
  firstEqualIds: number | null;
  /** [pairs] the first position whose angle is that of the one before it */ firstEqualAngles: (number | null)[];
  /** [pairs] the largest error of cosine and of sine below the length; 2 where the type has no number that large */
  worstCosine: number[];
  worstSine: number[];
  /** the worst of all, with its pair and position */ worst: { error: number; pair: number; position: number };
}

export interface PrecisionReport {
  length: number;
  inverseFrequencies: number[];
  types: TypePrecision[];
}

/** Every position is looked at; more are a slip of the finger. */
const kLongest = 2 ** 22;
const kTypes: readonly NarrowType[] = ["float32", "bfloat16", "float16"];
/** Cosines of opposite signs: nothing is left. */
const kNothingLeft = 2;

/**
 * The report for a rotating scheme and texts up to `length`.
 * @throws PosLabError as `lab.frequencies`, and when the length is 0 or too large
 */
export function precisionReport(
  lab: AttentionLab,
  position: Position,
  { headDim, length }: { headDim: number; length: number },
): PrecisionReport {
  if (readCount(length, "length") < 1 || length > kLongest)
    throw wrongArgument("range", "length", length, `a whole number from 1 to ${kLongest}`);
  const { inverseFrequencies } = lab.frequencies(position, { headDim, length });
  const types = kTypes.map((type) => startOf(type, length));
  inverseFrequencies.forEach((frequency, pair) => lookAtPair(types, frequency, pair, length));
  return { length, inverseFrequencies: [...inverseFrequencies], types };
}

function startOf(type: NarrowType, length: number): TypePrecision {
  const round = rounding[type];
  let firstEqualIds: number | null = null;
  for (let id = 1; id < length && firstEqualIds === null; id += 1) if (round(id) === round(id - 1)) firstEqualIds = id;
  return {
    type,
    firstEqualIds,
    firstEqualAngles: [],
    worstCosine: [],
    worstSine: [],
    worst: { error: 0, pair: 0, position: 0 },
  };
}

/** Every position of one pair, in every type beside the exact angle. */
function lookAtPair(types: readonly TypePrecision[], exact: number, pair: number, length: number): void {
  const before = types.map(() => NaN);
  for (const entry of types) {
    entry.firstEqualAngles.push(null);
    entry.worstCosine.push(0);
    entry.worstSine.push(0);
  }
  for (let id = 0; id < length; id += 1) {
    const cosine = Math.cos(id * exact);
    const sine = Math.sin(id * exact);
    types.forEach((entry, index) => {
      const round = rounding[entry.type];
      const angle = round(round(id) * round(exact));
      if (entry.firstEqualAngles[pair] === null && angle === before[index] && exact !== 0)
        entry.firstEqualAngles[pair] = id;
      before[index] = angle;
      const isLost = !Number.isFinite(angle);
      const offCosine = isLost ? kNothingLeft : Math.abs(Math.cos(angle) - cosine);
      const offSine = isLost ? kNothingLeft : Math.abs(Math.sin(angle) - sine);
      entry.worstCosine[pair] = Math.max(entry.worstCosine[pair]!, offCosine);
      entry.worstSine[pair] = Math.max(entry.worstSine[pair]!, offSine);
      const error = Math.max(offCosine, offSine);
      if (error > entry.worst.error) entry.worst = { error, pair, position: id };
    });
  }
}

const rounding: Record<NarrowType, (value: number) => number> = {
  float32: Math.fround,
  float16: (value) => fromFloat16(toFloat16(Math.fround(value))),
  bfloat16: (value) => toBfloat16(Math.fround(value)),
};

const word = new DataView(new ArrayBuffer(4));

/** The nearest bfloat16 number of a float32, halves to even. */
function toBfloat16(value: number): number {
  word.setFloat32(0, value);
  const bits = word.getUint32(0);
  word.setUint32(0, ((bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000) >>> 0);
  return word.getFloat32(0);
}
