// SPDX-License-Identifier: MIT
// How long a race takes, before it is started: counted multiplications, divided by the speed that was last measured on
// this device. Also how much memory a run needs, so that an impossible size is said instead of tried.

import type { CompleteExperiment, Encoding } from "../engine/poslab.js";

/** Work of a scheme's attention and embeddings relative to plain attention; measured roughly, refined by real runs. */
const schemeCost: Partial<Record<Encoding["type"], number>> = {
  shaw: 1.9,
  "transformer-xl": 2.1,
  t5: 1.15,
  kerple: 1.15,
  rope: 1.08,
  xpos: 1.5,
  fire: 3,
  sandwich: 1.15,
  tisa: 1.15,
  "relative-scalar": 1.15,
  "dynamic-bias": 1.4,
  cope: 3,
  forgetting: 1.3,
  deberta: 2.1,
  dape: 20,
  pope: 2.5,
};
/** Backward costs about twice the forward pass. */
const kTrainingPasses = 3;

export interface WorkShape {
  vocabulary: number;
  dim: number;
  layers: number;
  feedForward: number;
  gated: boolean;
}

export function shapeOf(experiment: CompleteExperiment, vocabulary: number): WorkShape {
  const { dim, layers, feedForward, gated } = experiment.model;
  return { vocabulary, dim, layers, feedForward, gated };
}

/** Floating-point operations of a forward pass for one token in rows of `length`. */
export function tokenWork(shape: WorkShape, length: number, type: Encoding["type"]): number {
  const { dim, layers, feedForward, vocabulary, gated } = shape;
  const matrices = layers * (4 * dim * dim + (gated ? 3 : 2) * dim * feedForward) + vocabulary * dim;
  const attention = layers * 2 * length * dim * (schemeCost[type] ?? 1);
  return 2 * matrices + attention;
}

/** Operations of one whole run: training, measuring every length, and every change at test time. */
export function runWork(experiment: CompleteExperiment, encoding: number, vocabulary: number): number {
  const shape = shapeOf(experiment, vocabulary);
  const { training, test, atTest, encodings } = experiment;
  const type = encodings[encoding]!.type;
  const train =
    training.steps * training.batch * training.length * tokenWork(shape, training.length, type) * kTrainingPasses;
  const measures = 1 + atTest.filter((entry) => entry.of === encoding).length;
  const sweep = test.lengths.reduce((sum, length) => sum + test.windows * length * tokenWork(shape, length, type), 0);
  return train + measures * sweep;
}

/** Wall time when `workers` share the runs; the longest run is the least it can be. */
export function estimateSeconds(
  experiment: CompleteExperiment,
  vocabulary: number,
  operationsPerSecond: number,
  workers: number,
): number {
  const works = experiment.encodings.flatMap((_, encoding) =>
    experiment.seeds.map(() => runWork(experiment, encoding, vocabulary)),
  );
  const total = works.reduce((sum, work) => sum + work, 0);
  return Math.max(total / Math.max(1, Math.min(workers, works.length)), ...works) / operationsPerSecond;
}

/** The speed that a finished run shows. */
export function speedOf(
  experiment: CompleteExperiment,
  encoding: number,
  vocabulary: number,
  tokensPerSecond: number,
): number {
  const { length } = experiment.training;
  return (
    tokensPerSecond *
    tokenWork(shapeOf(experiment, vocabulary), length, experiment.encodings[encoding]!.type) *
    kTrainingPasses
  );
}

/** Bytes of one run: weights, gradients and moments, and the activations that the backward pass needs. */
export function runBytes(shape: WorkShape & { batch: number; length: number; longest: number }): number {
  const { dim, layers, feedForward, vocabulary, batch, length, longest } = shape;
  const parameters = layers * (4 * dim * dim + 2 * dim * feedForward) + 2 * vocabulary * dim;
  const perToken = layers * (10 * dim + 3 * feedForward) + 2 * vocabulary + 4 * dim;
  return 4 * (4 * parameters + Math.max(batch * length, longest) * perToken);
}
