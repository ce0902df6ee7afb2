// SPDX-License-Identifier: MIT
// One run as the page sees it: plain data that events of the package are folded into. No drawing, no workers.

import type { CompleteExperiment, RunEvent, RunFailure, RunResult } from "../engine/poslab.js";
import { TrainingLosses } from "./curves.js";

export type LanePhase = "waiting" | "training" | "measuring" | "done" | "failed";

export interface Lane {
  encoding: number;
  seed: number;
  phase: LanePhase;
  step: number;
  steps: number;
  stepsPerSecond: number;
  secondsLeft: number | null;
  /** 0 .. 1 */ fraction: number;
  failure: RunFailure | null;
  /** what is known so far; complete once the phase is "done" */ result: RunResult;
}

/** Training entries of a live run; about this many points are drawn. */
const kTrainingPoints = 200;

export class LaneRecord {
  lane: Lane;
  weights: Uint8Array | null = null;
  #losses: TrainingLosses;

  constructor(
    readonly experiment: CompleteExperiment,
    encoding: number,
    seed: number,
    finished?: RunResult,
  ) {
    this.lane = freshLane(experiment, encoding, seed);
    this.#losses = this.#makeLosses();
    if (finished) this.#finish(finished);
  }

  #makeLosses(): TrainingLosses {
    return new TrainingLosses(Math.max(1, Math.round(this.experiment.training.steps / kTrainingPoints)));
  }

  /** Back to the start: nothing measured, nothing failed. */
  reset(): void {
    this.lane = freshLane(this.experiment, this.lane.encoding, this.lane.seed);
    this.#losses = this.#makeLosses();
    this.weights = null;
  }

  apply(event: RunEvent): void {
    switch (event.type) {
      case "progress": {
        const { phase, step, steps, stepsPerSecond, secondsLeft, fraction } = event.progress;
        this.#losses.add(event.losses, event.firstStep);
        const result = { ...this.lane.result, steps: step, training: [...this.#losses.entries] };
        // The end and a failure are said by their own events, and stay said.
        if (this.lane.phase === "done") break;
        const shown = this.lane.failure ? "failed" : phase === "done" ? "measuring" : phase;
        this.lane = { ...this.lane, phase: shown, step, steps, stepsPerSecond, secondsLeft, fraction, result };
        break;
      }
      case "live": {
        const { byLength, byPosition } = event.measurement;
        this.lane = { ...this.lane, result: { ...this.lane.result, byLength, ...(byPosition ? { byPosition } : {}) } };
        break;
      }
      case "done":
        this.#finish(event.result);
        this.weights = event.weights;
        break;
      case "failed":
        this.lane = { ...this.lane, phase: "failed", failure: event.error, stepsPerSecond: 0, secondsLeft: null };
        break;
    }
  }

  #finish(result: RunResult): void {
    this.lane = {
      ...this.lane,
      phase: "done",
      step: result.steps,
      steps: this.experiment.training.steps,
      stepsPerSecond: 0,
      secondsLeft: 0,
      fraction: 1,
      result,
    };
  }
}

function freshLane(experiment: CompleteExperiment, encoding: number, seed: number): Lane {
  return {
    encoding,
    seed,
    phase: "waiting",
    step: 0,
    steps: experiment.training.steps,
    stepsPerSecond: 0,
    secondsLeft: null,
    fraction: 0,
    failure: null,
    result: {
      encoding,
      seed,
      parameters: 0,
      steps: 0,
      seconds: 0,
      tokensPerSecond: 0,
      training: [],
      byLength: [],
      byPosition: { binWidth: 0, loss: [] },
      atTest: [],
    },
  };
}

/** Progress of all runs together, and the time left when `workers` of them run at once. */
export function overall(
  lanes: readonly Lane[],
  workers: number,
): { fraction: number; secondsLeft: number | null; stepsPerSecond: number } {
  if (lanes.length === 0) return { fraction: 0, secondsLeft: null, stepsPerSecond: 0 };
  const fraction = lanes.reduce((sum, lane) => sum + (lane.phase === "failed" ? 1 : lane.fraction), 0) / lanes.length;
  const stepsPerSecond = lanes.reduce((sum, lane) => sum + (lane.phase === "training" ? lane.stepsPerSecond : 0), 0);
  const open = lanes.filter((lane) => lane.phase !== "done" && lane.phase !== "failed");
  const known = open.filter((lane) => lane.secondsLeft !== null);
  if (known.length === 0) return { fraction, secondsLeft: open.length ? null : 0, stepsPerSecond };
  // Runs that are all at work share the workers: each one's own time left says so already.
  if (known.length === open.length)
    return { fraction, secondsLeft: Math.max(...known.map((lane) => lane.secondsLeft!)), stepsPerSecond };
  // Waiting runs take about as long as the running ones took for their whole way.
  const whole = known.map((lane) => lane.secondsLeft! / Math.max(0.02, 1 - lane.fraction));
  const typical = whole.reduce((sum, seconds) => sum + seconds, 0) / whole.length;
  const left = open.map((lane) => lane.secondsLeft ?? typical);
  const total = left.reduce((sum, seconds) => sum + seconds, 0);
  return {
    fraction,
    secondsLeft: Math.max(total / Math.max(1, Math.min(workers, left.length)), ...left),
    stepsPerSecond,
  };
}
