// SPDX-License-Identifier: MIT
// Three rows of a toy task to check its rule by hand, as training draws them; "·" stands where nothing is asked. The
// module is loaded when the first toy task is looked at.

import type { PosLab, Task } from "../../engine/poslab.js";

export interface SampleRow {
  input: string;
  answer: string;
}

/** Short enough to read. */
const kLength = 20;
const kRows = 3;
const kMostSeeds = 100;
const kNothing = "·";

let lab: Promise<PosLab> | undefined;

async function loadLab(): Promise<PosLab> {
  const { loadPosLab } = await import("poslab");
  return loadPosLab();
}

export async function sampleRows(task: Task): Promise<SampleRow[]> {
  lab ??= loadLab();
  lab.catch(() => (lab = undefined)); // the next task asks again
  const loaded = await lab;
  const reach =
    task.type === "lookback" ? (task.distance ?? 0) : task.type === "fixed-position" ? (task.position ?? 0) : 0;
  const rows: SampleRow[] = [];
  // A row in which nothing is asked (coins without a clear majority) shows nothing of the rule.
  for (let seed = 1; rows.length < kRows && seed <= kMostSeeds; seed += 1) {
    const { symbols, answers } = loaded.sample(task, { length: Math.max(kLength, reach + 8), seed });
    if (answers.every((answer) => answer === null)) continue;
    rows.push({ input: symbols.join(""), answer: answers.map((answer) => answer ?? kNothing).join("") });
  }
  return rows;
}
