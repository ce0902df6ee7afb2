// SPDX-License-Identifier: MIT
// A conformance case as it lies in a file: one JSON object in the metadata, inputs and expected results as tensors.

import { parsePythonJson } from "./config/text.js";
import { PosLabError } from "./errors.js";
import type { FileTensor, TensorFile } from "./run-types.js";
import { readSafetensors } from "./safetensors.js";
import type { Distances, Mask, ModelShape, Position, PositionArray, Tensor, TrainingOptions } from "./types.js";

export const operations = [
  "table",
  "frequencies",
  "rotate",
  "slopes",
  "buckets",
  "bias",
  "attention",
  "attention-gradients",
  "training",
  "config",
  "reject",
] as const;
export type Operation = (typeof operations)[number];

/** The JSON object; which fields matter depends on the operation. */
export interface CaseDescription {
  /** "" when the case does not say it */ name: string;
  op: Operation;
  position?: Position;
  tolerance?: { absolute?: number; relative?: number };
  /** of reject */ call?: Operation;
  reason?: string;
  length?: number;
  dim?: number;
  start?: number;
  headDim?: number;
  heads?: number;
  queryLength?: number;
  keyLength?: number;
  mask?: Mask;
  scale?: number;
  distances?: Distances;
  model?: ModelShape & { vocabulary: number };
  training?: TrainingOptions;
  /** of config: a config.json as an object */ config?: unknown;
  /** of config: which kind of layer */ layerType?: string;
}

export interface Case {
  description: CaseDescription;
  tensors: TensorFile["tensors"];
}

function notACase(reason: string): PosLabError {
  return new PosLabError("format", `not a case: ${reason}`, { argument: "case" });
}

/** @throws PosLabError (format) when the file is not a case */
export function readCase(bytes: Uint8Array): Case {
  const { tensors, metadata } = readSafetensors(bytes);
  const text = metadata.get("case");
  if (text === undefined) throw notACase("its metadata has no text called case");
  let description: unknown;
  try {
    description = parsePythonJson(text);
  } catch (error) {
    throw notACase(`the text called case is no JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (typeof description !== "object" || description === null || Array.isArray(description))
    throw notACase("the JSON called case is no object");
  description = withoutNulls(description);
  const { name = "", op, call, position } = description as Partial<CaseDescription>;
  if (typeof name !== "string") throw notACase("its name is no text");
  for (const [field, operation] of Object.entries(op === "reject" ? { op, call } : { op })) {
    if (operation === undefined) throw notACase(`it has no ${field}; known are ${operations.join(", ")}`);
    if (!operations.includes(operation))
      throw notACase(`the operation ${JSON.stringify(operation)} is not known; known are ${operations.join(", ")}`);
  }
  if (call === "reject") throw notACase("its call is reject; a call is one of the other operations");
  checkTolerance((description as Partial<CaseDescription>).tolerance);
  if (op !== "config" && call !== "config" && (typeof position !== "object" || position === null))
    throw notACase("it has no position object");
  return { description: { ...(description as CaseDescription), name }, tensors };
}

/** What is null is not given, as in a scheme object: Python writes None so. */
function withoutNulls(description: object): object {
  const given = (object: object): object =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
  const { mask } = description as { mask?: unknown };
  const isObject = typeof mask === "object" && mask !== null && !Array.isArray(mask);
  return given(isObject ? { ...description, mask: given(mask) } : description);
}

/** A tolerance that is not read as meant would pass what is wrong, or fail what is right. */
function checkTolerance(tolerance: unknown): void {
  if (tolerance === undefined) return;
  const good =
    typeof tolerance === "object" &&
    tolerance !== null &&
    !Array.isArray(tolerance) &&
    Object.entries(tolerance).every(
      ([name, value]) => (name === "absolute" || name === "relative") && typeof value === "number" && value >= 0,
    );
  if (!good)
    throw notACase(
      `tolerance: ${JSON.stringify(tolerance)} was given; { "absolute": a, "relative": r } with numbers of at least 0 is allowed`,
    );
}

const kFields: readonly string[] = [
  "name",
  "op",
  "source",
  "position",
  "tolerance",
  "call",
  "reason",
  "length",
  "dim",
  "start",
  "headDim",
  "heads",
  "queryLength",
  "keyLength",
  "mask",
  "scale",
  "distances",
  "model",
  "training",
  "config",
  "layerType",
];

/** What the file says and nothing reads: a field or tensor with another name than it should have. */
export function unread({ description, tensors }: Case): string[] {
  return [
    ...Object.keys(description).filter((field) => !kFields.includes(field)),
    ...[...tensors.keys()].filter((name) => !/^(?:input|expected|position|weights)\./.test(name)),
  ];
}

/** An input that the operation needs. */
export function needed({ tensors }: Case, name: string): FileTensor {
  const tensor = tensors.get(name);
  if (!tensor) throw notACase(`the tensor ${name} is missing`);
  return tensor;
}

/** A number that the operation needs. */
export function neededNumber(
  { description }: Case,
  name: "length" | "dim" | "headDim" | "heads" | "queryLength" | "keyLength",
): number {
  const value = description[name];
  if (value === undefined) throw notACase(`it has no ${name}`);
  return value;
}

/** Tensors whose names begin with a prefix, without it. */
export function startingWith({ tensors }: Case, prefix: string): [string, FileTensor][] {
  return [...tensors].flatMap(([name, tensor]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), tensor] as [string, FileTensor]] : [],
  );
}

/** The scheme object with its tensors. */
export function positionOf(item: Case): Position {
  const tensors = startingWith(item, "position.").map(([name, { data, shape }]) => [name, { data, shape }]);
  return { ...item.description.position, ...Object.fromEntries(tensors) } as Position;
}

/** Ids of a file as numbers: int64 where the file has them. */
export function idsOf(tensor: FileTensor): BigInt64Array | number[] {
  return tensor.data instanceof BigInt64Array ? tensor.data : Array.from(tensor.data as ArrayLike<number>, Number);
}

/** Position ids of a file, [L] or [L, axes]. */
export function positionIdsOf(tensor: FileTensor): PositionArray {
  return { data: idsOf(tensor), shape: tensor.shape };
}

/** Something with numbers and a shape to compare with what was expected. */
export type Got = Pick<Tensor, "shape"> & { data: ArrayLike<number> };
