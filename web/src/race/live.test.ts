// SPDX-License-Identifier: MIT
import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  completeExperiment,
  PosLabError,
  type RunController,
  type RunEvent,
  type RunProgress,
  type RunRequest,
} from "../engine/poslab.js";
import { entry, run } from "./testing.js";

/** A run that does what the test tells it. */
class FakeRun {
  calls: string[] = [];
  step_ = 0;
  constructor(
    readonly request: RunRequest,
    readonly say: (event: RunEvent) => void,
  ) {}
  #note = (call: string) => Promise.resolve(void this.calls.push(call));
  start = () => this.#note("start");
  pause = () => this.#note("pause");
  step = async () => (await this.#note("step"), this.now());
  rewind = () => this.#note("rewind");
  skipToMeasuring = () => this.#note("skip");
  dispose = () => this.#note("dispose");
  snapshot = () => Promise.resolve(Uint8Array.of(7));
  progress = () => Promise.resolve(this.now());
  now = (): RunProgress => ({
    encoding: this.request.encoding,
    seed: this.request.seed,
    phase: "training",
    paused: false,
    step: this.step_,
    steps: 100,
    loss: 2,
    stepsPerSecond: 1,
    secondsLeft: 9,
    fraction: this.step_ / 100,
  });
  train(step: number): void {
    this.step_ = step;
    this.say({ type: "progress", progress: this.now(), losses: Float32Array.of(2), firstStep: step - 1 });
  }
  finish(): void {
    this.say({
      type: "done",
      result: run(this.request.encoding, this.request.seed, [entry(64, 1.7)]),
      weights: Uint8Array.of(1),
    });
  }
}

const fakes: FakeRun[] = [];
const pool = { workers: 2, close: vi.fn(() => Promise.resolve()), open: vi.fn() };
const storage = vi.hoisted(() => ({
  keepRace: vi.fn(),
  keepWeights: vi.fn(),
  keepState: vi.fn(),
  keepText: vi.fn(),
  removeProgress: vi.fn(),
}));
vi.mock("../engine/pool.js", () => ({ cores: () => 2, openPool: () => Promise.resolve(pool) }));
vi.mock("../storage/runs.js", () => storage);
const { LiveRace, liveOptions } = await import("./live.svelte.js");

const experiment = completeExperiment({ encodings: [{ type: "rope" }, { type: "alibi" }], training: { steps: 100 } });

async function opened(more: Partial<ConstructorParameters<typeof LiveRace>[0]> = {}) {
  const milestones: string[] = [];
  const troubles: string[] = [];
  const race = new LiveRace(
    { id: "race", experiment, ownText: null, ...more },
    {
      milestone: (milestone) => milestones.push(milestone.kind),
      trouble: (trouble) => troubles.push(trouble),
      kept: () => {},
    },
  );
  await race.open("9.9");
  return { race, milestones, troubles };
}

beforeEach(() => {
  fakes.length = 0;
  pool.open.mockReset().mockImplementation((request: RunRequest, say: (event: RunEvent) => void) => {
    fakes.push(new FakeRun(request, say));
    return Promise.resolve(fakes.at(-1) as unknown as RunController);
  });
  pool.close.mockClear();
  for (const keep of Object.values(storage)) keep.mockReset().mockResolvedValue(null);
});

describe("a live race", () => {
  it("opens a run for each encoding and seed, and trains none before play", async () => {
    const { race } = await opened();
    expect(fakes.map((fake) => fake.request.encoding)).toEqual([0, 1]);
    expect(race.phase).toBe("paused");
    expect(fakes.flatMap((fake) => fake.calls)).toEqual([]);
    await race.play();
    expect(fakes.map((fake) => fake.calls)).toEqual([["start"], ["start"]]);
    void race.end();
  });

  it("is finished when every run is done or failed, and keeps results and weights", async () => {
    const { race, milestones } = await opened();
    await race.play();
    fakes[0]!.finish();
    expect(race.phase).toBe("running");
    fakes[1]!.say({ type: "failed", error: { code: "worker", message: "gone", step: 0 } });
    expect(race.phase).toBe("finished");
    expect(milestones).toEqual(["started", "done", "half", "failed", "finished"]);
    expect(storage.keepWeights).toHaveBeenCalledWith(
      "race",
      expect.objectContaining({ encoding: 0 }),
      Uint8Array.of(1),
    );
    expect(storage.keepRace.mock.lastCall![0]).toMatchObject({ finished: true, runs: [{ encoding: 0 }] });
    void race.end();
  });

  it("leaves other lanes alone when one cannot be opened", async () => {
    const details = { argument: "model.dim", given: 7, allowed: "an even number of at least 2" };
    pool.open.mockRejectedValueOnce(new PosLabError("shape", "model.dim: 7 was given", details));
    const { race } = await opened();
    expect(race.lanes.map((lane) => lane.phase)).toEqual(["failed", "waiting"]);
    expect(race.lanes[0]!.failure).toMatchObject({ code: "shape", message: "model.dim: 7 was given", ...details });
    void race.end();
  });

  it("keeps half-finished states when it is paused", async () => {
    const { race } = await opened();
    await race.play();
    fakes[0]!.train(5);
    await race.pause();
    expect(storage.keepState.mock.calls).toEqual([
      ["race", expect.objectContaining({ encoding: 0 }), Uint8Array.of(7)],
    ]);
    void race.end();
  });

  it("keeps half-finished states soon after it begins, now and then, and after a rewind as well", async () => {
    vi.useFakeTimers();
    const { race } = await opened();
    const kept = () => storage.keepState.mock.calls.length;
    try {
      for (let round = 0; round < 2; round += 1) {
        const before = kept();
        await race.play();
        for (const fake of fakes) fake.train(5);
        await vi.advanceTimersByTimeAsync(2_000);
        expect(kept()).toBe(before + 2);
        await vi.advanceTimersByTimeAsync(10_000);
        expect(kept()).toBe(before + 4);
        for (const fake of fakes) fake.finish();
        await vi.advanceTimersByTimeAsync(60_000);
        expect(kept()).toBe(before + 4);
        await race.rewind();
      }
    } finally {
      void race.end();
      vi.useRealTimers();
    }
  });

  it("keeps no state of a run that finishes while it is asked for one", async () => {
    const { race } = await opened();
    await race.play();
    fakes[0]!.train(5);
    fakes[0]!.snapshot = () => {
      fakes[0]!.finish();
      return Promise.resolve(Uint8Array.of(7));
    };
    await race.keep();
    expect(storage.keepWeights).toHaveBeenCalledOnce();
    expect(storage.keepState).not.toHaveBeenCalled();
    void race.end();
  });

  it("ends when what is being stored is stored, so that it can be removed after that", async () => {
    const { race } = await opened();
    let stored: (trouble: null) => void = () => {};
    storage.keepRace.mockReturnValue(new Promise<null>((resolve) => (stored = resolve)));
    void race.keep();
    let isOver = false;
    const over = race.end().then(() => (isOver = true));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(isOver).toBe(false);
    stored(null);
    await over;
  });

  it("goes on from kept runs and states", async () => {
    const { race } = await opened({
      finished: [run(0, 1, [entry(64, 1.7)])],
      unfinished: [{ encoding: 1, seed: 1, state: Uint8Array.of(3) }],
    });
    expect(fakes.map((fake) => [fake.request.encoding, fake.request.state])).toEqual([[1, Uint8Array.of(3)]]);
    expect(race.lanes.map((lane) => lane.phase)).toEqual(["done", "training"]);
    void race.end();
  });

  it("goes back to the start though a state was kept and its run is not open", async () => {
    pool.open.mockRejectedValueOnce(new Error("no room"));
    const { race } = await opened({ unfinished: [{ encoding: 0, seed: 1, state: Uint8Array.of(3) }] });
    expect(race.lanes[0]!.phase).toBe("failed");
    await race.rewind();
    expect(fakes.map((fake) => fake.request.state)).toEqual([undefined, undefined]);
    void race.end();
  });

  it("says once that storage does not work, and goes on", async () => {
    for (const keep of [storage.keepRace, storage.keepWeights, storage.keepState]) keep.mockResolvedValue("full");
    const { race, troubles } = await opened();
    await race.play();
    fakes[0]!.finish();
    fakes[1]!.finish();
    await vi.waitFor(() => expect(troubles).toEqual(["full"]));
    expect(race.phase).toBe("finished");
    void race.end();
  });

  it("names the step at which a run diverged, and measures the weights that were kept", async () => {
    const { race } = await opened();
    await race.play();
    fakes[0]!.train(41);
    fakes[0]!.say({ type: "failed", error: { code: "diverged", message: "not finite", step: 41 } });
    fakes[1]!.finish();
    expect(race.lanes[0]!.failure).toMatchObject({ code: "diverged", step: 41 });
    await race.revive(race.lanes[0]!, "measure");
    expect(fakes[0]!.calls).toEqual(["start", "skip", "start"]);
    expect(race.lanes[0]).toMatchObject({ failure: null, phase: "measuring" });
    void race.end();
  });

  it("starts a run again whose worker is gone", async () => {
    const { race } = await opened();
    await race.play();
    fakes[0]!.say({ type: "failed", error: { code: "worker", message: "gone", step: 3 } });
    await race.revive(race.lanes[0]!, "restart");
    expect(fakes).toHaveLength(3);
    expect(fakes[2]!.calls).toEqual(["start"]);
    void race.end();
  });

  it("goes back to the start of every run, finished ones too", async () => {
    const { race, milestones } = await opened();
    await race.play();
    fakes[0]!.finish();
    fakes[1]!.train(9);
    await race.rewind();
    expect(race.phase).toBe("paused");
    expect(race.lanes.map((lane) => [lane.phase, lane.step])).toEqual([
      ["waiting", 0],
      ["waiting", 0],
    ]);
    expect(fakes.map((fake) => fake.calls.at(-1))).toEqual(["rewind", "rewind"]);
    expect(milestones.at(-1)).toBe("rewound");
    void race.end();
  });

  it("is at its start in the storage as well after a rewind", async () => {
    const { race } = await opened();
    await race.play();
    fakes[0]!.finish();
    fakes[1]!.train(9);
    await race.rewind();
    const removed = storage.removeProgress.mock.invocationCallOrder.at(-1)!;
    for (const keep of [storage.keepState, storage.keepWeights])
      expect(keep.mock.invocationCallOrder.at(-1)).toBeLessThan(removed);
    expect(storage.keepRace.mock.lastCall![0]).toMatchObject({ id: "race", finished: false, runs: [] });
    void race.end();
  });

  it("keeps no state that was asked for before a rewind", async () => {
    const { race } = await opened();
    await race.play();
    fakes[0]!.train(5);
    await race.pause();
    let answer: (state: Uint8Array<ArrayBuffer>) => void = () => {};
    fakes[0]!.snapshot = () => new Promise((resolve) => (answer = resolve));
    storage.keepState.mockClear();
    const keeping = race.keep();
    await new Promise((resolve) => setTimeout(resolve));
    await race.rewind();
    answer(Uint8Array.of(7));
    await keeping;
    expect(storage.keepState).not.toHaveBeenCalled();
    void race.end();
  });

  it("starts a run whose worker is gone from nothing after a rewind, not from what was once kept", async () => {
    const { race } = await opened({ unfinished: [{ encoding: 0, seed: 1, state: Uint8Array.of(3) }] });
    await race.rewind();
    await race.play();
    fakes[0]!.say({ type: "failed", error: { code: "worker", message: "gone", step: 3 } });
    await race.revive(race.lanes[0]!, "restart");
    expect(fakes.at(-1)!.request).toMatchObject({ encoding: 0 });
    expect(fakes.at(-1)!.request.state).toBeUndefined();
    void race.end();
  });

  it("rewinds once for a double click, and plays when it is back", async () => {
    const { race } = await opened({ finished: [run(0, 1, [entry(64, 1.7)])] });
    const rewinding = [race.rewind(), race.rewind()];
    await race.play();
    await Promise.all(rewinding);
    expect(fakes.map((fake) => [fake.request.encoding, fake.calls])).toEqual([
      [1, ["rewind", "start"]],
      [0, ["start"]],
    ]);
    expect(race.phase).toBe("running");
    void race.end();
  });

  it("ends its workers at once and hears no more of them", async () => {
    const { race, milestones } = await opened();
    await race.play();
    void race.end();
    expect(pool.close).toHaveBeenCalledOnce();
    fakes[0]!.finish();
    expect(milestones).toEqual(["started"]);
  });
});

describe("the live curve", () => {
  it("is measured at a few lengths, the longest among them, and the more seldom the more runs share a worker", () => {
    const own = completeExperiment({ training: { length: 10 }, test: { lengths: [10, 20, 77] } });
    expect(liveOptions(own, 5, 2)).toEqual({ everySeconds: 9, windows: 6, lengths: [10, 20, 77] });
    expect(liveOptions(completeExperiment({}), 2, 2)).toEqual({
      everySeconds: 3,
      windows: 6,
      lengths: [64, 80, 96, 128, 256, 1024],
    });
  });
});
