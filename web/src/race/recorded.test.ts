// SPDX-License-Identifier: MIT
/// <reference types="node" />
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { completeExperiment } from "../engine/poslab.js";
import { experimentOf } from "../state/experiment.js";
import { resolve } from "../state/fields.js";
import { completed, recordingOf, type RecordedEntry } from "./recorded.js";

const text = readFileSync(new URL("../../public/recorded/index.json", import.meta.url), "utf8");
const index = completed(JSON.parse(text) as RecordedEntry[]);

describe("the recording of what is set", () => {
  for (const task of ["text", "lookback", "first", "needle"] as const) {
    it(`is found for the defaults of ${task}`, () => {
      const planned = completeExperiment(experimentOf(resolve({ task })));
      expect(recordingOf(index, planned)?.experiment.task.type).toBe(task);
    });
  }

  it("is found though it was made before some setting existed", () => {
    const [first] = JSON.parse(text) as [RecordedEntry];
    const { sinks: _, ...model } = first.experiment.model;
    const older = completed([{ ...first, experiment: { ...first.experiment, model } as RecordedEntry["experiment"] }]);
    expect(recordingOf(older, completeExperiment(experimentOf(resolve({}))))).toBe(older[0]);
  });

  it("is not one with other settings", () => {
    expect(recordingOf(index, completeExperiment(experimentOf(resolve({ sinks: "zero" }))))).toBeUndefined();
  });
});
