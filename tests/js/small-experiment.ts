// SPDX-License-Identifier: MIT
// The experiment that the tests of runs share.

import type { Experiment, ExperimentResult } from "../../bindings/js/index.js";

/**
 * Small enough for a second, with everything in it: text, toy encodings, a scaling and a window at test time, two
 * seeds.
 */
export const text =
  "the sea was calm and the ship was slow; ".repeat(60) +
  "call me what you like, it is all one to the sea. ".repeat(20);
export const small: Experiment = {
  task: { type: "text", text },
  model: { dim: 16, heads: 2, layers: 1, feedForward: 32 },
  training: { length: 16, batch: 4, steps: 12, learningRate: 0.01, warmup: 4 },
  encodings: [{ type: "learned" }, { type: "rope" }, { type: "alibi" }],
  atTest: [
    { of: 1, position: { type: "rope", scaling: { ropeType: "ntk" } } },
    { of: 1, window: 8 },
    { of: 0, interpolate: true },
  ],
  test: { lengths: [16, 24, 48], windows: 4 },
  seeds: [1, 2],
};

/** Without what a clock says. */
export const numbers = (result: ExperimentResult): unknown =>
  JSON.parse(
    JSON.stringify(result, (key, value: unknown) =>
      key === "seconds" || key === "tokensPerSecond" ? undefined : value,
    ),
  );
