// SPDX-License-Identifier: MIT
// Everything that a visitor can set for a race, as one typed table: link key, kind, limits and default. What is stored
// is only what differs from the defaults (Overrides); a default may depend on fields that stand above it.

import {
  atTestDefaults,
  encodingDefaults,
  modelDefaults,
  toyTokens,
  trainingDefaults,
  windowsDefault,
  type AtTest,
  type Encoding,
  type Task,
} from "../engine/poslab.js";

export type TaskType = Task["type"];
export const taskTypes = [
  "text",
  "lookback",
  "fixed-position",
  "first",
  "needle",
  "recall",
  "position-modulo",
  "majority",
  "copy",
  "reverse",
] as const satisfies readonly TaskType[];

export const positionPolicies = ["plain", "randomized", "shift", "pose"] as const;
export type PositionPolicy = (typeof positionPolicies)[number];
export const sinkKinds = ["none", "zero", "learned"] as const;
export type Sinks = (typeof sinkKinds)[number];

/** A change at test time belongs to an encoding by content, so that editing the list of encodings cannot mix them up. */
export interface Switch extends Omit<AtTest, "of" | "label"> {
  of: Encoding;
}

export interface Values {
  task: TaskType;
  corpus: string;
  unit: "characters" | "bytes";
  distance: number;
  position: number;
  length: number;
  /** where training rows stand */ positions: PositionPolicy;
  positionsMaximum: number;
  positionsChunks: number;
  encodings: Encoding[];
  switches: Switch[];
  dim: number;
  heads: number;
  layers: number;
  feedForward: number;
  sinks: Sinks;
  batch: number;
  steps: number;
  learningRate: number;
  seeds: number;
  firstSeed: number;
  windows: number;
}
export type Overrides = Partial<Values>;
export type NumberKey = { [K in keyof Values]: Values[K] extends number ? K : never }[keyof Values];

/** The name that stands for a pasted text or an opened file. */
export const ownText = "own";

interface NumberRule {
  kind: "integer" | "number";
  minimum: number;
  maximum: number;
  fallback: (values: Values) => number;
}
interface ChoiceRule {
  kind: "choice";
  /** null: any plain name */ choices: readonly string[] | null;
  fallback: (values: Values) => string;
}
interface ListRule {
  kind: "encodings" | "switches";
  fallback: (values: Values) => readonly unknown[];
}
export type Rule = { key: string } & (NumberRule | ChoiceRule | ListRule);

const integer = (
  key: string,
  minimum: number,
  maximum: number,
  fallback: NumberRule["fallback"],
): Rule & NumberRule => ({ key, kind: "integer", minimum, maximum, fallback });
const choice = (key: string, choices: readonly string[] | null, fallback: string): Rule => ({
  key,
  kind: "choice",
  choices,
  fallback: () => fallback,
});

const training = (values: Values) => trainingDefaults(values.task);

/** Switches of the built-in encodings: RoPE under NTK scaling, and with a window as long as training. */
function defaultSwitches(values: Values): readonly Switch[] {
  if (JSON.stringify(values.encodings) !== JSON.stringify(encodingDefaults)) return [];
  return switchesOf(atTestDefaults(values.length), values.encodings);
}

export function switchesOf(atTest: readonly AtTest[], encodings: readonly Encoding[]): Switch[] {
  return atTest.flatMap(({ of, label: _, ...change }) => {
    const encoding = encodings[of];
    return encoding ? [{ of: encoding, ...change }] : [];
  });
}

export const fields: { [K in keyof Values]: Rule } = {
  task: choice("task", taskTypes, "text"),
  corpus: choice("corpus", null, "moby-dick"),
  unit: choice("unit", ["characters", "bytes"], "characters"),
  distance: integer("distance", 1, 1024, () => 5),
  position: integer("position", 0, 1024, () => 5),
  length: integer("L", 4, 1024, (values) => training(values).length),
  positions: choice("pos", positionPolicies, "plain"),
  // As far as the longest tested place: 16 L ids, or L of them and a shift of 15 L.
  positionsMaximum: integer("posmax", 0, 2 ** 31, (values) => (values.positions === "shift" ? 15 : 16) * values.length),
  positionsChunks: integer("chunks", 1, 1024, () => 2),
  encodings: { key: "e", kind: "encodings", fallback: () => encodingDefaults },
  switches: { key: "t", kind: "switches", fallback: defaultSwitches },
  dim: integer("dim", 4, 512, () => modelDefaults.dim),
  heads: integer("heads", 1, 32, () => modelDefaults.heads),
  layers: integer("layers", 1, 12, () => modelDefaults.layers),
  feedForward: integer("ff", 4, 2048, (values) => 4 * values.dim),
  sinks: choice("sinks", sinkKinds, "none"),
  batch: integer("batch", 1, 256, (values) => training(values).batch),
  steps: integer("steps", 1, 100_000, (values) =>
    values.task === "text"
      ? training(values).steps
      : Math.max(1, Math.floor(toyTokens / (values.batch * values.length))),
  ),
  learningRate: {
    key: "rate",
    kind: "number",
    minimum: 1e-6,
    maximum: 1,
    fallback: (values) => training(values).learningRate,
  },
  seeds: integer("seeds", 1, 10, () => 1),
  firstSeed: integer("seed", 0, 2 ** 31, () => 1),
  windows: integer("windows", 2, 1024, () => windowsDefault),
};

export const fieldNames = Object.keys(fields) as (keyof Values)[];

/** All fields filled in, in the order of the table. */
export function resolve(overrides: Overrides): Values {
  const values: Record<string, unknown> = {};
  for (const name of fieldNames) {
    values[name] = overrides[name] ?? fields[name].fallback(values as unknown as Values);
  }
  return values as unknown as Values;
}

/** Overrides without those that say what the default says anyway. */
export function prune(overrides: Overrides): Overrides {
  const kept = Object.entries(overrides).filter(([name, value]) => {
    if (value === undefined) return false;
    const otherwise = resolve({ ...overrides, [name]: undefined })[name as keyof Values];
    return JSON.stringify(otherwise) !== JSON.stringify(value);
  });
  return Object.fromEntries(kept) as Overrides;
}

/** What a number typed for this field must be. */
export const numberRule = (name: NumberKey): NumberRule => fields[name] as NumberRule;
