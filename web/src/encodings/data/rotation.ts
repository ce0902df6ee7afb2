// SPDX-License-Identifier: MIT
// What there is to see of a scheme that turns pairs of numbers: the angle of each pair at a position, the wavelength of
// each pair, and which pairs never finish a turn within the trained length.

import { counting, type Subject } from "./subject.js";

export interface Pairs {
  /** angle a position, by pair, in radians */ frequencies: Float64Array;
  attentionFactor: number;
  /** positions until a pair is back where it was; Infinity for a pair that stands still */ wavelengths: number[];
}

/** `reach` is the running length that some scalings look at. */
export function pairsOf(subject: Subject, reach: number): Pairs {
  const { inverseFrequencies: frequencies, attentionFactor } = subject.lab.frequencies(subject.position, {
    headDim: subject.sizes.headDim,
    length: reach,
  });
  return { frequencies, attentionFactor, wavelengths: Array.from(frequencies, (w) => (2 * Math.PI) / w) };
}

export interface Hand {
  pair: number;
  x: number;
  y: number;
}

/** The two lanes that hold each pair, found by turning: a vector of one lane gets a share of its partner. */
export function lanesOf(subject: Subject, pairs: number): [number, number][] {
  const { headDim } = subject.sizes;
  const unit = new Float32Array(headDim);
  unit[0] = 1;
  const { data } = subject.lab.rotate({ data: unit, shape: [1, 1, headDim] }, subject.position, { positions: [1] });
  const partner = data.findIndex((value, lane) => lane > 0 && value !== 0);
  const interleaved = partner === 1 && pairs > 1;
  return counting(pairs).map((pair) => (interleaved ? [2 * pair, 2 * pair + 1] : [pair, pair + pairs]));
}

/** Where (1, 0) of each pair points at this position. */
export function handsAt(subject: Subject, position: number, lanes: readonly (readonly [number, number])[]): Hand[] {
  const { headDim } = subject.sizes;
  const unit = new Float32Array(headDim);
  for (const [first] of lanes) unit[first] = 1;
  const { data } = subject.lab.rotate({ data: unit, shape: [1, 1, headDim] }, subject.position, {
    positions: [position],
  });
  return lanes.map(([first, second], pair) => ({ pair, x: data[first]!, y: data[second]! }));
}

/** Pairs that do not finish a turn within `length` positions, the slowest included. */
export const unfinished = ({ wavelengths }: Pairs, length: number): number[] =>
  counting(wavelengths.length).filter((pair) => !(wavelengths[pair]! <= length));
