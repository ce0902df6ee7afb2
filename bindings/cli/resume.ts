// SPDX-License-Identifier: MIT
// Reading back what an interrupted `poslab extrapolate` left: a result with the finished runs and the state beside it. Both
// come from outside, so they are checked before anything goes on from them.

import * as v from "valibot";
import { completeExperiment } from "../js/experiment.js";
import { resultSchema } from "../js/result-schema.js";
import type { CompleteExperiment, ExperimentState, RunResult } from "../js/types.js";
import { isPosLabError, Refusal } from "./failure.js";
import { readJson } from "./files.js";
import { loadState, type CorpusMark } from "./state-file.js";

export interface Resumed {
  experiment: CompleteExperiment;
  build: { version: string; variant: string };
  state: ExperimentState;
  corpus: CorpusMark | null;
}

export function readInterrupted(path: string): Resumed {
  const parsed = v.safeParse(resultSchema, readJson(path));
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const where = v.getDotPath(issue);
    throw new Refusal(
      `option '--resume': ${path} is not a result of poslab extrapolate: ${where ? `${where}: ` : ""}${issue.message}`,
    );
  }
  let experiment: CompleteExperiment;
  try {
    experiment = completeExperiment(parsed.output.experiment);
  } catch (error) {
    throw isPosLabError(error) ? new Refusal(`option '--resume': ${path}: ${error.message}`) : error;
  }
  // A run that was stopped (it diverged, its worker died) gets another chance.
  const runs = (parsed.output.runs as unknown as RunResult[]).filter(({ stopped }) => !stopped);
  const { unfinished, corpus } = loadState(path);
  for (const { encoding, seed } of [...runs, ...unfinished]) {
    if (encoding >= experiment.encodings.length || !experiment.seeds.includes(seed)) {
      throw new Refusal(
        `option '--resume': ${path} has a run of encoding ${encoding} with seed ${seed}, which its experiment does not have`,
      );
    }
  }
  const finished = new Set(runs.map(({ encoding, seed }) => `${encoding}.${seed}`));
  return {
    experiment,
    build: parsed.output.build,
    corpus,
    state: { runs, unfinished: unfinished.filter(({ encoding, seed }) => !finished.has(`${encoding}.${seed}`)) },
  };
}
