// SPDX-License-Identifier: MIT
// Results for tests: small, made by hand, one number easy to tell from the next.

import {
  completeExperiment,
  type CompleteExperiment,
  type Experiment,
  type LengthEntry,
  type RunResult,
} from "../engine/poslab.js";
import { english } from "../language/english.js";
import { encodingLooks } from "../schemes/looks.js";
import { encodingNames } from "../schemes/names.js";
import type { ChartContext, Shown } from "./shown.js";

export function entry(length: number, lossAtEnd: number | null, more: Partial<LengthEntry> = {}): LengthEntry {
  return { length, loss: lossAtEnd === null ? null : lossAtEnd + 0.5, lossAtEnd, ...more };
}

export function run(encoding: number, seed: number, byLength: LengthEntry[], more: Partial<RunResult> = {}): RunResult {
  return {
    encoding,
    seed,
    parameters: 1000,
    steps: 100,
    seconds: 2,
    tokensPerSecond: 5000,
    training: [
      [50, 3],
      [100, 2],
    ],
    byLength,
    byPosition: { binWidth: 4, loss: [3, 2, null, 1] },
    atTest: [],
    ...more,
  };
}

export function shown(experiment: Experiment | CompleteExperiment, runs: RunResult[]): Shown {
  return {
    source: "live",
    date: Date.UTC(2026, 0, 2),
    build: { version: "9.9", variant: "simd" },
    experiment: completeExperiment(experiment),
    runs,
  };
}

export function contextOf(of: Shown, more: Partial<ChartContext> = {}): ChartContext {
  const { encodings } = of.experiment;
  return {
    shown: of,
    switches: [],
    measured: new Map(),
    hidden: new Set(),
    measure: "end",
    looks: encodingLooks(encodings, "light"),
    names: encodingNames(encodings, english),
    words: english,
    count: String,
    setting: String,
    fixed: (value, digits) => value.toFixed(digits),
    ...more,
  };
}
