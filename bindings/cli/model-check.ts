// SPDX-License-Identifier: MIT
// `poslab model DIR --check`: runs the inputs of reference.safetensors and compares logits and attention weights, one
// line a tensor. The tensors' names: input.*, long.*, padded.*, memory.* and what is expected of them.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileTensor, TensorFile } from "../js/run-types.js";
import { readSafetensors } from "../js/safetensors.js";
import type { Tensor } from "../js/types.js";
import type { AttentionKind, InputOptions, Model } from "../js/models.js";
import { colors } from "./colors.js";
import { exitStatus, isPosLabError, oneLine, Refusal } from "./failure.js";
import { isFolder, readBytes } from "./files.js";
import { type ModelOptions, openForCommand } from "./model-opening.js";

/** Largest absolute differences that pass: float32 stays within 2e-5, one wrong row of a table makes 0.08 and more. */
const tolerances = { logits: 1e-3, attention: 1e-4 };

interface Line {
  name: string;
  passed: boolean;
  maxAbsolute: number | null;
  message: string;
}

export async function checkModel(path: string, options: ModelOptions & { json?: boolean }): Promise<number> {
  const reference = readReference(path);
  const model = await openForCommand(path, { ...options, quiet: true });
  let failed = 0;
  let passed = 0;
  for (const line of compareAll(model, reference)) {
    if (line.passed) passed += 1;
    else failed += 1;
    process.stdout.write(`${options.json ? JSON.stringify(line) : shown(line)}\n`);
  }
  model.dispose();
  if (!options.json) process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed > 0 ? exitStatus.failed : exitStatus.done;
}

function readReference(path: string): TensorFile {
  const file = join(isFolder(path) ? path : dirname(path), "reference.safetensors");
  if (!existsSync(file)) throw new Refusal(`option '--check': there is no ${file} to compare with`);
  try {
    return readSafetensors(readBytes(file));
  } catch (error) {
    throw new Refusal(`option '--check': ${file}: ${(error as Error).message}`);
  }
}

function shown({ name, passed, maxAbsolute, message }: Line): string {
  const parts = [passed ? colors.green("pass") : colors.red("fail"), name];
  if (maxAbsolute !== null) parts.push(`absolute ${maxAbsolute === 0 ? "0" : maxAbsolute.toExponential(1)}`);
  if (message) parts.push(oneLine(message));
  return parts.join("  ");
}

const attentionKinds: Record<string, AttentionKind> = {
  attention: "encoder",
  decoderAttention: "decoder",
  crossAttention: "cross",
};

/** The groups in the order in which they run: a second segment needs the memory of the first one. */
const groups = [
  { prefix: "expected", input: "input" },
  { prefix: "memory", input: "memory" },
  { prefix: "long", input: "long" },
  { prefix: "padded", input: "padded" },
] as const;

/** One line a tensor of the reference. */
export function* compareAll(model: Model, reference: TensorFile): Generator<Line> {
  for (const { prefix, input } of groups) {
    const names = [...reference.tensors.keys()].filter((name) =>
      new RegExp(`^${prefix}\\.(logits|\\w*[aA]ttention\\.\\d+)$`).test(name),
    );
    // Logits first: attention is that of the last input.
    names.sort((a, b) => Number(b.endsWith("logits")) - Number(a.endsWith("logits")));
    let problem: string | null = null;
    let logits: Tensor | null = null;
    try {
      if (names.length > 0) logits = run(model, reference, input);
    } catch (error) {
      if (!isPosLabError(error)) throw error;
      problem = error.message;
    }
    for (const name of names) {
      if (problem !== null || !logits) yield { name, passed: false, maxAbsolute: null, message: problem ?? "no input" };
      else yield compareOne(model, reference, name, logits, input);
    }
  }
}

function run(model: Model, { tensors }: TensorFile, input: string): Tensor {
  const find = (name: string): FileTensor | undefined => tensors.get(`${input}.${name}`);
  const pixels = find("pixels");
  if (pixels) return model.logits({ data: Float32Array.from(pixels.data as Float32Array), shape: pixels.shape });
  const ids = find("ids");
  if (!ids) throw new Refusal(`option '--check': the reference has no ${input}.ids`);
  const decoder = find("decoder.ids") ?? tensors.get("decoder.ids");
  const mask = find("mask");
  const positions = find("positions");
  const options: InputOptions = {
    ...(model.info.architecture.encoder && decoder ? { decoderIds: numbers(decoder) } : {}),
    ...(mask ? { attentionMask: numbers(mask) } : {}),
    ...(positions ? { positions: numbers(positions) } : {}),
    ...(input === "memory" ? { memory: model.memory() } : {}),
  };
  return model.logits(numbers(ids), options);
}

function numbers({ data }: FileTensor): number[] {
  return Array.from(data as ArrayLike<number | bigint>, Number);
}

function compareOne(model: Model, { tensors }: TensorFile, name: string, logits: Tensor, input: string): Line {
  const expected = tensors.get(name)!;
  const [, kind, layer] = name.split(".") as [string, string, string?];
  const isLogits = kind === "logits";
  const { encoder, decoder } = model.info.architecture;
  const attentionKind = encoder && decoder ? attentionKinds[kind]! : undefined;
  const got = isLogits
    ? logits
    : model.attention(Number(layer), undefined, attentionKind ? { kind: attentionKind } : {});
  if (got.shape.join() !== expected.shape.join())
    return {
      name,
      passed: false,
      maxAbsolute: null,
      message: `the shape is [${got.shape.join(", ")}], [${expected.shape.join(", ")}] is expected`,
    };
  // Rows of padding mean nothing; those of a decoder are none of the encoder's padding.
  const mask = tensors.get(`${input}.mask`);
  const skipped = isLogits && mask && !(encoder && decoder) ? numbers(mask) : null;
  const maxAbsolute = largestDifference(got, expected, skipped);
  const tolerance = isLogits ? tolerances.logits : tolerances.attention;
  const passed = maxAbsolute <= tolerance;
  return { name, passed, maxAbsolute, message: passed ? "" : `${tolerance} is allowed` };
}

/** NaN where a number is none. */
function largestDifference(got: Tensor, expected: FileTensor, mask: readonly number[] | null): number {
  const width = got.shape.at(-1) ?? 1;
  let largest = 0;
  for (let index = 0; index < got.data.length; index += 1) {
    if (mask && mask[Math.floor(index / width)] === 0) continue;
    const difference = Math.abs(got.data[index]! - Number(expected.data[index]));
    if (!(difference <= largest)) largest = difference;
    if (Number.isNaN(difference)) return NaN;
  }
  return largest;
}
