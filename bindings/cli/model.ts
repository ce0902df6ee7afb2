// SPDX-License-Identifier: MIT
// `poslab model`: what a checkpoint is, how its positions work and how far they reach, without reading its weights; or,
// with --check, whether its logits and attention weights are those of the reference beside it.

import { describePosition, inspectModel, type ModelInfo, type Stack } from "../js/models.js";
import { describeBytes } from "./byte-count.js";
import { colors } from "./colors.js";
import { exitStatus } from "./failure.js";
import { checkModel } from "./model-check.js";
import { type ModelOptions, openingOptions } from "./model-opening.js";

export async function model(
  path: string,
  options: ModelOptions & { check?: boolean; json?: boolean },
): Promise<number> {
  if (options.check) return checkModel(path, options);
  const info = await inspectModel(path, openingOptions(options));
  process.stdout.write(options.json ? `${JSON.stringify(info)}\n` : report(info));
  return exitStatus.done;
}

function report(info: ModelInfo): string {
  const { architecture, memory, tokenizer } = info;
  const rows: [string, string][] = [
    ["model", `${info.modelType}: ${info.about}`],
    ["file", `${info.format}, ${describeBytes(info.fileBytes)}, ${typesOf(info)}`],
    ["parameters", info.parameters.toLocaleString("en-US")],
    ...stackRows(architecture.encoder, architecture.decoder ? "encoder" : "stack"),
    ...stackRows(architecture.decoder, architecture.encoder ? "decoder" : "stack"),
    ["trained length", info.trainedLength > 0 ? String(info.trainedLength) : "not stated"],
    ["usable length", usableLength(info)],
    ["tokenizer", architecture.image ? "none: images" : `${tokenizer.source}, ${tokenizer.vocabulary} ids`],
    [
      "memory",
      `${describeBytes(memory.weights)} for the weights, ${describeBytes(memory.pass)} for a pass over ${memory.length} tokens${memory.weights > memory.limit ? `; it cannot be opened: at most ${describeBytes(memory.limit)} can be addressed` : ""}`,
    ],
    ...info.cautions.map((caution): [string, string] => ["caution", caution]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, text]) => `${colors.bold(name.padEnd(width))}${text}\n`).join("");
}

function usableLength({ usableLength: promised, lengthLimit }: ModelInfo): string {
  const parts = [
    promised === null ? "the config states no limit" : `${promised}, as the config promises`,
    ...(lengthLimit === null ? [] : [`longer input than ${lengthLimit} is refused`]),
  ];
  return parts.join("; ");
}

function typesOf({ types }: ModelInfo): string {
  return Object.entries(types)
    .map(([type, count]) => `${count} tensors of ${type}`)
    .join(", ");
}

function stackRows(stack: Stack | undefined, name: string): [string, string][] {
  if (!stack) return [];
  const { layers, heads, keyValueHeads = heads, headDim, feedForward, norm, parallel, causal } = stack;
  const shape = [
    `${layers} layers`,
    `${heads} heads${keyValueHeads === heads ? "" : ` (${keyValueHeads} of keys and values)`}${headDim ? ` of ${headDim}` : ""}`,
    `feed-forward ${feedForward}${stack.gated ? " gated" : ""} ${stack.activation}`,
    `${norm.place}-norm ${norm.kind}`,
    ...(parallel ? ["parallel block"] : []),
    causal ? "causal" : "bidirectional",
  ];
  return [[name, shape.join(", ")], ["positions", positionsOf(stack)], ...windowsOf(stack)];
}

/** Equal schemes of several layers are said once, with how many layers they are for. */
function positionsOf({ position }: Stack): string {
  if ("type" in position) return describePosition(position);
  return counted(position.map(describePosition)).join("; ");
}

function windowsOf({ window }: Stack): [string, string][] {
  if (window === null || window === undefined) return [];
  if (typeof window === "number") return [["window", String(window)]];
  if (window.every((one) => one === null)) return [];
  return [["window", counted(window.map((one) => (one === null ? "none" : String(one)))).join("; ")]];
}

function counted(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts.size === 1 ? [texts[0]!] : [...counts].map(([text, count]) => `${text} (${count} layers)`);
}
