// SPDX-License-Identifier: MIT
// Values for the learnable tensors of an encoding when nobody gives any: those with which a model that uses it starts to
// train. They are read off a model that the core makes for the purpose, so that nothing here has to know an encoding.

import type { PosLab } from "../js/index.js";
import { completeExperiment } from "../js/experiment.js";
import { readSafetensors } from "../js/safetensors.js";
import type { Position, Tensor } from "../js/types.js";
import { isPosLabError } from "./failure.js";

export interface ModelSizes {
  heads: number;
  headDim: number;
  /** how many positions a table needs */ positions: number;
}

/** By name, without those that `position` brings itself. Empty for encodings that learn nothing. */
export function startParameters(
  lab: PosLab,
  position: Position,
  { heads, headDim, positions }: ModelSizes,
  seed: number,
): Record<string, Tensor> {
  const isTensor = (value: unknown): boolean =>
    ArrayBuffer.isView(value) ||
    (typeof value === "object" &&
      value !== null &&
      ("data" in value || (Array.isArray(value) && Array.isArray(value[0]))));
  const plain = Object.fromEntries(Object.entries(position).filter(([, value]) => !isTensor(value)));
  try {
    const experiment = completeExperiment({
      task: { type: "position-modulo" },
      model: { dim: heads * headDim, heads, layers: 1, feedForward: 1 },
      training: { length: Math.max(1, positions), batch: 1, steps: 0 },
      test: { lengths: [Math.max(1, positions)], windows: 1 },
      encodings: [plain],
      seeds: [seed],
    });
    const run = lab.createRun(experiment, 0, seed);
    try {
      const { tensors } = readSafetensors(run.weights());
      return Object.fromEntries(
        [...tensors].flatMap(([full, { data, shape }]) => {
          const name = /^(?:blocks\.0\.)?position\.([^.]+)$/.exec(full)?.[1];
          return name === undefined || name in position ? [] : [[name, { data: data as Float32Array, shape }]];
        }),
      );
    } finally {
      run.dispose();
    }
  } catch (error) {
    // What is wrong with the encoding or a size, the computation itself says in its own words.
    if (isPosLabError(error)) return {};
    throw error;
  }
}
