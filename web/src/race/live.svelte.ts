// SPDX-License-Identifier: MIT
// A race at work in this tab: one controller a run, their events folded into lanes, and the buttons. It knows no
// drawing; it keeps what it has (results, weights, half-finished states) in the browser as it goes.

import { cores, openPool } from "../engine/pool.js";
import {
  errorData,
  type CompleteExperiment,
  type RunController,
  type RunEvent,
  type RunPool,
  type RunResult,
} from "../engine/poslab.js";
import { readError, type CoreError } from "../language/core-errors.js";
import {
  keepRace,
  keepState,
  keepText,
  keepWeights,
  removeProgress,
  type RunName,
  type StorageTrouble,
} from "../storage/runs.js";
import { LaneRecord, type Lane } from "./lane.js";

export type LivePhase = "preparing" | "running" | "paused" | "finished" | "failed";
export type Milestone =
  { kind: "started" | "paused" | "rewound" | "finished" | "half" } | { kind: "done" | "failed"; encoding: number };

export interface LiveStart {
  id: string;
  experiment: CompleteExperiment;
  ownText: Uint8Array | null;
  finished?: readonly RunResult[];
  unfinished?: readonly (RunName & { state: Uint8Array })[];
}
export interface LiveListener {
  milestone: (milestone: Milestone) => void;
  trouble: (trouble: StorageTrouble) => void;
  /** what is kept in the browser has changed */ kept: () => void;
}

/** Lanes are shown anew this often; events may come faster. */
const kShowEvery = 150;
/** Half-finished states are kept soon after training begins, and then this often. */
const kKeepFirst = 1000;
const kKeepEvery = 10_000;

/**
 * The live curve must not eat the training that it shows: a few windows, each second tested length, and the more runs share
 * a worker the more seldom.
 */
const kLiveWindows = 6;
const kLiveSeconds = 3;
export function liveOptions({ test, training }: CompleteExperiment, runs: number, workers: number) {
  const { length } = training;
  const lengths = test.lengths.filter(
    (tested) => [1, 1.25, 1.5, 2, 4, 16].includes(tested / length) || tested === Math.max(...test.lengths),
  );
  return {
    everySeconds: kLiveSeconds * Math.ceil(runs / workers),
    windows: Math.min(kLiveWindows, test.windows),
    lengths,
  };
}

export class LiveRace {
  readonly experiment: CompleteExperiment;
  readonly id: string;
  readonly date = Date.now();
  readonly workers: number;
  phase = $state<LivePhase>("preparing");
  lanes = $state.raw<Lane[]>([]);
  problem = $state.raw<CoreError | null>(null);
  build = $state.raw({ version: "", variant: "simd" });

  #records: LaneRecord[];
  #controllers: (RunController | null)[];
  #pool: RunPool | null = null;
  #listener: LiveListener;
  #showTimer: ReturnType<typeof setTimeout> | undefined;
  #keepTimer: ReturnType<typeof setTimeout> | undefined;
  #halfSaid = false;
  /** what was stored of half-finished runs when this race was opened; after a rewind that is over */
  #unfinished: NonNullable<LiveStart["unfinished"]>;
  #rewinding: Promise<void> | null = null;
  #ended = false;
  #stored = true;
  #written: Promise<unknown> = Promise.resolve();

  constructor(
    readonly start: LiveStart,
    listener: LiveListener,
  ) {
    const { experiment, id, finished = [], unfinished = [] } = start;
    this.experiment = experiment;
    this.id = id;
    this.#listener = listener;
    this.#unfinished = unfinished;
    const names = experiment.encodings.flatMap((_, encoding) => experiment.seeds.map((seed) => ({ encoding, seed })));
    this.#records = names.map(
      ({ encoding, seed }) =>
        new LaneRecord(
          experiment,
          encoding,
          seed,
          finished.find((run) => run.encoding === encoding && run.seed === seed),
        ),
    );
    this.#controllers = names.map(() => null);
    this.workers = Math.min(cores(), names.length);
    this.#show();
  }

  /** Opens every run that is not finished; nothing trains yet. */
  async open(version: string): Promise<void> {
    this.build = { version, variant: "simd" };
    try {
      const open = this.#records.filter((record) => record.lane.phase !== "done").length;
      this.#pool = await openPool(this.experiment, open, this.start.ownText);
      if (this.#ended) return void this.#pool.close();
      await Promise.all(
        this.#records.map((record, index) => (record.lane.phase === "done" ? null : this.#openRun(index))),
      );
      if (this.#ended) return;
      this.phase = "paused";
      if (this.start.ownText) this.#note(keepText(this.id, this.start.ownText));
    } catch (error) {
      if (this.#ended) return;
      this.phase = "failed";
      this.problem = readError(error);
    }
    this.#settle();
  }

  async #openRun(index: number): Promise<void> {
    const record = this.#records[index]!;
    const { encoding, seed } = record.lane;
    const state = this.#unfinished.find((run) => run.encoding === encoding && run.seed === seed)?.state;
    try {
      this.#controllers[index] = await this.#pool!.open(
        {
          experiment: this.experiment,
          encoding,
          seed,
          live: liveOptions(this.experiment, this.#records.length, this.workers),
          ...(state ? { state } : {}),
        },
        (event) => this.#onEvent(index, event),
      );
      if (state)
        record.apply({
          type: "progress",
          progress: await this.#controllers[index]!.progress(),
          losses: new Float32Array(),
          firstStep: 0,
        });
    } catch (error) {
      // One lane that cannot be opened leaves the others alone.
      this.#onEvent(index, { type: "failed", error: { ...errorData(error), step: 0 } });
    }
  }

  #onEvent(index: number, event: RunEvent): void {
    if (this.#ended) return;
    const record = this.#records[index]!;
    record.apply(event);
    if (event.type === "done") {
      this.#listener.milestone({ kind: "done", encoding: record.lane.encoding });
      this.#note(keepWeights(this.id, record.lane, event.weights));
      void this.#keepResults();
    }
    if (event.type === "failed") this.#listener.milestone({ kind: "failed", encoding: record.lane.encoding });
    this.#showTimer ??= setTimeout(() => this.#show(), kShowEvery);
    if (event.type !== "progress") this.#settle();
  }

  #show(): void {
    clearTimeout(this.#showTimer);
    this.#showTimer = undefined;
    this.lanes = this.#records.map((record) => record.lane);
    const fraction = this.lanes.reduce((sum, lane) => sum + lane.fraction, 0) / Math.max(1, this.lanes.length);
    if (fraction >= 0.5 && !this.#halfSaid && this.phase === "running") {
      this.#halfSaid = true;
      this.#listener.milestone({ kind: "half" });
    }
  }

  /** When no run can go on, the race is over. */
  #settle(): void {
    this.#show();
    if (this.phase === "preparing" || this.phase === "failed") return;
    if (this.lanes.some((lane) => lane.phase !== "done" && lane.phase !== "failed")) return;
    clearTimeout(this.#keepTimer);
    if (this.phase !== "finished") this.#listener.milestone({ kind: "finished" });
    this.phase = "finished";
    void this.#keepResults();
  }

  get #open(): RunController[] {
    return this.#controllers.filter((controller, index): controller is RunController => {
      const { phase } = this.#records[index]!.lane;
      return controller !== null && phase !== "done" && phase !== "failed";
    });
  }

  async play(): Promise<void> {
    await this.#rewinding;
    if (this.phase !== "paused") return;
    this.phase = "running";
    this.#listener.milestone({ kind: "started" });
    this.#keepLater(kKeepFirst);
    await Promise.all(this.#open.map((controller) => controller.start().catch(() => {})));
    // A failing call has its own "failed" event; the lane tells.
  }

  async pause(): Promise<void> {
    if (this.phase !== "running") return;
    this.phase = "paused";
    await Promise.all(this.#open.map((controller) => controller.pause().catch(() => {})));
    this.#listener.milestone({ kind: "paused" });
    this.#show();
    await this.keep();
  }

  async step(): Promise<void> {
    await this.#rewinding;
    if (this.phase === "running") await this.pause();
    if (this.phase !== "paused") return;
    await Promise.all(this.#open.map((controller) => controller.step(1).catch(() => {})));
    this.#show();
  }

  /** Back to the start of every run, in the browser's storage as well. */
  async rewind(): Promise<void> {
    if (this.phase === "preparing" || this.phase === "failed") return;
    // A second click waits for the first.
    this.#rewinding ??= this.#rewind().finally(() => (this.#rewinding = null));
    await this.#rewinding;
  }
  async #rewind(): Promise<void> {
    if (this.phase === "running") await this.pause();
    this.#unfinished = [];
    await Promise.all(
      this.#records.map(async (record, index) => {
        const controller = this.#controllers[index];
        record.reset();
        if (controller) await controller.rewind().catch(() => {});
        else await this.#openRun(index);
        record.reset();
      }),
    );
    if (this.#ended) return;
    this.#halfSaid = false;
    this.phase = "paused";
    this.#listener.milestone({ kind: "rewound" });
    this.#show();
    await this.#note(removeProgress(this.id)); // first, where the storage is full
    if (this.#ended) return;
    await this.#keepResults();
  }

  /** A failed run once more: diverged weights are measured as they are, a dead worker's run starts again. */
  async revive(lane: Lane, how: "measure" | "restart"): Promise<void> {
    const index = this.#records.findIndex(({ lane: own }) => own.encoding === lane.encoding && own.seed === lane.seed);
    const record = this.#records[index]!;
    if (how === "measure") {
      record.lane = { ...record.lane, failure: null, phase: "measuring" };
      await this.#controllers[index]?.skipToMeasuring();
    } else {
      await this.#controllers[index]?.dispose().catch(() => {});
      this.#controllers[index] = null;
      record.reset();
      await this.#openRun(index);
    }
    if (this.phase === "finished") {
      this.phase = "running";
      this.#keepLater(kKeepEvery);
    }
    if (this.phase === "running") await this.#controllers[index]?.start().catch(() => {});
    this.#show();
  }

  /** A finished run's controller: measuring and generating go through it. */
  controllerOf(run: RunName): RunController | null {
    const index = this.#records.findIndex(({ lane }) => lane.encoding === run.encoding && lane.seed === run.seed);
    return this.#records[index]?.lane.phase === "done" ? (this.#controllers[index] ?? null) : null;
  }
  weightsOf(run: RunName): Uint8Array | null {
    return this.#records.find(({ lane }) => lane.encoding === run.encoding && lane.seed === run.seed)?.weights ?? null;
  }

  /** Keeps results and half-finished states; called now and then and when the tab is about to go. */
  async keep(): Promise<void> {
    if (!this.#stored || this.phase === "preparing" || this.phase === "failed") return;
    await this.#keepResults();
    for (const [index, controller] of this.#controllers.entries()) {
      const { lane } = this.#records[index]!;
      if (!controller || lane.phase === "done" || lane.phase === "failed" || lane.step === 0) continue;
      const state = await controller.snapshot().catch(() => null);
      // What finished meanwhile has weights, beside which a state would be taken for a run to go on with; what was rewound
      // meanwhile is not to come back.
      const { phase, step } = this.#records[index]!.lane;
      if (state && !this.#ended && phase !== "done" && step > 0) await this.#note(keepState(this.id, lane, state));
    }
  }

  #keepLater(after: number): void {
    clearTimeout(this.#keepTimer);
    this.#keepTimer = setTimeout(() => {
      void this.keep();
      this.#keepLater(kKeepEvery);
    }, after);
  }

  async #keepResults(): Promise<void> {
    const runs = this.#records.filter(({ lane }) => lane.phase === "done").map(({ lane }) => lane.result);
    const finished = this.lanes.every((lane) => lane.phase === "done" || lane.phase === "failed");
    await this.#note(
      keepRace({
        id: this.id,
        date: this.date,
        finished,
        experiment: this.experiment,
        build: this.build,
        runs,
      }),
    );
    this.#listener.kept();
  }

  async #note(outcome: Promise<StorageTrouble | null>): Promise<void> {
    this.#written = this.#written.then(() => outcome);
    const trouble = await outcome;
    if (!trouble || !this.#stored) return;
    this.#stored = false;
    this.#listener.trouble(trouble);
  }

  /** Ends the workers at once, whatever they do; what is being stored is stored when the promise is. */
  async end(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#showTimer);
    clearTimeout(this.#keepTimer);
    void this.#pool?.close();
    await this.#written;
  }
}
