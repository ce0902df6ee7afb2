// SPDX-License-Identifier: MIT
// A scheme ready to be looked at: its object completed with the tensors that it learns, as training would start them, and
// the sizes around it. Every number that the page shows of it comes through here from the package.

import type { Position, PosLab } from "../../engine/poslab.js";
import type { SchemeObject } from "../../state/page-link.js";
import type { Sizes } from "../settings.js";

export type HookName = "embedding" | "rotation" | "score" | "value";

export interface Subject {
  lab: PosLab;
  /** as the visitor set it, without tensors */ scheme: SchemeObject;
  /** with its tensors: what calls take */ position: Position;
  hooks: readonly HookName[];
  /** names and shapes of the tensors that it learns */ learned: readonly { name: string; shape: readonly number[] }[];
  sizes: Sizes;
}

/** @throws PosLabError when the scheme cannot be had with these fields and sizes */
export function openSubject(lab: PosLab, scheme: SchemeObject, sizes: Sizes): Subject {
  const plain = scheme as unknown as Position;
  const { length, dim, heads, headDim, seed } = sizes;
  const tensors = lab.startParameters(plain, { length, dim, heads, headDim, seed });
  const learned = Object.entries(tensors).map(([name, { shape }]) => ({ name, shape }));
  const hooks = lab.info.schemes.find(({ type }) => type === scheme.type)?.hooks ?? [];
  return { lab, scheme, position: { ...plain, ...tensors } as Position, hooks, learned, sizes };
}

export const acts = (subject: Subject, hook: HookName): boolean => subject.hooks.includes(hook);

/** What a computation gives, or what the package said against it. */
export type Attempt<T> = { value: T; refused?: undefined } | { value?: undefined; refused: string };

export function attempt<T>(compute: () => T): Attempt<T> {
  try {
    return { value: compute() };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

/** start, start + 1, ... */
export const counting = (count: number, start = 0): number[] =>
  Array.from({ length: count }, (_, index) => start + index);
