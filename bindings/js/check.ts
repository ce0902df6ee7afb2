// SPDX-License-Identifier: MIT
// "poslab/check": runs a conformance case, a safetensors file with inputs, expected results and what to compute. The
// library checks itself with such files, and anybody's implementation can be checked by writing one.

import { type Case, type Operation, readCase, startingWith, unread } from "./check-case.js";
import { compare } from "./check-compare.js";
import { compute } from "./check-operations.js";
import { PosLabError } from "./errors.js";
import type { PosLab } from "./poslab.js";
import { hint, matchingConventions } from "./conventions/match.js";
import type { CaseResult } from "./run-types.js";
import { type TensorToWrite, writeSafetensors } from "./safetensors.js";

export type { CaseResult } from "./run-types.js";

/** What `diagnose` gives: the result of a case, and which conventions its expected values match. */
export interface Diagnosis extends CaseResult {
  /** each entry is one convention, or two that hold together; empty when the case passed or nothing fits */
  matches: readonly (readonly string[])[];
}

/** A case as an object, for those who have no file: its description and its tensors by name. */
export interface CaseObject {
  case: Record<string, unknown>;
  tensors: Record<string, TensorToWrite>;
}

/**
 * Runs one case. A failed one says where it differs most and, where that can be told, which other convention its
 * expected values match.
 * @throws PosLabError (format) when the bytes are not a case
 */
export function checkCase(lab: PosLab, bytes: Uint8Array): CaseResult {
  const { name, op, passed, maxAbsolute, maxRelative, message } = runCase(lab, readCase(bytes));
  return { name, op, passed, maxAbsolute, maxRelative, message };
}

/**
 * The same with the conventions as a list. A failed case is tried with what implementations do differently: layouts,
 * slopes, buckets, offsets, alignment, scale, the sign of distances, ...
 * @throws PosLabError (format) when it is not a case
 */
export function diagnose(lab: PosLab, given: Uint8Array | CaseObject): Diagnosis {
  const isFile = given instanceof Uint8Array;
  const bytes = isFile ? given : writeSafetensors(Object.entries(given.tensors), { case: JSON.stringify(given.case) });
  return runCase(lab, readCase(bytes));
}

function runCase(lab: PosLab, item: Case): Diagnosis {
  const { name, op } = item.description;
  const nothing = { name, op, maxAbsolute: null, maxRelative: null, matches: [] };
  if (op === "reject") return { ...nothing, ...reject(item, lab) };
  if (startingWith(item, "expected.").length === 0)
    throw new PosLabError("format", "not a case: no tensor is called expected.NAME", { argument: "case" });
  try {
    const comparison = compare(item, compute[op](item, lab));
    if (comparison.passed) return { name, op, ...comparison, matches: [] };
    const matches = matchingConventions(item, lab);
    const message = [comparison.message, hint(matches), notRead(item)].filter(Boolean).join("; ");
    return { name, op, ...comparison, message, matches };
  } catch (error) {
    if (!(error instanceof PosLabError) || error.code === "format") throw error;
    return { ...nothing, passed: false, message: `the call failed: ${error.message}` };
  }
}

function notRead(item: Case): string {
  const names = unread(item);
  return names.length > 0 ? `not read: ${names.join(", ")}` : "";
}

/** The call must fail, with an error of the library. */
function reject(item: Case, lab: PosLab): { passed: boolean; message: string } {
  const { call, reason } = item.description;
  try {
    compute[call as Exclude<Operation, "reject">](item, lab);
  } catch (error) {
    if (!(error instanceof PosLabError) || error.code === "format") throw error;
    return { passed: true, message: `refused: ${error.message}` };
  }
  return { passed: false, message: `the call was accepted, though ${reason ?? "it should fail"}` };
}
