// SPDX-License-Identifier: MIT
// From an experiment to what the core needs for one run, and back from the core's numbers to entries of a result.

import type {
  CoreChange,
  CoreDistances,
  CoreLengthResult,
  CoreRunDescription,
  CoreTask,
  FlatScheme,
} from "./core-types.js";
import { errorFromFailure, wrongArgument } from "./errors.js";
import type { TestChange } from "./run-types.js";
import { flattenScheme } from "./schemes.js";
import type { CompleteExperiment, Encoding, LengthEntry, Task } from "./types.js";

/** The encoding as a scheme: its label is not the scheme's business, and its tensors are made by the run. */
function schemeOfEncoding(encoding: Encoding, argument: string): FlatScheme {
  const { label: _, ...scheme } = encoding;
  const flat = flattenScheme(scheme, argument);
  const tensor = flat.tensors[0];
  if (tensor)
    throw wrongArgument(
      "contradiction",
      `${argument}.${tensor.name}`,
      "a tensor",
      "nothing: what an encoding learns starts from the seed, so nothing",
    );
  return flat;
}

export function coreTask(task: Task): CoreTask {
  return {
    type: task.type,
    distance: task.type === "lookback" ? (task.distance ?? 5) : 5,
    position: task.type === "fixed-position" ? (task.position ?? 5) : 5,
  };
}

function coreDistances(distances: NonNullable<TestChange["distances"]>): CoreDistances {
  const { policy, window } = distances;
  return { policy, window, group: policy === "grouped" ? (distances.group ?? 0) : 1 };
}

export function coreChange(change: TestChange, argument = "atTest"): CoreChange {
  return {
    position: change.position ? schemeOfEncoding(change.position, `${argument}.position`) : null,
    window: change.window ?? null,
    shift: change.shift ?? null,
    distances: change.distances ? coreDistances(change.distances) : null,
    interpolate: change.interpolate ?? false,
  };
}

/** Which entries of `atTest` belong to an encoding. */
export function entriesOf(experiment: CompleteExperiment, encoding: number): number[] {
  return experiment.atTest.flatMap((entry, index) => (entry.of === encoding ? [index] : []));
}

export function coreRunDescription(experiment: CompleteExperiment, encoding: number, seed: number): CoreRunDescription {
  const scheme = experiment.encodings[encoding];
  if (!scheme)
    throw wrongArgument("range", "encoding", encoding, `a whole number from 0 to ${experiment.encodings.length - 1}`);
  const { training, model } = experiment;
  return {
    task: coreTask(experiment.task),
    model: {
      vocabulary: 0,
      dim: model.dim,
      heads: model.heads,
      keyValueHeads: model.keyValueHeads,
      layers: model.layers,
      feedForward: model.feedForward,
      trainedLength: 0,
      norm: model.norm,
      normPlacement: model.normPlacement,
      activation: model.activation,
      gated: model.gated,
      sinks: model.sinks,
      bias: model.bias ?? null,
      tied: model.tied,
      parallel: model.parallel,
    },
    optimizer: {
      learningRate: training.learningRate,
      warmup: training.warmup,
      steps: training.steps,
      weightDecay: training.weightDecay,
      clip: training.clip,
      beta1: training.beta1,
      beta2: training.beta2,
    },
    length: training.length,
    batch: training.batch,
    position: schemeOfEncoding(scheme, `encodings[${encoding}]`),
    trainPositions: training.positions
      ? {
          policy: training.positions.policy,
          maximum: training.positions.maximum,
          chunks: training.positions.chunks ?? 2,
        }
      : null,
    atTest: entriesOf(experiment, encoding).map((index) => coreChange(experiment.atTest[index]!, `atTest[${index}]`)),
    testLengths: experiment.test.lengths,
    windows: experiment.test.windows,
    seed,
  };
}

/** The core's names of arguments as the experiment has them: "position.theta" is "encodings[3].theta". */
export function renameArgument(experiment: CompleteExperiment, encoding: number): (argument: string) => string {
  const entries = entriesOf(experiment, encoding);
  return (argument) => {
    if (argument === "position" || argument.startsWith("position."))
      return `encodings[${encoding}]${argument.slice("position".length)}`;
    if (argument.startsWith("atTest.") && entries.length === 1)
      return `atTest[${entries[0]}]${argument.slice("atTest".length)}`;
    return argument;
  };
}

const orNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** An entry of `byLength`; accuracies belong to toy tasks only. */
export function lengthEntry(result: CoreLengthResult, isText: boolean): LengthEntry {
  if (result.reason)
    return { length: result.length, loss: null, lossAtEnd: null, reason: errorFromFailure(result.reason).message };
  const entry: LengthEntry = { length: result.length, loss: orNull(result.loss), lossAtEnd: orNull(result.lossAtEnd) };
  if (Number.isFinite(result.lossError)) entry.lossError = result.lossError;
  if (Number.isFinite(result.lossAtEndError)) entry.lossAtEndError = result.lossAtEndError;
  if (!isText && Number.isFinite(result.accuracy)) entry.accuracy = result.accuracy;
  if (!isText && Number.isFinite(result.accuracyAtEnd)) entry.accuracyAtEnd = result.accuracyAtEnd;
  return entry;
}
