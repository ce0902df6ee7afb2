// SPDX-License-Identifier: MIT
// The shape of an experiment as JSON: which fields there are and what each may be. Each leaf carries the words that a
// message needs ("a whole number from 1 to 1000000"). What depends on several fields is checked in experiment.ts; what
// the parameters of an encoding may be, only its scheme in the core knows.

import * as v from "valibot";
import { wrongArgument, type PosLabError, PosLabError as MakeError } from "./errors.js";
import { nearestName } from "./tensors.js";

const largest = 1_000_000_000;
const count = (least: number, most = largest) =>
  v.custom<number>(
    (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
    `a whole number from ${least} to ${most}`,
  );
const number = (allowed: string, fits: (value: number) => boolean) =>
  v.custom<number>((value) => typeof value === "number" && Number.isFinite(value) && fits(value), allowed);
const choice = <const T extends readonly string[]>(...choices: T) =>
  v.picklist(choices, choices.map((name) => `"${name}"`).join(" or "));
const truth = v.boolean("true or false");
const text = v.string("a text");
const list = <T extends v.GenericSchema>(entry: T, least: number, what: string) =>
  v.pipe(v.array(entry, what), v.minLength(least, what));

/** Every scheme object: its name and whatever else its scheme knows. */
const scheme = v.looseObject({ type: v.string("the name of a scheme") }, 'a scheme object such as { type: "rope" }');
const encoding = v.looseObject(
  { type: v.string("the name of a scheme"), label: v.optional(text) },
  'a scheme object such as { type: "rope" }',
);

const object = <T extends v.ObjectEntries>(entries: T) => v.strictObject(entries, "an object");
const plainTask = <const T extends string>(type: T) => object({ type: v.literal(type) });

/** One schema a task, by its type. */
export const taskSchemas = {
  text: object({
    type: v.literal("text"),
    corpus: v.optional(text),
    text: v.optional(text),
    unit: v.optional(choice("characters", "bytes")),
  }),
  lookback: object({ type: v.literal("lookback"), distance: v.optional(count(1)) }),
  "fixed-position": object({ type: v.literal("fixed-position"), position: v.optional(count(0)) }),
  first: plainTask("first"),
  needle: plainTask("needle"),
  recall: plainTask("recall"),
  "position-modulo": plainTask("position-modulo"),
  majority: plainTask("majority"),
  copy: plainTask("copy"),
  reverse: plainTask("reverse"),
};
export type TaskType = keyof typeof taskSchemas;

/** One schema a policy. A group that is left out is the smallest that keeps distances below the trained length. */
export const distanceSchemas = {
  grouped: object({ policy: v.literal("grouped"), window: count(1), group: v.optional(count(1)) }),
  clamped: object({ policy: v.literal("clamped"), window: count(1) }),
};

const atTestEntry = object({
  of: count(0),
  position: v.optional(scheme),
  window: v.optional(count(1)),
  shift: v.optional(count(0)),
  distances: v.optional(v.looseObject({ policy: choice("grouped", "clamped") }, "an object")),
  interpolate: v.optional(truth),
  label: v.optional(text),
});

const modelEntries = {
  dim: v.optional(count(1, 65536)),
  heads: v.optional(count(1, 65536)),
  layers: v.optional(count(1, 1024)),
  feedForward: v.optional(count(1, 1_000_000)),
  keyValueHeads: v.optional(count(1, 65536)),
  norm: v.optional(choice("layer", "rms")),
  normPlacement: v.optional(choice("pre", "post")),
  activation: v.optional(choice("gelu", "relu", "silu")),
  gated: v.optional(truth),
  bias: v.optional(truth),
  sinks: v.optional(choice("none", "zero", "learned")),
  tied: v.optional(truth),
  parallel: v.optional(truth),
};
/** The model of a conformance case, whose vocabulary no task gives. */
export const caseModelSchema = object({ ...modelEntries, vocabulary: count(1, 16_777_216) });

const trainingEntries = {
  length: v.optional(count(1, 16_777_216)),
  batch: v.optional(count(1, 1_000_000)),
  steps: v.optional(count(0)),
  tokens: v.optional(count(1, Number.MAX_SAFE_INTEGER)),
  learningRate: v.optional(number("a number larger than 0", (value) => value > 0)),
  warmup: v.optional(count(0)),
  weightDecay: v.optional(number("a number of 0 or larger", (value) => value >= 0)),
  clip: v.optional(number("a number of 0 (no clipping) or larger", (value) => value >= 0)),
  beta1: v.optional(number("a number from 0 to less than 1", (value) => value >= 0 && value < 1)),
  beta2: v.optional(number("a number from 0 to less than 1", (value) => value >= 0 && value < 1)),
};
/** The training of a conformance case, whose rows stand at 0, 1, ... */
export const trainingSchema = object(trainingEntries);
const trainingPositions = object({
  policy: choice("randomized", "shift", "pose"),
  maximum: count(0, 2 ** 31),
  chunks: v.optional(count(1)),
});

/** The whole object; `task` is looked at apart, by its type. */
export const experimentSchema = object({
  task: v.optional(v.looseObject({ type: v.string("the name of a task") }, 'an object such as { type: "text" }')),
  model: v.optional(object(modelEntries)),
  training: v.optional(object({ ...trainingEntries, positions: v.optional(trainingPositions) })),
  encodings: v.optional(list(encoding, 1, "a list of one or more scheme objects")),
  atTest: v.optional(v.array(atTestEntry, "a list of changes at test time")),
  test: v.optional(
    object({
      lengths: v.optional(list(count(1, 16_777_216), 1, "a list of one or more lengths")),
      windows: v.optional(count(1, 1_000_000)),
    }),
  ),
  seeds: v.optional(list(count(0, Number.MAX_SAFE_INTEGER), 1, "a list of one or more whole numbers")),
});

/** Parses with a schema; the first thing that is wrong becomes a PosLabError with its path as the argument's name. */
export function parseWith<T extends v.GenericSchema>(schema: T, input: unknown, prefix = ""): v.InferOutput<T> {
  const result = v.safeParse(schema, input, { abortEarly: true });
  if (result.success) return result.output;
  throw errorFromIssue(schema, result.issues[0], prefix);
}

function errorFromIssue(schema: v.GenericSchema, issue: v.BaseIssue<unknown>, prefix: string): PosLabError {
  const keys = (issue.path ?? []).map((item) => item.key as string | number);
  const argument = pathName(keys, prefix);
  if (issue.kind === "schema" && issue.type === "strict_object" && issue.expected === "never") {
    const name = String(keys[keys.length - 1]);
    const known = knownFields(schema, keys.slice(0, -1));
    const suggestion = nearestName(name, known);
    const hint = suggestion ? `did you mean "${suggestion}"?` : `known are ${known.join(", ")}`;
    return new MakeError("unknownName", `${argument} is not known; ${hint}`, {
      argument,
      given: name,
      ...(suggestion ? { suggestion } : {}),
    });
  }
  if (issue.input === undefined)
    return new MakeError("missing", `${argument} is missing; ${wordsOf(schema, keys, issue)} is needed`, { argument });
  const code =
    issue.kind === "schema" && issue.type !== "custom" && issue.type !== "picklist"
      ? "type"
      : typeof issue.input === "number" || issue.type === "picklist" || issue.kind === "validation"
        ? "range"
        : "type";
  return wrongArgument(code, argument || "the experiment", issue.input, issue.message);
}

/** A missing key is an issue of its object, whose words say nothing about the key: ask the key's own schema. */
function wordsOf(schema: v.GenericSchema, keys: (string | number)[], issue: v.BaseIssue<unknown>): string {
  const entry = schemaAt(schema, keys) as { message?: unknown } | undefined;
  return typeof entry?.message === "string" ? entry.message : issue.message;
}

function knownFields(schema: v.GenericSchema, keys: (string | number)[]): string[] {
  const inner = schemaAt(schema, keys) as { entries?: object } | undefined;
  return Object.keys(inner?.entries ?? {});
}

/** The schema of what lies at a path: through optional, pipe, list and object. */
function schemaAt(schema: v.GenericSchema, keys: (string | number)[]): unknown {
  type Inner = { wrapped?: Inner; item?: Inner; entries?: Record<string, Inner>; pipe?: readonly Inner[] };
  const unwrapped = (inner: Inner | undefined): Inner | undefined =>
    inner?.wrapped
      ? unwrapped(inner.wrapped)
      : inner?.pipe?.[0] && inner.pipe[0] !== inner
        ? { ...inner, ...inner.pipe[0] }
        : inner;
  let at = unwrapped(schema as unknown as Inner);
  for (const key of keys) at = unwrapped(typeof key === "number" ? at?.item : at?.entries?.[key]);
  return at;
}

/** `training.length`, `encodings[3].label`. */
export function pathName(keys: readonly (string | number)[], prefix = ""): string {
  return keys.reduce<string>(
    (name, key) => (typeof key === "number" ? `${name}[${key}]` : name ? `${name}.${key}` : key),
    prefix,
  );
}
