// SPDX-License-Identifier: MIT
// From what callers have (tensors, typed arrays with a shape, nested arrays) to what the module copies from, with exact
// messages. Typed arrays are passed on as they are: the module makes the only copy.

import type { CoreInput, CorePositions, IdBytes, NumberSource } from "./core-types.js";
import { PosLabError, wrongArgument } from "./errors.js";
import type { IntegerArray, PositionArray, Tensor } from "./types.js";

const kMostAxes = 8;

/** True for typed arrays of numbers, BigInt ones included. */
export function isTypedArray(value: unknown): value is ArrayLike<number> | BigInt64Array | BigUint64Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** True for `{ data, shape }`. */
export function isShaped(
  value: unknown,
): value is { data: ArrayLike<number> | BigInt64Array | BigUint64Array; shape: readonly number[] } {
  return typeof value === "object" && value !== null && "data" in value && "shape" in value;
}

/** A tensor in, with its shape checked against its data, and against `axes` (the names of its axes) when given. */
export function readTensor(value: unknown, argument: string, axes?: readonly string[]): CoreInput {
  if (value === undefined || value === null)
    throw new PosLabError("missing", `${argument} is missing; a tensor is needed`, { argument });
  const tensor = isShaped(value)
    ? readShaped(value, argument)
    : isTypedArray(value)
      ? { data: plainNumbers(value), shape: [value.length] }
      : readNested(value, argument);
  if (axes && tensor.shape.length !== axes.length) {
    throw wrongArgument(
      "shape",
      argument,
      tensor.shape,
      `a tensor [${axes.join(", ")}]${isTypedArray(value) ? ", as { data, shape }," : ""}`,
    );
  }
  return tensor;
}

function readShaped(value: { data: unknown; shape: unknown }, argument: string): CoreInput {
  const { data, shape } = value;
  if (!Array.isArray(shape) || !shape.every((extent) => Number.isSafeInteger(extent) && extent >= 0)) {
    throw wrongArgument("shape", `${argument}.shape`, shape, "a list of whole numbers, 0 or larger,");
  }
  if (!isTypedArray(data) && !Array.isArray(data))
    throw wrongArgument("type", `${argument}.data`, data, "a typed array or a list of numbers");
  const size = shape.reduce((product: number, extent: number) => product * extent, 1);
  if (data.length !== size) {
    throw wrongArgument(
      "shape",
      `${argument}.data`,
      data.length,
      `${size} numbers for the shape [${shape.join(", ")}]`,
    );
  }
  if (Array.isArray(data)) checkNumbers(data, `${argument}.data`);
  return { data: isTypedArray(data) ? plainNumbers(data) : (data as number[]), shape: [...(shape as number[])] };
}

function readNested(value: unknown, argument: string): CoreInput {
  if (!Array.isArray(value))
    throw wrongArgument("type", argument, value, "a tensor { data, shape }, a typed array or nested arrays");
  const shape: number[] = [];
  for (let level: unknown = value; Array.isArray(level) || isTypedArray(level); level = level[0]) {
    // Deeper is no tensor that anything here takes, and a list that contains itself has no end.
    if (shape.length === kMostAxes) throw wrongArgument("shape", argument, value, `at most ${kMostAxes} axes`);
    shape.push(level.length);
    if (level.length === 0 || isTypedArray(level)) break;
  }
  if (shape.length === 1) {
    checkNumbers(value, argument);
    return { data: value as number[], shape };
  }
  const data = new Float32Array(shape.reduce((product, extent) => product * extent, 1));
  let filled = 0;
  const fill = (part: unknown, depth: number, name: string): void => {
    const isRow = Array.isArray(part) || isTypedArray(part);
    if (!isRow || part.length !== shape[depth]) {
      throw wrongArgument("shape", name, isRow ? part.length : part, `${shape[depth]} entries, as in the rows before,`);
    }
    if (depth === shape.length - 1) {
      if (Array.isArray(part)) checkNumbers(part, name);
      data.set(plainNumbers(part as ArrayLike<number>), filled);
      filled += part.length;
    } else {
      for (let index = 0; index < part.length; index += 1) fill(part[index], depth + 1, `${name}[${index}]`);
    }
  };
  fill(value, 0, argument);
  return { data, shape };
}

function checkNumbers(values: readonly unknown[], argument: string): asserts values is number[] {
  const wrong = values.findIndex((entry) => typeof entry !== "number");
  if (wrong >= 0) throw wrongArgument("type", `${argument}[${wrong}]`, values[wrong], "a number");
}

/** 64-bit integers become doubles; everything else stays as it is. */
function plainNumbers(values: ArrayLike<number> | BigInt64Array | BigUint64Array): NumberSource {
  return values instanceof BigInt64Array || values instanceof BigUint64Array
    ? Float64Array.from(values, Number)
    : values;
}

/** A flat list of numbers (never nested). */
export function readList(value: unknown, argument: string): NumberSource {
  if (isTypedArray(value)) return plainNumbers(value);
  if (!Array.isArray(value)) throw wrongArgument("type", argument, value, "a list of numbers");
  checkNumbers(value, argument);
  return value;
}

/** Integer ids as int64 bytes; every id is checked to be a whole number. */
export function readIds(value: IntegerArray, argument: string): IdBytes {
  let ids: BigInt64Array;
  if (value instanceof BigInt64Array) {
    ids = value;
  } else {
    if (!isTypedArray(value) && !Array.isArray(value))
      throw wrongArgument("type", argument, value, "a list of whole numbers");
    ids = new BigInt64Array(value.length);
    for (let index = 0; index < value.length; index += 1) {
      const id: unknown = value[index];
      if (!Number.isSafeInteger(id)) throw notWhole(`${argument}[${index}]`, id);
      ids[index] = BigInt(id as number);
    }
  }
  return new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
}

/** Position ids, one a token or several: [L], or [L, axes]. */
export function readPositions(value: PositionArray, argument: string): CorePositions {
  const nested = Array.isArray(value) && (Array.isArray(value[0]) || isTypedArray(value[0]));
  if (nested) {
    const rows = value as ReadonlyArray<ArrayLike<number>>;
    const axes = rows[0]!.length;
    rows.forEach((row, index) => {
      if (row.length !== axes)
        throw wrongArgument("shape", `${argument}[${index}]`, row.length, `${axes} ids, as before,`);
    });
    const ids = rows.flatMap((row) => Array.from(row));
    return readPositions({ data: ids, shape: [rows.length, axes] }, argument);
  }
  if (!isShaped(value)) return { ids: readIds(value as IntegerArray, argument), axes: 1 };
  const { data, shape } = value;
  if (!Array.isArray(shape) || (!isTypedArray(data) && !Array.isArray(data)))
    throw wrongArgument("type", argument, value, "a list of ids, or { data, shape } with lists in both,");
  const [tokens = 0, axes = 1] = shape as number[];
  if (shape.length < 1 || shape.length > 2 || axes < 1 || data.length !== tokens * axes)
    throw wrongArgument("shape", argument, shape, `a list [length] or [length, axes] of ${data.length} ids`);
  return { ids: readIds(data as IntegerArray, argument), axes };
}

/** A key mask: 0 is hidden, whole numbers above it are seen. */
export function readMask(value: unknown, argument: string): Uint8Array {
  if (!isTypedArray(value) && !Array.isArray(value))
    throw wrongArgument("type", argument, value, "a list of 0 (hidden) or 1 (seen)");
  const mask = new Uint8Array(value.length);
  for (let index = 0; index < value.length; index += 1) {
    const entry: unknown = value[index];
    const number = typeof entry === "string" ? -1 : Number(entry);
    // A mask to be added to scores has 0 for seen and something negative for hidden: the opposite.
    if (number < 0 || number % 1 !== 0)
      throw wrongArgument("range", `${argument}[${index}]`, entry, "0 (hidden) or 1 (seen)");
    mask[index] = number === 0 ? 0 : 1;
  }
  return mask;
}

/** A whole number that fits a size; the core checks what it means. */
export function readCount(value: unknown, argument: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) {
    if (value === undefined)
      throw new PosLabError("missing", `${argument} is missing; a whole number is needed`, { argument });
    throw notWhole(argument, value);
  }
  return value;
}

/** The same, from 0. */
export function readNatural(value: unknown, argument: string): number {
  const count = readCount(value, argument);
  if (count < 0) throw wrongArgument("range", argument, value, "a whole number from 0");
  return count;
}

function notWhole(argument: string, given: unknown): PosLabError {
  const large = typeof given === "number" && Number.isInteger(given);
  const allowed = large ? `a whole number up to ${Number.MAX_SAFE_INTEGER}` : "a whole number";
  return wrongArgument(typeof given === "number" ? "range" : "type", argument, given, allowed);
}

/** true or false; nothing else counts as either. */
export function readTruth(value: unknown, argument: string): boolean {
  if (typeof value !== "boolean") throw wrongArgument("type", argument, value, "true or false");
  return value;
}

/** Something to be called, where it is given. */
export function checkCallback(value: unknown, argument: string): void {
  if (value !== undefined && typeof value !== "function") throw wrongArgument("type", argument, value, "a function");
}

/** An AbortSignal, where it is given. */
export function checkSignal(value: unknown): void {
  if (value === undefined || (value instanceof Object && "aborted" in value && "addEventListener" in value)) return;
  throw wrongArgument("type", "signal", value, "an AbortSignal");
}

export function tensorOf(result: { data: Float32Array; shape: number[] }): Tensor {
  return { data: result.data, shape: result.shape };
}

/** Refuses fields that an options object does not have: a misspelt option must not be ignored. */
export function checkOptions(options: unknown, known: readonly string[], argument = ""): asserts options is object {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw wrongArgument("type", argument || "options", options, `an object with ${known.join(", ")}`);
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const suggestion = nearestName(name, known);
    throw new PosLabError(
      "unknownName",
      `${argument ? `${argument}.` : ""}${name} is not known${suggestion ? `; did you mean "${suggestion}"?` : `; known are ${known.join(", ")}`}`,
      {
        argument: argument ? `${argument}.${name}` : name,
        given: name,
        ...(suggestion ? { suggestion } : {}),
      },
    );
  }
}

/** The known name with the smallest edit distance; undefined when more than half of the letters would change. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let smallest = Math.max(2, Math.floor(name.length / 2)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < smallest) [smallest, best] = [distance, candidate];
  }
  return best;
}

/** Edits (insert, delete, replace, swap of neighbours) between two short names. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const same = left[i - 1] === right[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    [beforeLast, last] = [last, row];
  }
  return last[right.length]!;
}
