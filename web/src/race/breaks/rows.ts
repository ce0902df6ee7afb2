// SPDX-License-Identifier: MIT
// The map "where it breaks" as plain numbers: one row an encoding or a tested length, one value a bin of positions.

import type { TableData } from "../../chart/data.js";
import type { Measurement } from "../../engine/poslab.js";
import { positionPoints } from "../curves.js";
import { runsOf, type Shown } from "../shown.js";

export interface MapRow {
  label: string;
  binWidth: number;
  /** mean loss by bin; null: not defined or nothing scored */ values: readonly (number | null)[];
}

export function rowsByEncoding(shown: Shown, names: readonly string[], hidden: ReadonlySet<number>): MapRow[] {
  return shown.experiment.encodings.flatMap((_, encoding) => {
    const runs = runsOf(shown, encoding);
    const points = positionPoints(runs);
    if (hidden.has(encoding) || runs.length === 0) return [];
    const binWidth = runs.find((run) => run.byPosition.binWidth > 0)?.byPosition.binWidth ?? 1;
    const bins = Math.max(0, ...runs.map((run) => run.byPosition.loss.length));
    const values = new Array<number | null>(bins).fill(null);
    for (const { x, y } of points) values[Math.floor(x / binWidth)] = y;
    return [{ label: names[encoding]!, binWidth, values }];
  });
}

export function rowsByLength(
  rows: readonly NonNullable<Measurement["byPosition"]>[],
  count: (value: number) => string,
): MapRow[] {
  return rows.map(({ length, binWidth, loss }) => ({ label: count(length), binWidth, values: loss }));
}

/** Positions that the map covers. */
export const reachOf = (rows: readonly MapRow[]): number =>
  Math.max(1, ...rows.map((row) => row.values.length * row.binWidth));

/** The map as a table: the bin that holds each tick. */
export function mapTable(
  rows: readonly MapRow[],
  ticks: readonly number[],
  count: (value: number) => string,
  fixed: (value: number) => string,
): TableData {
  return {
    columns: ticks.map(count),
    rows: rows.map((row) => ({
      label: row.label,
      cells: ticks.map((tick) => {
        // The last tick is the end of the last bin.
        const bin = Math.min(Math.floor(tick / row.binWidth), row.values.length - 1);
        const value = row.values[bin];
        return typeof value === "number" && tick <= row.values.length * row.binWidth ? fixed(value) : "–";
      }),
    })),
  };
}

/** The 2nd and 98th percentile: one outlier must not grey out the rest. */
export function colourRange(rows: readonly MapRow[]): [number, number] {
  const values = rows
    .flatMap((row) => row.values.filter((value): value is number => value !== null && Number.isFinite(value)))
    .sort((a, b) => a - b);
  if (values.length === 0) return [0, 1];
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(share * values.length))]!;
  const [low, high] = [at(0.02), at(0.98)];
  return high > low ? [low, high] : [low - 0.5, low + 0.5];
}

/** About how wide a digit of an axis is, in pixels, with what stays free beside a label. */
const kDigit = 9;
const kFree = 10;

/**
 * The ticks whose labels fit beside each other: both ends, and between them every one, every second, ... counted from
 * `kept`. The first label begins at its place, the last ends there, the others are centred.
 */
export function fittingTicks<T extends { tick: number; left: number; text: string }>(
  ticks: readonly T[],
  kept: number,
): T[] {
  const last = ticks.length - 1;
  const spans = ticks.map(({ left, text }, index) => {
    const wide = kDigit * text.length;
    const start = index === 0 ? left : index === last ? left - wide : left - wide / 2;
    return { index, start, end: start + wide + kFree };
  });
  type Span = (typeof spans)[number];
  const meet = (one: Span, other: Span) => one !== other && one.start < other.end && other.start < one.end;
  const middle = Math.max(
    0,
    ticks.findIndex(({ tick }) => tick === kept),
  );
  const ends = spans.filter(({ index }) => index === 0 || index === last);
  for (let stride = 1; ; stride += 1) {
    const every = spans.slice(1, -1).filter(({ index }) => (index - middle) % stride === 0);
    if (stride < ticks.length && every.some((one) => every.some((other) => meet(one, other)))) continue;
    const inner = every.filter((one) => !ends.some((end) => meet(one, end)));
    const chosen = [...ends, ...inner].map(({ index }) => index);
    return ticks.filter((_, index) => chosen.includes(index));
  }
}

/** Bin under a place 0..1 of a logarithmic position axis from `first` to `reach`. */
export function positionAt(place: number, first: number, reach: number): number {
  return first * (reach / first) ** Math.min(1, Math.max(0, place));
}
export const placeOf = (position: number, first: number, reach: number): number =>
  Math.log(position / first) / Math.log(reach / first);
