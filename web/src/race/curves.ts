// SPDX-License-Identifier: MIT
// Results as curves: mean over seeds with the lowest and the highest seed as a band, for the charts by length, by
// position and by training step. Pure functions of results; they know neither language nor theme.

import type { LengthEntry, RunResult } from "../engine/poslab.js";
import type { CurvePoint } from "../chart/data.js";

export type Measure = "end" | "whole" | "accuracy";

/** A number of one tested length, or null where it is not defined. Accuracy comes as per cent. */
export function valueOf(entry: LengthEntry, measure: Measure): number | null {
  if (measure === "accuracy") return entry.accuracyAtEnd === undefined ? null : 100 * entry.accuracyAtEnd;
  return measure === "end" ? entry.lossAtEnd : entry.loss;
}

/** One point a length, over all runs that have a number there. */
export function lengthPoints(entries: readonly (readonly LengthEntry[])[], measure: Measure): CurvePoint[] {
  const values = new Map<number, number[]>();
  for (const list of entries) {
    for (const entry of list) {
      const value = valueOf(entry, measure);
      if (value === null || !Number.isFinite(value)) continue;
      values.set(entry.length, [...(values.get(entry.length) ?? []), value]);
    }
  }
  return [...values].sort(([a], [b]) => a - b).map(([x, list]) => band(x, list));
}

function band(x: number, values: readonly number[]): CurvePoint {
  const y = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.length > 1 ? { x, y, low: Math.min(...values), high: Math.max(...values) } : { x, y };
}

/** The loss in each bin of positions, drawn at the bin's middle; empty bins (nothing scored) are left out. */
export function positionPoints(runs: readonly Pick<RunResult, "byPosition">[]): CurvePoint[] {
  const width = runs.find((run) => run.byPosition.binWidth > 0)?.byPosition.binWidth ?? 0;
  const bins = Math.max(0, ...runs.map((run) => run.byPosition.loss.length));
  const points: CurvePoint[] = [];
  for (let bin = 0; bin < bins; bin += 1) {
    const values = runs.flatMap((run) => {
      const value = run.byPosition.loss[bin];
      return typeof value === "number" && Number.isFinite(value) ? [value] : [];
    });
    if (values.length) points.push(band((bin + 0.5) * width, values));
  }
  return points;
}

/** Training losses; seeds are averaged step by step where all of them have an entry, else the longest is drawn. */
export function trainingPoints(runs: readonly Pick<RunResult, "training">[]): CurvePoint[] {
  const values = new Map<number, number[]>();
  for (const { training } of runs) {
    for (const [step, loss] of training) {
      if (Number.isFinite(loss)) values.set(step, [...(values.get(step) ?? []), loss]);
    }
  }
  return [...values].sort(([a], [b]) => a - b).map(([x, list]) => band(x, list));
}

/** Losses of single steps, gathered into entries of `every` steps: [last step, mean]. Steps count from 0, entries from 1. */
export class TrainingLosses {
  readonly entries: [number, number][] = [];
  #sum = 0;
  #count = 0;
  #next = 0;

  constructor(readonly every: number) {}

  add(losses: ArrayLike<number>, firstStep: number): void {
    for (let index = 0; index < losses.length; index += 1) {
      if (firstStep + index < this.#next) continue; // said before
      this.#next = firstStep + index + 1;
      this.#sum += losses[index]!;
      this.#count += 1;
      if (this.#next % this.every === 0) this.#close();
    }
  }
  #close(): void {
    this.entries.push([this.#next, this.#sum / this.#count]);
    this.#sum = 0;
    this.#count = 0;
  }
}
