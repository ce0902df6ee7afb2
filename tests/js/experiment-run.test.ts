// SPDX-License-Identifier: MIT
// Experiments in this thread: what they give, cancelled and resumed bit for bit, diverging, refused.

import { beforeAll, describe, expect, it } from "vitest";
import {
  type Experiment,
  ExperimentInterrupted,
  type ExperimentResult,
  PosLabError,
  readSafetensors,
  type RunProgress,
} from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";
import { numbers, small, text } from "./small-experiment.js";

const lab = await sharedLab();

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
