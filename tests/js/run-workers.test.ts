// SPDX-License-Identifier: MIT
// Experiments over workers: the numbers of one thread, control run by run, events, workers that die.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type Experiment,
  ExperimentInterrupted,
  type ExperimentResult,
  type RunEvent,
} from "../../bindings/js/index.js";
import { createRunPool, openExperiment, runExperiment } from "../../bindings/js/run.js";
import type { RunFailure } from "../../bindings/js/run-types.js";
import { sharedLab } from "./lab.js";
import { projectRoot } from "./shared.js";
import { numbers, small } from "./small-experiment.js";

const lab = await sharedLab();

let inThread: ExperimentResult;
beforeAll(async () => {
  inThread = await lab.experiment(small);
});

const builtWorker = join(projectRoot, "dist/js/worker.js");
describe.skipIf(!existsSync(builtWorker))("over workers (of the built package)", () => {
  const createWorker = (): Worker => new Worker(builtWorker);

  it("give the same numbers as in this thread, for one worker and for two", async () => {
    for (const workers of [1, 2]) {
      const finished: number[] = [];
      const result = await runExperiment(small, {
        workers,
        createWorker,
        onRun: ({ encoding }) => finished.push(encoding),
      });
      expect(numbers(result)).toEqual(numbers(inThread));
      expect(finished.sort()).toEqual([0, 0, 1, 1, 2, 2]);
    }
  });

  it("can be cancelled and resumed, in this thread too, with the same numbers", async () => {
    const long: Experiment = { ...small, training: { ...small.training, steps: 300 } };
    const controller = new AbortController();
    const error = (await runExperiment(long, {
      workers: 2,
      createWorker,
      signal: controller.signal,
      onProgress: ({ step }) => {
        if (step > 20) controller.abort();
      },
    }).catch((reason: unknown) => reason)) as ExperimentInterrupted;
    expect(error).toBeInstanceOf(ExperimentInterrupted);
    expect(error.state.unfinished.length + error.state.runs.length).toBeGreaterThan(0);
    const resumed = await runExperiment(long, { workers: 2, createWorker, resume: error.state });
    expect(numbers(resumed)).toEqual(numbers(await lab.experiment(long)));
  }, 180_000);

  it("end with the error of a caller's function that throws", async () => {
    const mine = new Error("mine");
    const thrower = (): never => {
      throw mine;
    };
    const options = { workers: 1, createWorker };
    await expect(runExperiment(small, { ...options, onProgress: thrower })).rejects.toBe(mine);
    await expect(runExperiment(small, { ...options, onRun: thrower })).rejects.toBe(mine);
    const session = await openExperiment(small, { ...options, onEvent: thrower });
    const ended = expect(session.finished).rejects.toBe(mine);
    await session.start().catch(() => {}); // its workers may be gone already
    await ended;
  });

  it("refuse wrong experiments with the same message", async () => {
    const wrong = { ...small, encodings: [{ type: "rope", rotaryDim: 5 } as const], atTest: [] };
    const message = (await lab.experiment(wrong).catch((error: unknown) => error)) as Error;
    await expect(runExperiment(wrong, { workers: 1, createWorker })).rejects.toThrowError(message.message);
  });

  it("are controlled run by run: step, measure, generate, look, rewind", async () => {
    const session = await openExperiment(small, { workers: 1, createWorker });
    const run = session.runs[2]!;
    expect(await run.progress()).toMatchObject({ phase: "waiting", step: 0 });
    expect(await run.step(3)).toMatchObject({ step: 3, paused: true });
    const measured = await run.measure({ lengths: [16, 32], windows: 3, byPosition: true, change: { window: 8 } });
    expect(measured.byLength.map(({ length }) => length)).toEqual([16, 32]);
    expect(measured.byPosition).toMatchObject({ length: 32, binWidth: 1 });
    const written = await run.generate({ prompt: "the sea ", count: 5, temperature: 0 });
    expect(written.pieces).toHaveLength(5);
    expect(written.promptLength).toBe(8);
    const { symbols, weights } = await run.attention({ text: "the sea" });
    expect(symbols).toEqual([..."the sea"]);
    expect(weights.shape).toEqual([2, 7, 7]);
    const before = await run.weights();
    await run.rewind();
    expect(await run.progress()).toMatchObject({ step: 0 });
    await run.step(3);
    expect(await run.weights()).toEqual(before);
    await run.dispose();
    await run.dispose();
    await expect(run.progress()).rejects.toMatchObject({ code: "disposed" });
    await session.dispose();
  });

  it("say what happens: every loss once, live measurements, the end; pausing changes no number", async () => {
    const alone: Experiment = {
      ...small,
      seeds: [1],
      encodings: [{ type: "rope" }],
      atTest: [],
      training: { ...small.training, steps: 8000 },
    };
    const events: RunEvent[] = [];
    const session = await openExperiment(alone, {
      workers: 1,
      createWorker,
      live: { everySeconds: 0, lengths: [16, 24], windows: 2 },
      onEvent: (event) => events.push(event),
    });
    const run = session.runs[0]!;
    for (let n = 0; n < 3; n += 1) {
      await run.start();
      await new Promise((resolve) => setTimeout(resolve, 100));
      const asked = performance.now();
      await run.pause();
      expect(performance.now() - asked).toBeLessThan(1000); // the rule is 100 ms; the machine may be loaded
      const { step } = await run.progress();
      expect((await run.progress()).step).toBe(step);
    }
    await run.start();
    const result = await session.finished;
    expect(numbers(result)).toEqual(numbers(await lab.experiment(alone)));
    let next = 0;
    for (const event of events) {
      if (event.type !== "progress") continue;
      if (event.losses.length > 0) expect(event.firstStep).toBe(next);
      next += event.losses.length;
    }
    expect(next).toBe(8000);
    const live = events.filter((event) => event.type === "live");
    expect(live.length).toBeGreaterThan(0);
    expect(live[0]!.measurement.byLength.map(({ length }) => length)).toEqual([16, 24]);
    expect(events.filter(({ type }) => type === "done")).toHaveLength(1);
    await session.dispose();
  });

  it("start from trained weights, in half precision too", async () => {
    const pool = await createRunPool({ workers: 1, createWorker });
    const trained = await lab.experiment({ ...small, atTest: [], seeds: [1], encodings: [{ type: "alibi" }] });
    const files: Uint8Array[] = [];
    await lab.experiment(
      { ...small, atTest: [], seeds: [1], encodings: [{ type: "alibi" }] },
      { onRun: (_, weights) => files.push(weights) },
    );
    const run = await pool.open({ experiment: trained.experiment, encoding: 0, seed: 1, weights: files[0]! });
    expect(await run.progress()).toMatchObject({ phase: "done", fraction: 1 });
    expect((await run.measure()).byLength).toEqual(trained.runs[0]!.byLength);
    const half = await pool.open({
      experiment: trained.experiment,
      encoding: 0,
      seed: 1,
      weights: await run.weights("F16"),
    });
    expect((await half.measure({ lengths: [16] })).byLength[0]!.loss).toBeCloseTo(
      trained.runs[0]!.byLength[0]!.loss!,
      2,
    );
    await expect(run.start()).rejects.toMatchObject({ code: "state" });
    await pool.close();
  });

  it("say what stopped a run with all that its sentence is made of", async () => {
    const failures: RunFailure[] = [];
    const session = await openExperiment(
      {
        ...small,
        seeds: [1],
        encodings: [{ type: "alibi" }],
        atTest: [],
        training: { ...small.training, steps: 4000 },
      },
      {
        workers: 1,
        createWorker,
        live: { everySeconds: 0.01, lengths: [2 ** 30] },
        onEvent: (event) => {
          if (event.type === "failed") failures.push(event.error);
        },
      },
    );
    await session.start();
    await session.finished;
    expect(failures).toMatchObject([
      { code: "range", argument: "test.lengths", given: 2 ** 30, allowed: expect.stringMatching(/^at most 336 /) },
    ]);
  });

  it("report a worker that dies in its own lane; the others go on", async () => {
    const workers: Worker[] = [];
    const events: string[] = [];
    const session = await openExperiment(
      {
        ...small,
        seeds: [1],
        encodings: [{ type: "rope" }, { type: "alibi" }],
        atTest: [],
        training: { ...small.training, steps: 400 },
      },
      {
        workers: 2,
        createWorker: () => {
          const worker = createWorker();
          workers.push(worker);
          return worker;
        },
        onEvent: (event, key) => {
          if (event.type === "failed" || event.type === "done") events.push(`${key.encoding} ${event.type}`);
        },
      },
    );
    await session.start();
    await workers[0]!.terminate();
    const result = await session.finished;
    expect(events.sort()).toEqual(["0 failed", "1 done"]);
    expect(result.runs[0]!.stopped!.reason).toContain("worker");
    expect(result.runs[1]!.byLength).toHaveLength(3);
    const revived = session.runs[0]!;
    await revived.rewind();
    expect(await revived.step(1)).toMatchObject({ step: 1 });
    await session.dispose();
  });
});
