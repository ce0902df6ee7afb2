// SPDX-License-Identifier: MIT
// From the options of `poslab extrapolate` to the experiment object: an experiment file (or {}) with fields replaced. Whether
// the result makes sense is checked where every experiment is checked, in the package; its complaints are given the option's name.

import type { AtTest, Encoding, Experiment, Task } from "../js/types.js";
import { isPosLabError } from "./failure.js";
import { setField } from "./object-path.js";

/** Options as the argument parser delivers them. */
export interface ExperimentOptionValues {
  encodings?: (string | object)[];
  task?: string | object;
  corpus?: string;
  unit?: "characters" | "bytes";
  length?: number;
  test?: number[];
  steps?: number;
  tokens?: number;
  seeds?: number[];
  dim?: number;
  heads?: number;
  layers?: number;
  feedForward?: number;
  batch?: number;
  learningRate?: number;
  windows?: number;
  atTest?: unknown;
  set?: { path: string; value: unknown }[];
}

/** Which field of the experiment an option replaces; also the way back from an error's argument to the option. */
const optionFields: Record<Exclude<keyof ExperimentOptionValues, "set">, string> = {
  encodings: "encodings",
  task: "task",
  corpus: "task.corpus",
  unit: "task.unit",
  length: "training.length",
  test: "test.lengths",
  steps: "training.steps",
  tokens: "training.tokens",
  seeds: "seeds",
  dim: "model.dim",
  heads: "model.heads",
  layers: "model.layers",
  feedForward: "model.feedForward",
  batch: "training.batch",
  learningRate: "training.learningRate",
  windows: "test.windows",
  atTest: "atTest",
};

export function optionName(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The options among `values` that change the experiment, by name. */
export function changingOptions(values: ExperimentOptionValues): string[] {
  return [...Object.keys(optionFields), "set"]
    .filter((key) => values[key as keyof ExperimentOptionValues] !== undefined)
    .map(optionName);
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A part of the experiment, made when there is none. What is no object stays, to be refused with all the rest. */
function part<Name extends "training" | "model" | "test">(
  experiment: Experiment,
  name: Name,
): NonNullable<Experiment[Name]> {
  const given: unknown = experiment[name];
  if (given !== undefined && !isObject(given)) return {};
  experiment[name] = { ...given };
  return experiment[name]!;
}

export interface Overridden {
  experiment: Experiment;
  notices: string[];
}

export function overrideExperiment(base: Experiment, values: ExperimentOptionValues): Overridden {
  const experiment = structuredClone(base);
  const notices: string[] = [];
  const training = part(experiment, "training");
  const model = part(experiment, "model");
  const test = part(experiment, "test");
  if (values.task !== undefined)
    experiment.task = (typeof values.task === "string" ? { type: values.task } : values.task) as Task;
  if (values.corpus !== undefined || values.unit !== undefined) {
    // Only text has a corpus; another task together with one is a contradiction that the package words.
    const task = experiment.task ?? { type: "text" };
    const kept = Object.fromEntries(
      Object.entries(task).filter(([name]) => (name !== "text" && name !== "corpus") || values.corpus === undefined),
    );
    experiment.task = {
      ...kept,
      ...(values.corpus === undefined ? {} : { corpus: values.corpus }),
      ...(values.unit === undefined ? {} : { unit: values.unit }),
    } as Task;
  }
  if (values.encodings !== undefined) {
    experiment.encodings = values.encodings.map(
      (encoding) => (typeof encoding === "string" ? { type: encoding } : encoding) as Encoding,
    );
    // The numbers in "of" were those of other encodings.
    if (experiment.atTest?.length && values.atTest === undefined) {
      experiment.atTest = [];
      notices.push(
        "--encodings replaces the list that the experiment's atTest entries refer to: they are left out (--at-test gives new ones)",
      );
    }
  }
  if (values.atTest !== undefined)
    experiment.atTest = (Array.isArray(values.atTest) ? values.atTest : [values.atTest]) as AtTest[];
  if (values.length !== undefined) training.length = values.length;
  if (values.batch !== undefined) training.batch = values.batch;
  if (values.learningRate !== undefined) training.learningRate = values.learningRate;
  if (values.steps !== undefined) {
    training.steps = values.steps;
    if (values.tokens === undefined) delete training.tokens;
  }
  if (values.tokens !== undefined) {
    training.tokens = values.tokens;
    if (values.steps === undefined) delete training.steps;
  }
  for (const name of ["dim", "heads", "layers", "feedForward"] as const)
    if (values[name] !== undefined) model[name] = values[name];
  if (values.test !== undefined) test.lengths = values.test;
  if (values.windows !== undefined) test.windows = values.windows;
  if (values.seeds !== undefined) experiment.seeds = values.seeds;
  for (const { path, value } of values.set ?? []) setField(experiment, path, value, "--set");
  for (const name of ["training", "model", "test"] as const)
    if (isObject(experiment[name]) && Object.keys(experiment[name]).length === 0) delete experiment[name];
  return { experiment, notices };
}

/** The message of an error about the experiment, with the option that the person wrote in front where there is one. */
export function experimentProblem(error: unknown, values: ExperimentOptionValues): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!isPosLabError(error) || !error.argument) return message;
  const argument = error.argument;
  const covers = (field: string): boolean =>
    argument === field || argument.startsWith(`${field}.`) || argument.startsWith(`${field}[`);
  const set = values.set?.find(({ path }) => covers(path));
  if (set) return `option '--set': ${message}`;
  // The nearest option: of --task and --corpus the one whose field it is.
  const keys = (Object.keys(optionFields) as (keyof typeof optionFields)[])
    .filter((option) => values[option] !== undefined && covers(optionFields[option]))
    .sort((a, b) => optionFields[b].length - optionFields[a].length);
  // A text that is wrong in itself is the fault of the option that names it.
  const [key] = argument === "task.text" && values.corpus !== undefined ? ["corpus"] : keys;
  return key ? `option '${optionName(key)}': ${message}` : message;
}
