// SPDX-License-Identifier: MIT
// How far a run is and how long it will take, from what the core counts and what a clock says.

import type { CoreProgress } from "./core-types.js";
import type { CompleteExperiment, RunProgress } from "./types.js";

/** A token that is measured costs about a third of one that is trained on: there is no backward pass. */
const measuringCost = 1 / 3;

/** Steps per second as a person would count them: by the clock, other runs in the same worker included. */
export class Pace {
  #rate = 0;
  #step = 0;
  #time = 0;

  get stepsPerSecond(): number {
    return this.#rate;
  }

  /** Counting begins (again) here; what was learned stays, as the first guess. */
  begin(step: number): void {
    this.#step = step;
    this.#time = performance.now();
  }

  observe(step: number): void {
    const seconds = (performance.now() - this.#time) / 1000;
    if (step <= this.#step || seconds < 0.05) return;
    const rate = (step - this.#step) / seconds;
    this.#rate = this.#rate ? 0.7 * this.#rate + 0.3 * rate : rate;
    this.begin(step);
  }

  forget(): void {
    this.#rate = 0;
  }
}

/** The share of all work that is done, and the seconds that are left (null when nothing is known of the pace). */
export function estimate(
  { training, test }: CompleteExperiment,
  { phase, step, steps, measured, toMeasure }: CoreProgress,
  stepsPerSecond: number,
): Pick<RunProgress, "fraction" | "secondsLeft"> {
  if (phase === "done") return { fraction: 1, secondsLeft: 0 };
  const perStep = training.batch * training.length;
  const meanLength = test.lengths.reduce((sum, length) => sum + length, 0) / test.lengths.length;
  const trained = phase === "training" ? step * perStep : steps * perStep;
  const all = steps * perStep + measuringCost * toMeasure * meanLength;
  const done = trained + measuringCost * measured * meanLength;
  const fraction = all > 0 ? Math.min(1, done / all) : 0;
  return { fraction, secondsLeft: stepsPerSecond > 0 ? (all - done) / (stepsPerSecond * perStep) : null };
}
