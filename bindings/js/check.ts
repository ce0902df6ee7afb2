// SPDX-License-Identifier: MIT
// "poslab/check": runs a conformance case, a safetensors file with inputs, expected results and what to compute. The
// library checks itself with such files, and anybody's implementation can be checked by writing one.

import { type Case, type Got, readCase, startingWith } from "./check-case.js";
import { variantsOf } from "./check-hints.js";
import { compute } from "./check-operations.js";
import { PosLabError } from "./errors.js";
import type { PosLab } from "./poslab.js";
import type { CaseResult, FileTensor } from "./run-types.js";

export type { CaseResult } from "./run-types.js";

const defaultTolerance = { absolute: 1e-5, relative: 1e-5 };

/**
 * Runs one case. A failed one says where it differs most and, where that can be told, which other convention its
 * expected values match.
 * @throws PosLabError (format) when the bytes are not a case
 */
export function checkCase(lab: PosLab, bytes: Uint8Array): CaseResult {
  const item = readCase(bytes);
  const { name, op } = item.description;
  const nothing = { name, op, maxAbsolute: null, maxRelative: null };
  if (op === "reject") return { ...nothing, ...reject(item, lab) };
  if (startingWith(item, "expected.").length === 0)
    throw new PosLabError("format", "not a case: nothing is expected", { argument: "case" });
  try {
    const comparison = compare(item, compute[op](item, lab));
    if (comparison.passed) return { name, op, ...comparison };
    return { name, op, ...comparison, message: [comparison.message, hint(item, lab)].filter(Boolean).join("; ") };
  } catch (error) {
    if (!(error instanceof PosLabError) || error.code === "format") throw error;
    return { ...nothing, passed: false, message: `the call failed: ${error.message}` };
  }
}

/** The call must fail, with an error of the library. */
function reject(item: Case, lab: PosLab): { passed: boolean; message: string } {
  const { call, reason } = item.description;
  if (call === undefined || call === "reject")
    return { passed: false, message: `${String(call)} cases cannot be rejected yet` };
  try {
    compute[call](item, lab);
  } catch (error) {
    if (!(error instanceof PosLabError) || error.code === "format") throw error;
    return { passed: true, message: `refused: ${error.message}` };
  }
  return { passed: false, message: `the call was accepted, though ${reason ?? "it should fail"}` };
}

interface Comparison {
  passed: boolean;
  maxAbsolute: number | null;
  maxRelative: number | null;
  message: string;
}

function compare(item: Case, results: ReadonlyMap<string, Got>): Comparison {
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

/** The first convention that the expected values match, or nothing. */
function hint(item: Case, lab: PosLab): string {
  const { op } = item.description;
  if (op === "reject" || op === "config" || op === "training") return "";
  for (const { label, item: changed } of variantsOf(item)) {
    try {
      if (compare(changed, compute[op](changed, lab)).passed) return `matches ${label}`;
    } catch (error) {
      if (!(error instanceof PosLabError)) throw error; // a convention that this call cannot have
    }
  }
  return "";
}
