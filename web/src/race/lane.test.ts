// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { completeExperiment, type RunProgress } from "../engine/poslab.js";
import { LaneRecord, overall, type Lane } from "./lane.js";
import { entry, run } from "./testing.js";

const experiment = completeExperiment({ encodings: [{ type: "rope" }], training: { steps: 100 } });
const progress = (more: Partial<RunProgress>): RunProgress => ({
  encoding: 0,
  seed: 1,
  phase: "training",
  paused: false,
  step: 10,
  steps: 100,
  loss: 2,
  stepsPerSecond: 5,
  secondsLeft: 18,
  fraction: 0.1,
  ...more,
});

describe("a lane", () => {
  it("follows training, live measurements and the end", () => {
    const record = new LaneRecord(experiment, 0, 1);
    record.apply({ type: "progress", progress: progress({}), losses: Float32Array.of(4, 2), firstStep: 0 });
    expect(record.lane).toMatchObject({ phase: "training", step: 10, fraction: 0.1 });
    expect(record.lane.result.training).toEqual([
      [1, 4],
      [2, 2],
    ]);
    record.apply({ type: "live", step: 10, measurement: { byLength: [entry(64, 3)] } });
    expect(record.lane.result.byLength).toEqual([entry(64, 3)]);
    const result = run(0, 1, [entry(64, 1.7)]);
    record.apply({ type: "done", result, weights: new Uint8Array(3) });
    expect(record.lane).toMatchObject({ phase: "done", fraction: 1, result });
    expect(record.weights).toHaveLength(3);
  });

  it("keeps saying that it failed when late progress arrives", () => {
    const record = new LaneRecord(experiment, 0, 1);
    record.apply({ type: "failed", error: { code: "diverged", message: "not finite", step: 41 } });
    record.apply({ type: "progress", progress: progress({}), losses: new Float32Array(), firstStep: 0 });
    expect(record.lane.phase).toBe("failed");
    expect(record.lane.failure?.step).toBe(41);
  });

  it("is done when its result is there, not before", () => {
    const record = new LaneRecord(experiment, 0, 1);
    record.apply({
      type: "progress",
      progress: progress({ phase: "done", fraction: 1 }),
      losses: new Float32Array(),
      firstStep: 0,
    });
    expect(record.lane.phase).toBe("measuring");
    record.apply({ type: "done", result: run(0, 1, []), weights: new Uint8Array() });
    record.apply({ type: "progress", progress: progress({}), losses: new Float32Array(), firstStep: 0 });
    expect(record.lane.phase).toBe("done");
  });

  it("forgets everything when it is rewound", () => {
    const record = new LaneRecord(experiment, 0, 1, run(0, 1, [entry(64, 1.7)]));
    expect(record.lane.phase).toBe("done");
    record.reset();
    expect(record.lane).toMatchObject({ phase: "waiting", step: 0, fraction: 0, failure: null });
    expect(record.lane.result.byLength).toEqual([]);
  });
});

describe("progress of all runs", () => {
  const lane = (more: Partial<Lane>): Lane => ({ ...new LaneRecord(experiment, 0, 1).lane, ...more });

  it("is the slowest run's when all are at work", () => {
    const lanes = [
      lane({ phase: "training", fraction: 0.5, secondsLeft: 10, stepsPerSecond: 3 }),
      lane({ phase: "training", fraction: 0.25, secondsLeft: 30, stepsPerSecond: 4 }),
    ];
    expect(overall(lanes, 2)).toEqual({ fraction: 0.375, secondsLeft: 30, stepsPerSecond: 7 });
  });

  it("counts waiting runs by what the others take", () => {
    const lanes = [
      lane({ phase: "training", fraction: 0.5, secondsLeft: 10 }),
      lane({ phase: "waiting" }),
      lane({ phase: "waiting" }),
    ];
    expect(overall(lanes, 1).secondsLeft).toBeCloseTo(50);
  });

  it("takes a failed run as over", () => {
    expect(overall([lane({ phase: "failed", fraction: 0.2 }), lane({ phase: "done", fraction: 1 })], 2)).toEqual({
      fraction: 1,
      secondsLeft: 0,
      stepsPerSecond: 0,
    });
  });
});
