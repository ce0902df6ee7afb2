// SPDX-License-Identifier: MIT
// What an experiment that was cancelled rejects with: an error that carries everything needed to go on.

import { PosLabError } from "./errors.js";
import type { ExperimentState } from "./types.js";

export class ExperimentInterrupted extends PosLabError {
  override readonly name = "ExperimentInterrupted";
  /** finished runs, and half-finished ones to go on with: give it back as `resume` */
  readonly state: ExperimentState;

  constructor(state: ExperimentState, cause: unknown) {
    const { runs, unfinished } = state;
    super(
      "aborted",
      `the experiment was cancelled with ${runs.length} finished and ${unfinished.length} half-finished runs; its state can be resumed`,
      { cause },
    );
    this.state = state;
  }
}
