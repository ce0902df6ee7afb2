// SPDX-License-Identifier: MIT
// An experiment from JSON: validation with exact messages, all fields filled in, and the way through a share link (only
// what differs from the defaults; back again tolerantly). The same functions serve the page, the command line and
// `lab.experiment`.

import { PosLabError, wrongArgument } from "./errors.js";
import {
  atTestDefaults,
  encodingDefaults,
  modelDefaults,
  seedsDefault,
  testLengthDefaults,
  toyTokens,
  trainingDefaults,
  windowsDefault,
} from "./experiment-defaults.js";
import { distanceSchemas, experimentSchema, parseWith, taskSchemas, type TaskType } from "./experiment-schema.js";
import { nearestName } from "./tensors.js";
import type { AtTest, CompleteExperiment, Encoding, Experiment, Task } from "./types.js";

/**
 * Checks an experiment and fills in every field.
 * What the parameters of an encoding may be is the core's knowledge: `PosLab.checkExperiment` asks it.
 * @throws PosLabError that names the field by its path, what was given and what is allowed.
 */
export function completeExperiment(json: unknown): CompleteExperiment {
  refuseLists(json);
  const given = parseWith(experimentSchema, json ?? {}) as Experiment;
  const task = completeTask(given.task);
  const training = completeTraining(given.training ?? {}, task.type);
  const encodings = given.encodings ?? encodingDefaults.map((encoding) => ({ ...encoding }));
  const atTest = given.atTest ?? (given.encodings ? [] : atTestDefaults(training.length));
  checkAtTest(atTest, encodings);
  const seeds = given.seeds ?? [...seedsDefault];
  seeds.forEach((seed, index) => {
    if (seeds.indexOf(seed) < index)
      throw wrongArgument("contradiction", `seeds[${index}]`, seed, "a seed that is not in the list already");
  });
  const lengths = [...new Set(given.test?.lengths ?? testLengthDefaults(training.length))].sort((a, b) => a - b);
  return {
    task,
    model: completeModel(given.model ?? {}),
    training,
    encodings,
    atTest,
    test: { lengths, windows: given.test?.windows ?? windowsDefault },
    seeds,
  };
}

/** To valibot a list is an object without fields; here it is a mistake. */
function refuseLists(json: unknown): void {
  if (Array.isArray(json)) throw wrongArgument("type", "the experiment", json, "an object");
  for (const name of ["task", "model", "training", "test"]) {
    const part: unknown = (json as Record<string, unknown> | null | undefined)?.[name];
    if (Array.isArray(part)) throw wrongArgument("type", name, part, "an object");
  }
}

function completeTask(given: unknown): Task {
  if (given === undefined) return { type: "text", corpus: "moby-dick", unit: "characters" };
  const type = (given as { type: string }).type;
  const known = Object.keys(taskSchemas);
  if (!known.includes(type)) {
    const suggestion = nearestName(type, known);
    throw new PosLabError(
      "unknownName",
      `task.type: "${type}" is not known; ${suggestion ? `did you mean "${suggestion}"?` : `known are ${known.join(", ")}`}`,
      {
        argument: "task.type",
        given: type,
        ...(suggestion ? { suggestion } : {}),
      },
    );
  }
  const task = parseWith(taskSchemas[type as TaskType], given, "task") as Task;
  switch (task.type) {
    case "text":
      if (task.text !== undefined && task.corpus !== undefined) {
        throw wrongArgument("contradiction", "task.corpus", task.corpus, "either task.text or task.corpus, not both,");
      }
      return {
        type: "text",
        ...(task.text === undefined ? { corpus: task.corpus ?? "moby-dick" } : { text: task.text }),
        unit: task.unit ?? "characters",
      };
    case "lookback":
      return { type: "lookback", distance: task.distance ?? 5 };
    case "fixed-position":
      return { type: "fixed-position", position: task.position ?? 5 };
    default:
      return task;
  }
}

function completeModel(given: NonNullable<Experiment["model"]>): CompleteExperiment["model"] {
  const heads = given.heads ?? modelDefaults.heads;
  const model = { ...modelDefaults, ...given, heads, keyValueHeads: given.keyValueHeads ?? heads };
  if (model.dim % heads !== 0)
    throw wrongArgument("contradiction", "model.heads", heads, `a divisor of model.dim (${model.dim})`);
  if (heads % model.keyValueHeads !== 0) {
    throw wrongArgument(
      "contradiction",
      "model.keyValueHeads",
      model.keyValueHeads,
      `a divisor of model.heads (${heads})`,
    );
  }
  return model;
}

function completeTraining(given: NonNullable<Experiment["training"]>, task: TaskType): CompleteExperiment["training"] {
  const { tokens, ...rest } = given;
  if (tokens !== undefined && given.steps !== undefined) {
    throw wrongArgument(
      "contradiction",
      "training.tokens",
      tokens,
      "either training.steps or training.tokens, not both,",
    );
  }
  const { policy, chunks } = rest.positions ?? {};
  if (chunks !== undefined && policy !== "pose")
    throw wrongArgument(
      "contradiction",
      "training.positions.chunks",
      chunks,
      'only the policy "pose" together with it',
    );
  const training = { ...trainingDefaults(task), ...rest };
  const budget = tokens ?? (task !== "text" && given.steps === undefined ? toyTokens : undefined);
  if (budget !== undefined) {
    const perStep = training.batch * training.length;
    training.steps = Math.floor(budget / perStep);
    if (training.steps < 1)
      throw wrongArgument(
        "range",
        "training.tokens",
        budget,
        `at least one step's ${perStep} tokens (training.batch times training.length)`,
      );
  }
  return training;
}

function checkAtTest(entries: readonly AtTest[], encodings: readonly Encoding[]): void {
  entries.forEach((entry, index) => {
    const name = `atTest[${index}]`;
    const encoding = encodings[entry.of];
    if (!encoding)
      throw wrongArgument(
        "range",
        `${name}.of`,
        entry.of,
        `the number of an encoding, from 0 to ${encodings.length - 1},`,
      );
    if (entry.distances) parseWith(distanceSchemas[entry.distances.policy], entry.distances, `${name}.distances`);
    const { position, window, shift, distances, interpolate } = entry;
    if ([position, window, shift, distances].every((part) => part === undefined) && !interpolate) {
      throw new PosLabError(
        "missing",
        `${name} changes nothing; position, window, shift, distances or interpolate is needed`,
        { argument: name },
      );
    }
    if (entry.interpolate && entry.position !== undefined) {
      throw wrongArgument(
        "contradiction",
        `${name}.interpolate`,
        true,
        "either interpolate (of the learned table) or another position",
      );
    }
  });
}

/** What an encoding is called: its own label, or its type with the parameters that were given. */
export function encodingLabel(encoding: Encoding): string {
  if (encoding.label) return encoding.label;
  const details = Object.entries(encoding).flatMap(([name, value]) =>
    name === "type" || value === undefined || value === null ? [] : [detail(name, value)],
  );
  return details.length > 0 ? `${encoding.type} (${details.join(", ")})` : encoding.type;
}

/** What a change at test time is called: "rope, window 64". */
export function atTestLabel(entry: AtTest, encodings: readonly Encoding[]): string {
  if (entry.label) return entry.label;
  const encoding = encodings[entry.of];
  const parts = [encoding ? encodingLabel(encoding) : `encoding ${entry.of}`];
  if (entry.position)
    parts.push(
      entry.position.type === encoding?.type ? detailsOfPosition(entry.position) : encodingLabel(entry.position),
    );
  if (entry.window !== undefined) parts.push(`window ${entry.window}`);
  if (entry.distances) parts.push(distancesLabel(entry.distances));
  if (entry.shift !== undefined) parts.push(`shifted by ${entry.shift}`);
  if (entry.interpolate) parts.push("table stretched");
  return parts.join(", ");
}

/** "Self-Extend, window 32, group 8". */
function distancesLabel(distances: NonNullable<AtTest["distances"]>): string {
  const window = `window ${distances.window}`;
  if (distances.policy === "clamped") return `ReRoPE, ${window}`;
  return `Self-Extend, ${window}${distances.group === undefined ? "" : `, group ${distances.group}`}`;
}

function detailsOfPosition(position: Encoding): string {
  const details = Object.entries(position).flatMap(([name, value]) =>
    name === "type" || name === "label" || value === undefined ? [] : [detail(name, value)],
  );
  return details.join(", ") || position.type;
}

function detail(name: string, value: unknown): string {
  if (Array.isArray(value)) return `${name} of ${value.length}`;
  if (typeof value === "object" && value !== null) {
    const { ropeType, ...rest } = value as Record<string, unknown>;
    const inner = Object.entries(rest).map(([key, entry]) => detail(key, entry));
    return [typeof ropeType === "string" ? ropeType : name, ...inner].join(" ");
  }
  return value === true ? name : `${name} ${String(value)}`;
}
