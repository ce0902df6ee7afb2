// SPDX-License-Identifier: MIT
// What came out beside what was expected: the largest errors, and where it is worst.

import { type Case, type Got, startingWith } from "./check-case.js";
import type { FileTensor } from "./run-types.js";

const defaultTolerance = { absolute: 1e-5, relative: 1e-5 };

export interface Comparison {
  passed: boolean;
  maxAbsolute: number | null;
  maxRelative: number | null;
  message: string;
}

/** Compares each expected tensor with what the operation gave under its name. */
export function compare(item: Case, results: ReadonlyMap<string, Got>): Comparison {
  const tolerance = { ...defaultTolerance, ...item.description.tolerance };
  let maxAbsolute = 0;
  let maxRelative = 0;
  let worst: { excess: number; message: string } | undefined;
  const note = (excess: number, message: () => string): void => {
    if (!worst || excess > worst.excess) worst = { excess, message: message() };
  };
  for (const [name, expected] of startingWith(item, "expected.")) {
    const got = results.get(name);
    if (!got) {
      note(Infinity, () => `expected.${name}: this operation gives ${[...results.keys()].join(", ")}`);
      continue;
    }
    if (got.shape.join() !== expected.shape.join()) {
      note(
        Infinity,
        () => `expected.${name} has the shape [${expected.shape.join(", ")}], and [${got.shape.join(", ")}] came out`,
      );
      continue;
    }
    for (let index = 0; index < got.data.length; index += 1) {
      const wanted = Number((expected.data as ArrayLike<number | bigint>)[index]);
      const value = got.data[index]!;
      if (value === wanted || (Number.isNaN(value) && Number.isNaN(wanted))) continue;
      const difference = Math.abs(value - wanted);
      const absolute = Number.isNaN(difference) ? Infinity : difference;
      maxAbsolute = Math.max(maxAbsolute, absolute);
      if (wanted !== 0) maxRelative = Math.max(maxRelative, absolute / Math.abs(wanted) || 0);
      const allowed = tolerance.absolute + tolerance.relative * Math.abs(wanted);
      if (!(absolute <= allowed))
        note(
          absolute - (Number.isFinite(allowed) ? allowed : 0),
          () => `${place(name, expected, index)}: ${wanted} is expected, and ${value} came out`,
        );
    }
  }
  return { passed: worst === undefined, maxAbsolute, maxRelative, message: worst?.message ?? "" };
}

/** expected.output[1, 4, 0] */
function place(name: string, { shape }: FileTensor, index: number): string {
  const indices: number[] = [];
  let rest = index;
  for (const extent of [...shape].reverse()) {
    indices.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return `expected.${name}[${indices.join(", ")}]`;
}
