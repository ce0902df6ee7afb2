// SPDX-License-Identifier: MIT
// From what a visitor set to the experiment object of the package, and back. Pure data.

import type { AtTest, CompleteExperiment, Encoding, Experiment, Task, TrainingPositions } from "../engine/poslab.js";
import { sameEncoding } from "../schemes/fields.js";
import { prune, switchesOf, type Overrides, type Switch, type Values } from "./fields.js";

/** An own text is a corpus of the name "own", handed over beside the experiment: the object stays small. */
export function taskOf(values: Values): Task {
  switch (values.task) {
    case "text":
      return { type: "text", corpus: values.corpus, ...(values.unit === "bytes" ? { unit: "bytes" as const } : {}) };
    case "lookback":
      return { type: "lookback", distance: values.distance };
    case "fixed-position":
      return { type: "fixed-position", position: values.position };
    default:
      return { type: values.task };
  }
}

/** The experiment's `atTest`: switches whose encoding is in the list. */
export function atTestOf(switches: readonly Switch[], encodings: readonly Encoding[]): AtTest[] {
  return switches.flatMap((entry) => {
    const of = encodings.findIndex((encoding) => sameEncoding(encoding, entry.of));
    const { of: _, ...change } = entry;
    return of < 0 ? [] : [{ of, ...change }];
  });
}

function trainingPositions(
  policy: TrainingPositions["policy"],
  { positionsMaximum: maximum, positionsChunks: chunks }: Values,
): TrainingPositions {
  return { policy, maximum, ...(policy === "pose" ? { chunks } : {}) };
}

export function experimentOf(values: Values): Experiment {
  return {
    task: taskOf(values),
    model: {
      dim: values.dim,
      heads: values.heads,
      layers: values.layers,
      feedForward: values.feedForward,
      sinks: values.sinks,
    },
    training: {
      length: values.length,
      batch: values.batch,
      steps: values.steps,
      learningRate: values.learningRate,
      ...(values.positions === "plain" ? {} : { positions: trainingPositions(values.positions, values) }),
    },
    encodings: values.encodings,
    atTest: atTestOf(values.switches, values.encodings),
    test: { windows: values.windows },
    seeds: Array.from({ length: values.seeds }, (_, index) => values.firstSeed + index),
  };
}

/** What to set in the form so that it describes this experiment (fields that the form does not have stay as they are). */
export function overridesOf(experiment: CompleteExperiment): Overrides {
  const { task, model, training, encodings, test, seeds } = experiment;
  return prune({
    task: task.type,
    ...(task.type === "text"
      ? { ...(task.corpus === undefined ? {} : { corpus: task.corpus }), unit: task.unit ?? "characters" }
      : {}),
    ...(task.type === "lookback" && task.distance !== undefined ? { distance: task.distance } : {}),
    ...(task.type === "fixed-position" && task.position !== undefined ? { position: task.position } : {}),
    length: training.length,
    ...(training.positions
      ? { positions: training.positions.policy, positionsMaximum: training.positions.maximum }
      : {}),
    ...(training.positions?.chunks === undefined ? {} : { positionsChunks: training.positions.chunks }),
    batch: training.batch,
    steps: training.steps,
    learningRate: training.learningRate,
    encodings,
    switches: switchesOf(experiment.atTest, encodings),
    dim: model.dim,
    heads: model.heads,
    layers: model.layers,
    feedForward: model.feedForward,
    sinks: model.sinks,
    seeds: seeds.length,
    firstSeed: seeds[0] ?? 1,
    windows: test.windows,
  });
}
