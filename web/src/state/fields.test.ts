// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { completeExperiment } from "../engine/poslab.js";
import { experimentOf, overridesOf } from "./experiment.js";
import { numberRule, prune, resolve, taskTypes } from "./fields.js";

describe("the table of settings", () => {
  it("describes the built-in experiment when nothing is set", () => {
    expect(completeExperiment(experimentOf(resolve({})))).toEqual(completeExperiment({}));
  });

  it("has the package's defaults for every task", () => {
    for (const task of taskTypes) {
      const made = completeExperiment(experimentOf(resolve({ task })));
      expect(made.training, task).toEqual(completeExperiment({ task: { type: task } }).training);
    }
  });

  it("keeps only what differs from the defaults, dependent defaults included", () => {
    expect(prune({ length: 64, dim: 32, feedForward: 128 })).toEqual({ dim: 32 });
    expect(prune({ task: "needle", length: 32 })).toEqual({ task: "needle" });
  });

  it("finds its way back from a complete experiment", () => {
    const overrides = prune({
      task: "lookback",
      distance: 7,
      length: 32,
      encodings: [{ type: "rope" }, { type: "rope", theta: 500 }],
      switches: [{ of: { type: "rope", theta: 500 }, window: 16 }],
      seeds: 3,
      positions: "pose",
      positionsMaximum: 100,
      positionsChunks: 3,
      sinks: "learned",
    });
    expect(overridesOf(completeExperiment(experimentOf(resolve(overrides))))).toEqual(overrides);
  });

  it("says what a number may be", () => {
    expect(numberRule("heads")).toMatchObject({ kind: "integer", minimum: 1, maximum: 32 });
    expect(numberRule("learningRate").kind).toBe("number");
  });
});
