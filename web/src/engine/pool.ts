// SPDX-License-Identifier: MIT
// Opens pools of workers. The module that talks to them is loaded when something is to be computed, not with the page.

import { corpusText } from "./corpora.js";
import type { CompleteExperiment, RunPool } from "./poslab.js";
import { ownText } from "../state/fields.js";

/** How many runs are worked on at once unless there are fewer. */
export const cores = (): number => Math.max(1, navigator.hardwareConcurrency || 2);

export async function openPool(
  experiment: CompleteExperiment,
  runs: number,
  ownBytes: Uint8Array | null,
): Promise<RunPool> {
  const [{ createRunPool }, corpora] = await Promise.all([import("poslab/run"), corporaOf(experiment, ownBytes)]);
  return createRunPool({
    workers: Math.min(cores(), Math.max(1, runs)),
    createWorker: () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
    corpora,
  });
}

async function corporaOf(
  { task }: CompleteExperiment,
  ownBytes: Uint8Array | null,
): Promise<Record<string, Uint8Array>> {
  if (task.type !== "text" || task.corpus === undefined) return {};
  if (task.corpus === ownText) return ownBytes ? { [ownText]: ownBytes } : {};
  return { [task.corpus]: await corpusText(task.corpus) };
}
