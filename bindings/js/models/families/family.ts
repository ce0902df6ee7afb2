// SPDX-License-Identifier: MIT
// What a row of the table of families is: how its config becomes an `Architecture`, and where each canonical tensor
// (model-description.ts) lies in its files. Adding an architecture of known shape is one such row.

import type { Architecture, Stack } from "../model-description.js";
import type { Config } from "./config.js";
import type { Conventions } from "./conventions.js";

/**
 * Where a tensor lies. A text is the name in the file, or of a module: "{n}" stands for the block, "{n+1}" for the block
 * counted from 1, "{end}" for the number of blocks + 1. For a module's tensor the file's own leaf is added: ".weight" for
 * weight, gain and table, ".bias" for bias.
 */
export type Place =
  | string
  | {
      from: string;
      /** the file has [in, out] */ transposed?: true;
      /** 1 is added to each number: gains stored as differences from 1 (Gemma) */ plusOne?: true;
      part?: Part;
    };

/** Some rows of a tensor that holds several: `groups` times the parts of `sizes` follow each other. */
export interface Part {
  index: number;
  groups: (stack: Stack) => number;
  /** rows of each part in one group */ sizes: (stack: Stack, architecture: Architecture) => readonly number[];
}

/** Canonical name of a tensor, or of a module (without its last part), to its place. "{n}" stands for the block. */
export type Places = Readonly<Record<string, Place>>;

/** What a family's functions get to know. */
export interface FamilyInput {
  config: Config;
  /** how positions work, by the config explainer */ conventions: Conventions;
  /** whether the files have a tensor of this name, with or without the family's prefix */ has(name: string): boolean;
  /** the shape of a tensor */ shapeOf(name: string): readonly number[] | undefined;
}

export interface Family {
  /** values of model_type */ types: readonly string[];
  /** the model class that this is in the field's own words, with its paper */ about: string;
  /** names may all begin with this, or all lack it (checkpoints of the bare model do) */ prefix?: string;
  architecture(input: FamilyInput): Architecture;
  /** null: the files have the canonical names */ places: Places | ((input: FamilyInput) => Places) | null;
  /** names (without the prefix) that hold nothing which is needed here: caches, buffers, heads of other tasks */
  ignored?: RegExp;
}

export const kvHeads = (stack: Stack): number => stack.keyValueHeads ?? stack.heads;
const headDim = (stack: Stack, { dim }: Architecture): number => stack.headDim ?? dim / stack.heads;

/** `names` lie in `from` one after the other, `sizes` rows each. */
function parts(
  names: readonly string[],
  from: string,
  groups: Part["groups"],
  sizes: Part["sizes"],
  more: { transposed?: true } = {},
): Record<string, Place> {
  return Object.fromEntries(names.map((name, index) => [name, { from, ...more, part: { index, groups, sizes } }]));
}

const queryKeyValue = ["query", "key", "value"].map((name) => `blocks.{n}.attention.${name}`);
const one = (): number => 1;

/** All queries, then all keys, then all values (GPT-2, MPT, Phi-3, GGUF). */
export function queriesKeysValues(from: string, more: { transposed?: true } = {}): Record<string, Place> {
  const sizes: Part["sizes"] = (stack, architecture) => {
    const width = headDim(stack, architecture);
    return [stack.heads * width, kvHeads(stack) * width, kvHeads(stack) * width];
  };
  return parts(queryKeyValue, from, one, sizes, more);
}

/** For each key/value head its queries, its key, its value (BLOOM and GPT-NeoX: head by head; Falcon-40B: in groups). */
export function headByHead(from: string): Record<string, Place> {
  const sizes: Part["sizes"] = (stack, architecture) => {
    const width = headDim(stack, architecture);
    return [(stack.heads / kvHeads(stack)) * width, width, width];
  };
  return parts(queryKeyValue, from, kvHeads, sizes);
}

/** The gate above the other half (Phi-3, ChatGLM, GGUF's fused form). */
export function gateThenIn(from: string): Record<string, Place> {
  const names = ["gate", "in"].map((name) => `blocks.{n}.feedForward.${name}`);
  return parts(names, from, one, ({ feedForward }) => [feedForward, feedForward]);
}

/** PaLM-pytorch: queries, key, value, then the two halves of the feed-forward part, the gate last. */
export function attentionAndFeedForward(from: string): Record<string, Place> {
  const names = [...queryKeyValue, "blocks.{n}.feedForward.in", "blocks.{n}.feedForward.gate"];
  return parts(names, from, one, (stack, architecture) => {
    const width = headDim(stack, architecture);
    const keys = kvHeads(stack) * width;
    return [stack.heads * width, keys, keys, stack.feedForward, stack.feedForward];
  });
}

/** The same modules for each name: `{ query: "q_proj" }` under two prefixes. */
export function modules(
  canonical: string,
  inFile: string,
  names: Readonly<Record<string, string>>,
): Record<string, Place> {
  return Object.fromEntries(
    Object.entries(names).map(([name, own]) => [canonical + name, inFile + own] as [string, Place]),
  );
}
