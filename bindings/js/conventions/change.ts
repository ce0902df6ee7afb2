// SPDX-License-Identifier: MIT
// A case with one convention changed, and the ways of changing: a field of the scheme, a field of the call, a tensor.

import type { Case, CaseDescription, Got } from "../check-case.js";
import type { PosLab } from "../poslab.js";
import type { FileTensor } from "../run-types.js";

/** A convention that differs from the case's, in the words of the message. */
export interface Convention {
  label: string;
  /** the case under that convention */ item: Case;
  /** what comes out under it, where no case can say it */ results?: (lab: PosLab) => ReadonlyMap<string, Got>;
}

export type Scheme = Record<string, unknown> & { type: string };

export function schemeOf(item: Case): Scheme {
  return item.description.position as unknown as Scheme;
}

export function withCall(item: Case, label: string, change: Partial<CaseDescription>): Convention {
  return { label, item: { ...item, description: { ...item.description, ...change } } };
}

export function withScheme(item: Case, label: string, change: Record<string, unknown>): Convention {
  const position = { ...schemeOf(item), ...change } as unknown as NonNullable<CaseDescription["position"]>;
  return withCall(item, label, { position });
}

/** Tensors replaced or added; null takes one away. */
export function withTensors(item: Case, label: string, change: Record<string, FileTensor | null>): Convention {
  const tensors = new Map(item.tensors);
  for (const [name, tensor] of Object.entries(change)) {
    if (tensor) tensors.set(name, tensor);
    else tensors.delete(name);
  }
  return { label, item: { ...item, tensors } };
}

/** The numbers of a tensor, one by one. */
export function mapNumbers(tensor: FileTensor, change: (value: number, index: number) => number): FileTensor {
  return { ...tensor, dtype: "F64", data: Float64Array.from(numbersOf(tensor), change) };
}

export function numbersOf({ data }: FileTensor): number[] {
  return Array.from(data as ArrayLike<number | bigint>, Number);
}

/** The entries of the last axis in another order, or of the first with `axis` 0. */
export function reorder(tensor: FileTensor, order: readonly number[], axis: "first" | "last"): FileTensor {
  const numbers = numbersOf(tensor);
  const extent = order.length;
  const block = axis === "last" ? 1 : numbers.length / extent;
  const data = numbers.map((_, index) => {
    const place = Math.floor(index / block) % extent;
    return numbers[index + (order[place]! - place) * block]!;
  });
  return { ...tensor, dtype: "F64", data: Float64Array.from(data) };
}

/** Integer ids as a tensor of a file. */
export function ids(values: readonly number[]): FileTensor {
  return { dtype: "I64", shape: [values.length], data: BigInt64Array.from(values, BigInt) };
}

/** Every expected tensor changed. */
export function withExpected(item: Case, label: string, change: (tensor: FileTensor) => FileTensor): Convention {
  const expected = [...item.tensors].filter(
    ([name, { data }]) => name.startsWith("expected.") && !(data instanceof BigInt64Array),
  );
  return withTensors(item, label, Object.fromEntries(expected.map(([name, tensor]) => [name, change(tensor)])));
}
