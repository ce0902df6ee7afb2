// SPDX-License-Identifier: MIT
// Properties proved live: a thousand random draws a property, each number from the package. A property is a generator that
// pauses after every few draws, so that the page stays quick while it is proved.

import { readError, type CoreError } from "../../language/core-errors.js";
import { attend, embedded, rowsAt, shapeOf, type Tokens } from "./scores.js";
import { acts, attempt, counting, type Subject } from "./subject.js";
import { normalVectors, randomSource, wholeBelow } from "./vectors.js";

export const propertyNames = ["order", "shift", "norm", "map", "monotone"] as const;
export type PropertyName = (typeof propertyNames)[number];

export interface Finding {
  property: PropertyName;
  holds: boolean;
  /** the largest deviation found, as a share of the largest number it was compared with */ largest: number;
  /** what counts as rounding */ tolerance: number;
  draws: number;
  /** the draw of the largest deviation: what the sentence names */ worst: Readonly<Record<string, number>>;
}
export type Verdict = Finding | { property: PropertyName; refused: CoreError };

export const kDraws = 1000;
/** Float32 keeps 24 bits; sums over a head and rotations at far positions lose some ten of them. */
export const kTolerance = 1e-4;
const kTokens = 6;

/** Which properties say something about this scheme. */
export function propertiesOf(subject: Subject): PropertyName[] {
  const [embeds, turns] = [acts(subject, "embedding"), acts(subject, "rotation")];
  const scores = turns || acts(subject, "score");
  // What also changes scores by distance has no turned vector to measure.
  const norm = embeds || (turns && !acts(subject, "score"));
  return propertyNames.filter((name) => ({ order: true, shift: true, norm, map: embeds, monotone: scores })[name]);
}

const checks: Record<PropertyName, (subject: Subject, draws: number) => Generator<number, Finding>> = {
  order: sensesOrder,
  shift: survivesShift,
  norm: keepsNorm,
  map: movesByOneMap,
  monotone: fallsWithDistance,
};

/** Yields the draws done so far. Not every scheme can be asked everything: what the package says instead is the verdict. */
export function* prove(subject: Subject, property: PropertyName, draws = kDraws): Generator<number, Verdict> {
  try {
    return yield* checks[property](subject, draws);
  } catch (error) {
    return { property, refused: readError(error) };
  }
}

/** Keeps the largest deviation and the draw that it came from. */
class Worst {
  largest = 0;
  draw: Record<string, number> = {};

  see(deviation: number, draw: Record<string, number>): void {
    if (!(deviation > this.largest) && Object.keys(this.draw).length > 0) return;
    this.largest = Math.max(this.largest, deviation);
    this.draw = draw;
  }
  finding(property: PropertyName, draws: number, tolerance: number, holds?: boolean): Finding {
    const { largest } = this;
    return { property, holds: holds ?? largest <= tolerance, largest, tolerance, draws, worst: this.draw };
  }
}

const largestOf = (numbers: ArrayLike<number>) => {
  let largest = 0;
  for (let index = 0; index < numbers.length; index += 1) {
    if (Number.isFinite(numbers[index])) largest = Math.max(largest, Math.abs(numbers[index]!));
  }
  return largest;
};

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let largest = 0;
  for (let index = 0; index < a.length; index += 1) {
    if (a[index] !== b[index]) largest = Math.max(largest, Math.abs(a[index]! - b[index]!));
  }
  return largest;
}

/** Positions that the scheme has: a table ends somewhere. */
export function reachOf(subject: Subject): number {
  const { length, dim } = subject.sizes;
  if (!acts(subject, "embedding")) return 16 * length;
  return attempt(() => rowsAt(subject, [16 * length], dim)).value ? 16 * length : length;
}

/** A few random tokens in a row, the first at `start`. */
function randomTokens(subject: Subject, random: () => number, start: number, count: number): Tokens {
  const { heads, dim } = shapeOf(subject);
  return { heads, dim, data: normalVectors(random, heads * count * dim), positions: counting(count, start) };
}

/** All positions moved by the same number: do the scores stay? */
function* survivesShift(subject: Subject, draws: number): Generator<number, Finding> {
  const random = randomSource(subject.sizes.seed);
  const reach = reachOf(subject);
  const worst = new Worst();
  const tokens = Math.max(2, Math.min(kTokens, Math.floor(reach / 2)));
  for (let draw = 0; draw < draws; draw += 1) {
    const start = wholeBelow(random, Math.max(1, Math.floor(reach / 2) - tokens));
    const shift = 1 + wholeBelow(random, Math.max(1, Math.floor(reach / 2) - 1));
    const queries = randomTokens(subject, random, start, tokens);
    const keys = randomTokens(subject, random, start, tokens);
    const move = (given: Tokens) => ({ ...given, positions: given.positions.map((position) => position + shift) });
    const here = attend(subject, queries, keys, { causal: true }).scores;
    const there = attend(subject, move(queries), move(keys), { causal: true }).scores;
    worst.see(largestDifference(here, there) / (largestOf(here) || 1), { position: start, shift });
    if (draw % 8 === 7) yield draw + 1;
  }
  return worst.finding("shift", draws, kTolerance);
}

/** Two earlier tokens change places: does the last token's output change? */
function* sensesOrder(subject: Subject, draws: number): Generator<number, Finding> {
  const random = randomSource(subject.sizes.seed + 1);
  const worst = new Worst();
  const count = Math.min(kTokens, reachOf(subject));
  for (let draw = 0; draw < draws; draw += 1) {
    const keys = randomTokens(subject, random, 0, count);
    const last = randomTokens(subject, random, count - 1, 1);
    const first = wholeBelow(random, count - 1);
    const second = (first + 1 + wholeBelow(random, Math.max(1, count - 2))) % (count - 1);
    const swapped = { ...keys, data: swapRows(keys, first, second) };
    const here = attend(subject, last, keys).output;
    const there = attend(subject, last, swapped).output;
    worst.see(largestDifference(here, there) / (largestOf(here) || 1), { first, second });
    if (draw % 8 === 7) yield draw + 1;
  }
  return worst.finding("order", draws, kTolerance, worst.largest > kTolerance);
}

function swapRows({ heads, dim, data, positions }: Tokens, first: number, second: number): Float32Array {
  const swapped = data.slice();
  for (let head = 0; head < heads; head += 1) {
    const row = (index: number) => (head * positions.length + index) * dim;
    swapped.set(data.subarray(row(first), row(first) + dim), row(second));
    swapped.set(data.subarray(row(second), row(second) + dim), row(first));
  }
  return swapped;
}

/** x . x of every row: [rows]. */
function squaredNorms(subject: Subject, rows: Float32Array, dim: number): Float32Array {
  const tokens = { heads: rows.length / dim, dim, data: rows, positions: [0] };
  return attend(subject, tokens, tokens, { scale: 1, encoded: false }).scores;
}

/** A turned vector is as long as before; rows of an embedding are as long as each other. */
function* keepsNorm(subject: Subject, draws: number): Generator<number, Finding> {
  const random = randomSource(subject.sizes.seed + 2);
  const worst = new Worst();
  const reach = reachOf(subject);
  const turns = acts(subject, "rotation");
  const { dim } = shapeOf(subject);
  const batch = 50;
  const reference = turns ? null : squaredNorms(subject, rowsAt(subject, [0], dim), dim)[0]!;
  for (let done = 0; done < draws; done += batch) {
    const positions = counting(batch).map(() => wholeBelow(random, reach));
    const before = turns ? normalVectors(random, batch * dim) : new Float32Array(batch * dim);
    const after = turns
      ? subject.lab.rotate({ data: before, shape: [1, batch, dim] }, subject.position, { positions }).data
      : embedded(subject, { heads: 1, dim, data: before, positions }).data;
    const [was, is] = [squaredNorms(subject, before, dim), squaredNorms(subject, after, dim)];
    positions.forEach((position, index) => {
      const expected = reference ?? was[index]!;
      worst.see(Math.abs(Math.sqrt(is[index]!) / Math.sqrt(expected) - 1), { position });
    });
    yield done + batch;
  }
  return worst.finding("norm", draws, kTolerance);
}

/**
 * p(i) . p(j) = p(i + s) . p(j + s) for all i, j: exactly then one rotation M_s, the same for every position, takes p(i) to
 * p(i + s), because vectors with the same inner products differ by a rotation (or reflection) only.
 */
function* movesByOneMap(subject: Subject, draws: number): Generator<number, Finding> {
  const random = randomSource(subject.sizes.seed + 3);
  const worst = new Worst();
  const { dim } = shapeOf(subject);
  const reach = reachOf(subject);
  const most = Math.min(reach, 256);
  const rows = { heads: 1, dim, data: rowsAt(subject, counting(most), dim), positions: counting(most) };
  const { scores } = attend(subject, rows, rows, { scale: 1, encoded: false });
  const scale = largestOf(scores) || 1;
  for (let draw = 0; draw < draws; draw += 1) {
    const shift = 1 + wholeBelow(random, Math.max(1, most / 2 - 1));
    const [first, second] = [wholeBelow(random, most - shift), wholeBelow(random, most - shift)];
    const here = scores[first * most + second]!;
    const there = scores[(first + shift) * most + second + shift]!;
    worst.see(Math.abs(here - there) / scale, { first, second, shift });
    if (draw % 200 === 199) yield draw + 1;
  }
  return worst.finding("map", draws, kTolerance);
}

/** The same key further away never scores higher. */
function* fallsWithDistance(subject: Subject, draws: number): Generator<number, Finding> {
  const random = randomSource(subject.sizes.seed + 4);
  const worst = new Worst();
  const { heads, dim } = shapeOf(subject);
  const reach = 4 * subject.sizes.length;
  const batch = 20;
  for (let done = 0; done < draws; done += batch) {
    const query = normalVectors(random, heads * dim);
    const key = new Float32Array(heads * (reach + 1) * dim);
    for (let row = 0; row < heads * (reach + 1); row += 1) {
      const head = Math.floor(row / (reach + 1));
      key.set(query.subarray(head * dim, (head + 1) * dim), row * dim);
    }
    const { scores } = attend(
      subject,
      { heads, dim, data: query, positions: [reach] },
      { heads, dim, data: key, positions: counting(reach + 1) },
    );
    const scale = largestOf(scores) || 1;
    for (let draw = 0; draw < batch; draw += 1) {
      const head = wholeBelow(random, heads);
      const distance = wholeBelow(random, reach);
      const at = (d: number) => scores[head * (reach + 1) + reach - d]!;
      worst.see(Math.max(0, at(distance + 1) - at(distance)) / scale, { head: head + 1, distance });
    }
    yield done + batch;
  }
  return worst.finding("monotone", draws, 1e-6);
}
