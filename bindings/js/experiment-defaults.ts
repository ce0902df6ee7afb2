// SPDX-License-Identifier: MIT
// The values that an experiment has where it says nothing: the built-in experiment, and what toy tasks change about it.

import type { TaskType } from "./experiment-schema.js";
import type { AtTest, Encoding } from "./types.js";

export const modelDefaults = {
  dim: 64,
  heads: 4,
  layers: 2,
  feedForward: 256,
  norm: "layer",
  normPlacement: "pre",
  activation: "gelu",
  gated: false,
  sinks: "none",
  tied: false,
  parallel: false,
} as const;

/** Text: 976 steps of 16 x 64 characters, 1.0 M tokens. */
const textTraining = {
  length: 64,
  batch: 16,
  steps: 976,
  learningRate: 0.006,
  warmup: 100,
  weightDecay: 0.1,
  clip: 1,
  beta1: 0.9,
  beta2: 0.98,
} as const;

/** Toy tasks are given as many steps as 400,000 tokens make. */
export const toyTokens = 400_000;

export function trainingDefaults(task: TaskType): Readonly<Record<keyof typeof textTraining, number>> {
  if (task === "text") return textTraining;
  return { ...textTraining, learningRate: 0.003, ...(task === "needle" ? { length: 32, batch: 32 } : {}) };
}

export const encodingDefaults: readonly Encoding[] = [
  { type: "sinusoidal" },
  { type: "learned" },
  { type: "t5", maxDistance: 32 },
  { type: "rope" },
  { type: "alibi" },
];

/**
 * Changes of the built-in encodings at test time: RoPE (number 3) under NTK scaling, and with a window as long as
 * training.
 */
export function atTestDefaults(length: number): AtTest[] {
  return [
    { of: 3, position: { type: "rope", scaling: { ropeType: "ntk" } } },
    { of: 3, window: length },
  ];
}

export function testLengthDefaults(length: number): number[] {
  return [...new Set([1, 1.25, 1.5, 1.75, 2, 3, 4, 8, 16].map((times) => Math.floor(length * times)))];
}

export const windowsDefault = 128;
export const seedsDefault: readonly number[] = [1];
