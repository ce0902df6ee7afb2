// SPDX-License-Identifier: MIT
// A scheme ready to be looked at: its object completed with the tensors that it learns, as training would start them, and
// the sizes around it. Every number that the page shows of it comes through here from the package.

import type { Position, PosLab } from "../../engine/poslab.js";
import type { SchemeObject } from "../../state/page-link.js";
import type { GateReaders } from "../../schemes/gates.js";
import { readError, type CoreError } from "../../language/core-errors.js";
import { withTables } from "../../schemes/zero-tables.js";
import type { Sizes } from "../settings.js";
import { normalSource, randomSource } from "./vectors.js";

export type HookName = "embedding" | "rotation" | "score" | "value";

export interface Subject {
  lab: PosLab;
  /** as the visitor set it, without tensors */ scheme: SchemeObject;
  /** with its tensors: what calls take */ position: Position;
  hooks: readonly HookName[];
  /** for a scheme that takes gates beside vectors */ gateReaders: GateReaders | null;
  /** names and shapes of the tensors that it learns */ learned: readonly { name: string; shape: readonly number[] }[];
  sizes: Sizes;
}

/** @throws PosLabError when the scheme cannot be had with these fields and sizes */
export function openSubject(lab: PosLab, scheme: SchemeObject, sizes: Sizes): Subject {
  const plain = scheme as unknown as Position;
  const { hooks = [], gates = false } = lab.info.schemes.find(({ type }) => type === scheme.type) ?? {};
  const { length, heads, headDim, seed } = sizes;
  const others = { length, heads, headDim, seed };
  // A call is given gates and takes the tensors that are left without a model around it; gates are read off keys.
  const start = lab.startParameters(plain, gates ? others : { ...others, dim: sizes.dim });
  const tensors = withTables(start, normalSource(randomSource(seed)));
  const readers = gates ? lab.startParameters(plain, { ...others, dim: headDim }) : {};
  const learned = Object.entries({ ...readers, ...tensors }).map(([name, { shape }]) => ({ name, shape }));
  const gateReaders = gates ? (readers as unknown as GateReaders) : null;
  return { lab, scheme, position: { ...plain, ...tensors } as Position, hooks, gateReaders, learned, sizes };
}

export const acts = (subject: Subject, hook: HookName): boolean => subject.hooks.includes(hook);

/** What a computation gives, or what the package said against it. */
export type Attempt<T> = { value: T; refused?: undefined } | { value?: undefined; refused: CoreError };

export function attempt<T>(compute: () => T): Attempt<T> {
  try {
    return { value: compute() };
  } catch (error) {
    return { refused: readError(error) };
  }
}

/** start, start + 1, ... */
export const counting = (count: number, start = 0): number[] =>
  Array.from({ length: count }, (_, index) => start + index);
