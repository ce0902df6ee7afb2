// SPDX-License-Identifier: MIT
// What is known of a model before its weights are read: architecture, positions, sizes, memory, cautions.

import type { Position } from "../types.js";
import type { Recognized } from "./families/index.js";
import type { LoadingStep } from "./families/tensor-plan.js";
import type { Architecture, MemoryEstimate, Stack } from "./model-description.js";
import type { ModelFile } from "./stored-tensor.js";
import type { ModelTokenizer } from "./tokenizers/tokenizer.js";

/** wasm32 cannot address more. */
export const memoryLimit = 2 ** 32;

export interface ModelInfo {
  format: ModelFile["format"];
  /** model_type of the config, "poslab" for weights of an experiment */ modelType: string;
  /** the architecture in a sentence, with its paper */ about: string;
  architecture: Architecture;
  /** numbers that were learned */ parameters: number;
  /** number types of the tensors in the file with how many tensors have them */ types: Record<string, number>;
  /** of the files with the weights */ fileBytes: number;
  /** trained length; 0 when not known */ trainedLength: number;
  /** tokens that the config promises; null: it states no limit */ usableLength: number | null;
  /** longer inputs are refused, because a learned table ends; null: none is refused */ lengthLimit: number | null;
  /** bytes in the module's memory; `pass` is for `length` tokens */ memory: MemoryEstimate & {
    length: number;
    limit: number;
  };
  /** source of the tokenizer ("tokenizer.json", "GGUF", "llama2.c", "bytes", ...) and how many ids it knows */
  tokenizer: { source: string; vocabulary: number };
  /** what a careful reader should know */ cautions: readonly string[];
}

/** The stack that writes the logits. */
export function mainStack({ decoder, encoder }: Architecture): Stack {
  return (decoder ?? encoder)!;
}

export function countParameters(steps: readonly LoadingStep[]): number {
  // A fused tensor is in several steps.
  const tensors = new Set(steps.map(({ stored }) => stored));
  return [...tensors].reduce((sum, { shape }) => sum + shape.reduce((product, extent) => product * extent, 1), 0);
}

export function countTypes(file: ModelFile): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of file.tensors.values()) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

/** Learned tables end; nothing else does. Null: no end. */
export function lengthLimitOf(architecture: Architecture): number | null {
  const { position } = mainStack(architecture);
  const schemes = "type" in position ? [position] : position;
  const ends = schemes.flatMap((scheme) =>
    scheme.type === "learned" && scheme.rows ? [scheme.rows - (scheme.offset ?? 0)] : [],
  );
  return ends.length > 0 && !architecture.image ? Math.min(...ends) : null;
}

/** What the config leaves open or says twice, and what the tokenizer has to say. */
export function cautionsOf({ cautions, architecture }: Recognized, tokenizer: ModelTokenizer): string[] {
  const { head, vocabulary, image } = architecture;
  return [
    ...cautions,
    ...(head === null ? ["the files have no output head: the result is the last hidden state of each token"] : []),
    ...(tokenizer.source !== "bytes" && vocabulary > 0 && tokenizer.vocabulary > vocabulary
      ? [`the tokenizer knows ${tokenizer.vocabulary} ids and the model ${vocabulary}`]
      : []),
    ...(image ? [] : tokenizer.cautions),
  ];
}

/** A scheme in a few words: "rope, theta 10000, half, yarn x4". */
export function describePosition(position: Position): string {
  const words: string[] = [position.type];
  if (position.type === "rope") {
    words.push(`theta ${position.theta ?? 10000}`, `${position.layout ?? "half"} layout`);
    if (position.rotaryDim) words.push(`${position.rotaryDim} lanes of a head`);
    const { scaling } = position;
    if (scaling) words.push(`${scaling.ropeType}${scaling.factor ? ` x${scaling.factor}` : ""}`);
  }
  if (position.type === "learned") {
    words.push(`${position.rows ?? "?"} rows`);
    if (position.offset) words.push(`position 0 is row ${position.offset}`);
  }
  if (position.type === "t5") words.push(`${position.buckets ?? 32} buckets up to ${position.maxDistance ?? 128}`);
  if (position.type === "transformer-xl" && position.clampLength) words.push(`clamped at ${position.clampLength}`);
  if (position.type === "alibi")
    words.push(`${position.slopes && position.slopes !== "standard" ? "own" : "standard"} slopes`);
  return words.join(", ");
}
