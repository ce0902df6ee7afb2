// SPDX-License-Identifier: MIT
// The training step that is timed: the experiment's model, its optimiser and the size of a batch.

export const kModel = {
  vocabulary: 80,
  dim: 64,
  heads: 4,
  keyValueHeads: 0,
  layers: 2,
  feedForward: 256,
  trainedLength: 128,
  norm: "layer",
  normPlacement: "pre",
  activation: "gelu",
  gated: false,
  bias: null,
  tied: false,
  parallel: false,
  sinks: "none",
};
export const kOptimizer = {
  learningRate: 0.006,
  warmup: 100,
  steps: 976,
  weightDecay: 0.1,
  clip: 1,
  beta1: 0.9,
  beta2: 0.98,
};
export const kBatch = { batch: 8, length: 128 };

export interface Batch {
  ids: Int32Array;
  targets: Int32Array;
}
