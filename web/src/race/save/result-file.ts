// SPDX-License-Identifier: MIT
// A result that somebody saved, here or with the command, read back. It comes from anywhere: everything in it is checked.

import * as v from "valibot";
import { completeExperiment, resultSchema, type CompleteExperiment, type RunResult } from "../../engine/poslab.js";
import { readError, type CoreError } from "../../language/core-errors.js";
import { isSchemeType } from "../../schemes/looks.js";
import type { Shown } from "../shown.js";

export const kLargestResult = 32 * 1024 * 1024;

export type ResultProblem =
  | { kind: "not-json" }
  /** something is missing or of another kind: where */
  | { kind: "not-result"; where: string }
  | { kind: "refused"; error: CoreError }
  | { kind: "unknown-scheme"; type: string }
  /** a run that its experiment does not have */
  | { kind: "foreign-run"; encoding: number; seed: number };

/** `date` is the file's, in milliseconds since 1970. */
export function readResult(text: string, date: number): { shown: Shown } | { problem: ResultProblem } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: { kind: "not-json" } };
  }
  const parsed = v.safeParse(resultSchema, json);
  if (!parsed.success) return { problem: { kind: "not-result", where: v.getDotPath(parsed.issues[0]) ?? "" } };
  let experiment: CompleteExperiment;
  try {
    experiment = completeExperiment(parsed.output.experiment);
  } catch (error) {
    return { problem: { kind: "refused", error: readError(error) } };
  }
  const unknown = experiment.encodings.find(({ type }) => !isSchemeType(type));
  if (unknown) return { problem: { kind: "unknown-scheme", type: unknown.type } };
  const runs = parsed.output.runs as unknown as RunResult[];
  const foreign = runs.find(
    ({ encoding, seed }) => encoding >= experiment.encodings.length || !experiment.seeds.includes(seed),
  );
  if (foreign) return { problem: { kind: "foreign-run", encoding: foreign.encoding, seed: foreign.seed } };
  const { version, variant } = parsed.output.build;
  return { shown: { source: "opened", date, build: { version, variant }, experiment, runs } };
}
