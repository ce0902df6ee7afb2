// SPDX-License-Identifier: MIT
// Experiments that run: in this thread and over workers with the same numbers, cancelled and resumed bit for bit,
// diverging, refused.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type Experiment,
  ExperimentInterrupted,
  type ExperimentResult,
  PosLabError,
  readSafetensors,
  type RunEvent,
  type RunProgress,
} from "../../bindings/js/index.js";
import { createRunPool, openExperiment, runExperiment } from "../../bindings/js/run.js";
import { sharedLab } from "./lab.js";
import { projectRoot } from "./shared.js";

const lab = await sharedLab();

/**
 * Small enough for a second, with everything in it: text, toy encodings, a scaling and a window at test time, two
 * seeds.
 */
const text =
  "the sea was calm and the ship was slow; ".repeat(60) +
  "call me what you like, it is all one to the sea. ".repeat(20);
const small: Experiment = {
  task: { type: "text", text },
  model: { dim: 16, heads: 2, layers: 1, feedForward: 32 },
  training: { length: 16, batch: 4, steps: 12, learningRate: 0.01, warmup: 4 },
  encodings: [{ type: "learned" }, { type: "rope" }, { type: "alibi" }],
  atTest: [
    { of: 1, position: { type: "rope", scaling: { ropeType: "ntk" } } },
    { of: 1, window: 8 },
    { of: 0, interpolate: true },
  ],
  test: { lengths: [16, 24, 48], windows: 4 },
  seeds: [1, 2],
};

/** Without what a clock says. */
const numbers = (result: ExperimentResult): unknown =>
  JSON.parse(
    JSON.stringify(result, (key, value: unknown) =>
      key === "seconds" || key === "tokensPerSecond" ? undefined : value,
    ),
  );

let inThread: ExperimentResult;
beforeAll(async () => {
  inThread = await lab.experiment(small);
});

describe("in this thread", () => {
  it("give a result with everything that was asked for", () => {
    expect(inThread.runs.map(({ encoding, seed }) => [encoding, seed])).toEqual([
      [0, 1],
      [0, 2],
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ]);
    const rope = inThread.runs[2]!;
    expect(rope.byLength.map(({ length }) => length)).toEqual([16, 24, 48]);
    for (const { loss, lossAtEnd, lossError } of rope.byLength) {
      expect(loss).toBeGreaterThan(0.5);
      expect(loss).toBeLessThan(5);
      expect(lossAtEnd).toBeGreaterThan(0.5);
      expect(lossError).toBeGreaterThanOrEqual(0);
    }
    expect(rope.byPosition).toMatchObject({ binWidth: 1 });
    expect(rope.byPosition.loss).toHaveLength(48);
    expect(rope.atTest.map(({ entry }) => entry)).toEqual([0, 1]);
    expect(rope.training[0]![0]).toBe(12);
    expect(inThread.build).toEqual({ version: lab.info.version, variant: "simd" });
    expect(inThread.verdict).toContain("Past 16");
  });

  it("say that a learned table is not defined past its end, with the reason, and stretch it when asked", () => {
    const learned = inThread.runs[0]!;
    expect(learned.byLength[1]).toMatchObject({
      length: 24,
      loss: null,
      lossAtEnd: null,
      reason: expect.stringContaining("16") as string,
    });
    expect(learned.byLength[1]!.accuracy).toBeUndefined();
    expect(learned.atTest[0]!.byLength[2]!.loss).toBeGreaterThan(0.5);
  });

  it("of another seed give other numbers, of the same seed the same", async () => {
    expect(inThread.runs[2]!.byLength[0]!.loss).not.toBe(inThread.runs[3]!.byLength[0]!.loss);
    const again = await lab.experiment({ ...small, encodings: [small.encodings![1]!], atTest: [], seeds: [1] });
    expect(again.runs[0]!.byLength).toEqual(inThread.runs[2]!.byLength);
  });

  it("report progress from waiting to done", async () => {
    const seen: RunProgress[] = [];
    await lab.experiment(
      { ...small, encodings: [{ type: "none" }], atTest: [], seeds: [1] },
      { onProgress: (progress) => seen.push(progress) },
    );
    const last = seen[seen.length - 1]!;
    expect(last).toMatchObject({ phase: "done", step: 12, steps: 12, fraction: 1, secondsLeft: 0 });
    expect(seen.every(({ fraction }) => fraction >= 0 && fraction <= 1)).toBe(true);
  });

  it("hand over weights by name that PyTorch would open", async () => {
    const files: Uint8Array[] = [];
    await lab.experiment(
      { ...small, encodings: [{ type: "t5" }], atTest: [], seeds: [3] },
      { onRun: (_, weights) => files.push(weights) },
    );
    const { tensors } = readSafetensors(files[0]!);
    expect(tensors.get("embedding.weight")!.shape[1]).toBe(16);
    expect(tensors.get("position.table")!.shape).toEqual([32, 2]);
    expect(tensors.get("blocks.0.attention.query.weight")!.shape).toEqual([16, 16]);
  });

  it("of toy tasks have accuracies", async () => {
    const { runs } = await lab.experiment({
      ...small,
      task: { type: "first" },
      encodings: [{ type: "none" }],
      atTest: [],
      seeds: [1],
      training: { ...small.training, steps: 3 },
    });
    expect(runs[0]!.byLength[0]!.accuracy).toBeGreaterThanOrEqual(0);
    expect(runs[0]!.byLength[0]!.accuracyAtEnd).toBeLessThanOrEqual(1);
  });
});

describe("cancelled experiments", () => {
  it("keep what is done, and end with the same numbers when resumed", async () => {
    const controller = new AbortController();
    let seen = 0;
    const interrupted = lab.experiment(small, {
      signal: controller.signal,
      onProgress: ({ step }) => {
        seen = step;
      },
      onRun: (run) => {
        if (run.encoding === 1) controller.abort(new Error("enough"));
      },
    });
    const error = (await interrupted.catch((reason: unknown) => reason)) as ExperimentInterrupted;
    expect(error).toBeInstanceOf(ExperimentInterrupted);
    expect(error.code).toBe("aborted");
    expect(seen).toBeGreaterThan(0);
    expect(error.state.runs.length).toBeGreaterThanOrEqual(3);
    expect(error.state.runs.length).toBeLessThan(6);
    const resumed = await lab.experiment(small, { resume: structuredClone(error.state) });
    expect(numbers(resumed)).toEqual(numbers(inThread));
  });

  it("go on bit for bit from a snapshot at any step", async () => {
    const { experiment } = inThread;
    const corpus = lab.corpus(text);
    const straight = lab.createRun(experiment, 1, 1, corpus);
    while (straight.progress().phase !== "done") straight.advance(5);
    for (const cut of [0, 1, 7, 12, 13]) {
      const first = lab.createRun(experiment, 1, 1, corpus);
      for (let n = 0; n < cut; n += 1) first.advance(1);
      const snapshot = first.snapshot();
      first.dispose();
      const second = lab.createRun(experiment, 1, 1, corpus);
      second.restore(snapshot);
      while (second.progress().phase !== "done") second.advance(3);
      expect(second.weights()).toEqual(straight.weights());
      expect({ ...second.result(), seconds: 0, tokensPerSecond: 0 }).toEqual({
        ...straight.result(),
        seconds: 0,
        tokensPerSecond: 0,
      });
      second.dispose();
    }
    straight.dispose();
    corpus.dispose();
  });

  it("give the queries and keys that their attention weights come from, under a change too", () => {
    const { experiment } = inThread;
    const corpus = lab.corpus(text);
    experiment.encodings.forEach((encoding, index) => {
      const run = lab.createRun(experiment, index, 1, corpus);
      run.advance(2);
      const look = { text: "the sea", change: { shift: 3, window: 4 } };
      const { symbols, query, key, value } = run.attentionInputs(look);
      expect(symbols).toEqual([..."the sea"]);
      const { label: _, ...position } = encoding;
      const { weights } = lab.attention({
        query,
        key,
        value,
        position: position.type === "learned" ? { type: "none" } : position,
        mask: { causal: true, window: 4 },
        weights: true,
      });
      const own = run.attention(look).weights;
      expect(weights!.shape).toEqual(own.shape);
      weights!.data.forEach((weight, at) => expect(weight, encoding.type).toBeCloseTo(own.data[at]!, 5));
      expect(() => run.attentionInputs({ ...look, layer: 9 })).toThrowError(/layer/);
      run.dispose();
    });
    corpus.dispose();
  });

  it("refuse the state of another experiment, and bytes that are none", async () => {
    const { experiment } = inThread;
    const corpus = lab.corpus(text);
    const run = lab.createRun(experiment, 1, 1, corpus);
    const snapshot = run.snapshot();
    const other = lab.createRun(experiment, 2, 1, corpus);
    expect(() => other.restore(snapshot)).toThrowError(PosLabError);
    expect(() => run.restore(run.weights())).toThrowError(/weights without the state/);
    expect(() => run.restore(snapshot.subarray(0, 100))).toThrowError(/safetensors/);
    run.advance(1);
    await expect(
      lab.experiment(small, { resume: { runs: [], unfinished: [{ encoding: 9, seed: 1, state: snapshot }] } }),
    ).rejects.toThrowError(/encoding 9/);
    for (const object of [run, other, corpus]) object.dispose();
  });

  it("answer within a tenth of a second", async () => {
    const controller = new AbortController();
    const running = lab.experiment(
      { ...small, training: { ...small.training, steps: 100_000 } },
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort(), 300);
    let asked = 0;
    controller.signal.addEventListener("abort", () => {
      asked = performance.now();
    });
    await expect(running).rejects.toBeInstanceOf(ExperimentInterrupted);
    // The rule is 100 ms; a loaded machine gets ten times as much, a run that is not sliced would need minutes.
    expect(performance.now() - asked).toBeLessThan(1000);
  });
});

describe("what cannot be run", () => {
  it.each<[string, Experiment, string]>([
    ["an unknown encoding", { ...small, encodings: [{ type: "rop" } as never], atTest: [] }, 'did you mean "rope"?'],
    [
      "a wrong parameter",
      { ...small, encodings: [{ type: "alibi" }, { type: "rope", rotaryDim: 5 }], atTest: [] },
      "encodings[1].rotaryDim: 5 was given",
    ],
    [
      "an unknown parameter",
      { ...small, encodings: [{ type: "rope", thetta: 1 } as never], atTest: [] },
      "encodings[0].thetta",
    ],
    [
      "tensors in an encoding",
      { ...small, encodings: [{ type: "t5", table: [[1]] }], atTest: [] },
      "encodings[0].table",
    ],
    ["a text that is too short", { ...small, task: { type: "text", text: "short" } }, "text"],
    [
      "a corpus that is not here",
      { task: { type: "text", corpus: "no such text" } },
      'the text "no such text" is not here',
    ],
    ["a stretched table of another encoding", { ...small, atTest: [{ of: 1, interpolate: true }] }, "interpolate"],
    [
      "a model that does not fit in memory",
      { ...small, model: { dim: 65536, heads: 1, layers: 64, feedForward: 1_000_000 } },
      "bytes",
    ],
  ])("%s is named", async (_, json, message) => {
    await expect(lab.experiment(json)).rejects.toThrowError(message);
    expect(lab.slopes({ type: "alibi" }, { heads: 1 })).toHaveLength(1);
  });

  it("a rate that makes it diverge stops the run at a step, and the others go on", async () => {
    const { runs, verdict } = await lab.experiment({
      ...small,
      atTest: [],
      seeds: [1],
      encodings: [{ type: "rope" }, { type: "alibi" }],
      training: { ...small.training, learningRate: 1e30, warmup: 0, clip: 0 },
    });
    expect(runs[0]!.stopped!.reason).toContain("step");
    expect(runs[0]!.stopped!.step).toBeGreaterThanOrEqual(0);
    expect(runs).toHaveLength(2);
    expect(verdict).toContain("no verdict");
  });
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
