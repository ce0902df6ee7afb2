// SPDX-License-Identifier: MIT
// How fast this device trains: from the last run here, or from a third of a second of a toy task in a worker.

import { openPool } from "../engine/pool.js";
import { completeExperiment, type CompleteExperiment, type RunResult } from "../engine/poslab.js";
import { recall, remember } from "../shell/preferences.js";
import { speedOf } from "./estimate.js";

/** The built-in model on a toy task: needs no text. */
const kProbe = { task: { type: "first" as const }, encodings: [{ type: "rope" as const }], training: { steps: 1000 } };
const kProbeVocabulary = 16;
const kWarmupSteps = 2;
const kProbeMilliseconds = 300;

export class Speed {
  /** operations a second of one worker, null while unknown */ value = $state<number | null>(stored());

  learn(experiment: CompleteExperiment, run: RunResult, vocabulary: number): void {
    if (!(run.tokensPerSecond > 0)) return;
    this.#put(speedOf(experiment, run.encoding, vocabulary, run.tokensPerSecond));
  }

  /** Only when nothing is known yet. */
  async probe(): Promise<void> {
    if (this.value !== null) return;
    const experiment = completeExperiment(kProbe);
    const pool = await openPool(experiment, 1, null);
    try {
      const run = await pool.open({ experiment, encoding: 0, seed: 1 });
      await run.step(kWarmupSteps);
      const start = performance.now();
      let steps = 0;
      while (performance.now() - start < kProbeMilliseconds) {
        await run.step(2);
        steps += 2;
      }
      const { batch, length } = experiment.training;
      this.#put(
        speedOf(experiment, 0, kProbeVocabulary, (steps * batch * length) / ((performance.now() - start) / 1000)),
      );
    } finally {
      await pool.close();
    }
  }

  #put(value: number): void {
    if (!Number.isFinite(value) || value <= 0) return;
    this.value = value;
    remember("speed", String(value));
  }
}

function stored(): number | null {
  const value = Number(recall("speed"));
  return Number.isFinite(value) && value > 0 ? value : null;
}
