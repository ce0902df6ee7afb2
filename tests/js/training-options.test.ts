// SPDX-License-Identifier: MIT
// Experiments whose training rows stand at drawn positions, and whose attention has sinks.

import { describe, expect, it } from "vitest";
import {
  completeExperiment,
  type Experiment,
  PosLabError,
  readSafetensors,
  type TrainingPositions,
} from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();

const small: Experiment = {
  task: { type: "lookback", distance: 2 },
  model: { dim: 16, heads: 2, layers: 1, feedForward: 16 },
  training: { length: 8, batch: 4, steps: 8, warmup: 2 },
  encodings: [{ type: "rope" }, { type: "learned", rows: 64 }],
  test: { lengths: [8, 16, 40], windows: 4 },
};
const withPositions = (positions?: TrainingPositions): Experiment => ({
  ...small,
  training: { ...small.training, ...(positions ? { positions } : {}) },
});
const losses = async (experiment: Experiment): Promise<(number | null)[][]> =>
  (await lab.experiment(experiment)).runs.map(({ byLength }) => byLength.map(({ loss }) => loss));

describe("drawn positions", () => {
  const all: TrainingPositions[] = [
    { policy: "randomized", maximum: 32 },
    { policy: "shift", maximum: 32 },
    { policy: "pose", maximum: 32 },
    { policy: "pose", maximum: 48, chunks: 3 },
  ];
  it("train another model each, the same one again", async () => {
    const seen = new Set<string>();
    for (const positions of [undefined, ...all]) {
      const first = await losses(withPositions(positions));
      expect(first.flat().filter((loss) => loss !== null && !Number.isFinite(loss))).toEqual([]);
      expect(await losses(withPositions(positions))).toEqual(first);
      seen.add(JSON.stringify(first));
    }
    expect(seen.size).toBe(1 + all.length);
  });

  it("of a run that is put down and taken up again are those of one that was not", () => {
    const experiment = completeExperiment(withPositions({ policy: "randomized", maximum: 32 }));
    const whole = lab.createRun(experiment, 0, 1);
    whole.advance(8);
    const begun = lab.createRun(experiment, 0, 1);
    begun.advance(3);
    const resumed = lab.createRun(experiment, 0, 1);
    resumed.restore(begun.snapshot());
    resumed.advance(5);
    expect(resumed.weights()).toEqual(whole.weights());
    for (const run of [whole, begun, resumed]) run.dispose();
  });

  it("randomized ones know no text longer than their ids; the others count on", async () => {
    const randomized = (await lab.experiment(withPositions({ policy: "randomized", maximum: 32 }))).runs[0]!;
    expect(randomized.byLength.map(({ reason }) => reason === undefined)).toEqual([true, true, false]);
    expect(randomized.byLength[2]!.reason).toContain("training.positions.maximum");
    const shifted = (await lab.experiment(withPositions({ policy: "shift", maximum: 20 }))).runs[1]!;
    expect(shifted.byLength.every(({ reason }) => reason === undefined)).toBe(true);
  });

  it.each<[TrainingPositions, string]>([
    [{ policy: "randomized", maximum: 7 }, "training.positions.maximum"],
    [{ policy: "pose", maximum: 7 }, "training.positions.maximum"],
    [{ policy: "pose", maximum: 16, chunks: 9 }, "training.positions.chunks"],
    [{ policy: "spiral" as "pose", maximum: 16 }, "training.positions.policy"],
    [{ policy: "shift", maximum: -1 }, "training.positions.maximum"],
    // Position 64 + 7 has no row.
    [{ policy: "shift", maximum: 64 }, "position"],
  ])("refuse %j", async (positions, argument) => {
    const error: unknown = await lab.experiment(withPositions(positions)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PosLabError);
    expect((error as PosLabError).message).toContain(argument);
  });
});

describe("sinks", () => {
  it("are weights of their own when learned, and none when zero", async () => {
    const seen = new Set<string>();
    for (const sinks of ["none", "zero", "learned"] as const) {
      const experiment = completeExperiment({ ...small, model: { ...small.model, sinks } });
      const run = lab.createRun(experiment, 0, 1);
      const names = [...readSafetensors(run.weights()).tensors.keys()].filter((name) =>
        name.endsWith("attention.sinks"),
      );
      expect(names).toHaveLength(sinks === "learned" ? 1 : 0);
      run.dispose();
      seen.add(JSON.stringify(await losses(experiment)));
    }
    expect(seen.size).toBe(3);
  });
});
