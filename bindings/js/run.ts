// SPDX-License-Identifier: MIT
// "poslab/run": experiments over workers. The numbers are those of lab.experiment, however many workers there are.

import { completeExperiment } from "./experiment.js";
import { assembleResult, keyText, readResume, runKeys } from "./experiment-run.js";
import { ExperimentInterrupted } from "./interrupted.js";
import { openWorkerPool, poolOptions, readWorkers, type WorkerPool } from "./run-pool.js";
import type {
  ExperimentSession,
  OpenExperimentOptions,
  RunController,
  RunEvent,
  RunExperimentOptions,
  RunFailure,
} from "./run-types.js";
import type { CompleteExperiment, ExperimentResult, ExperimentState, Info, RunProgress, RunResult } from "./types.js";
import { numberOfCores } from "./run-lane.js";
import { checkCallback, checkOptions, checkSignal } from "./tensors.js";

export { createRunPool } from "./run-pool.js";
export { ExperimentInterrupted } from "./interrupted.js";
export { PosLabError } from "./errors.js";
export type * from "./run-types.js";

/**
 * Opens all runs of an experiment, each with its controls; nothing is trained before `start`.
 * @throws PosLabError that names the field when the experiment cannot be run
 */
export async function openExperiment(json: unknown, options: OpenExperimentOptions = {}): Promise<ExperimentSession> {
  checkOptions(options, [...poolOptions, "onEvent", "resume", "live"]);
  const { onEvent, resume: _, live: __, ...poolOnly } = options;
  checkCallback(onEvent, "onEvent");
  const complete = completeExperiment(json);
  const wanted = runKeys(complete).length;
  const workers = Math.min(wanted, readWorkers(options.workers) ?? (await numberOfCores()));
  const pool = await openWorkerPool({ ...poolOnly, workers });
  try {
    const { experiment, info } = await pool.check(complete);
    const session = new Session(pool, experiment, info, options);
    await session.open();
    return session;
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** What is known of one run, whatever becomes of its worker. */
interface Entry {
  encoding: number;
  seed: number;
  controller: RunController | null;
  result: RunResult | null;
  weights: Uint8Array | null;
  failure: RunFailure | null;
  /** of a run that failed: what it could still say */ ended: RunResult | null;
  progress: RunProgress | null;
  /** state that it was resumed from, for as long as it has not got further */ state: Uint8Array | null;
}

class Session implements ExperimentSession {
  readonly experiment: CompleteExperiment;
  readonly finished: Promise<ExperimentResult>;
  readonly #pool: WorkerPool;
  readonly #info: Info;
  readonly #options: OpenExperimentOptions;
  readonly #entries: Entry[];
  #finish!: (result: ExperimentResult) => void;
  #fail!: (error: unknown) => void;
  #disposed = false;

  constructor(pool: WorkerPool, experiment: CompleteExperiment, info: Info, options: OpenExperimentOptions) {
    this.#pool = pool;
    this.experiment = experiment;
    this.#info = info;
    this.#options = options;
    const { finished, states } = readResume(experiment, options.resume);
    const results = new Map(finished.map((run) => [keyText(run), run]));
    this.#entries = runKeys(experiment).map((key) => ({
      ...key,
      controller: null,
      result: results.get(keyText(key)) ?? null,
      weights: null,
      failure: null,
      ended: null,
      progress: null,
      state: states.get(keyText(key)) ?? null,
    }));
    this.finished = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
  }

  async open(): Promise<void> {
    const { live, onEvent } = this.#options;
    const open = this.#entries.map(async (entry) => {
      if (entry.result) return;
      const request = {
        experiment: this.experiment,
        encoding: entry.encoding,
        seed: entry.seed,
        ...(live ? { live } : {}),
        ...(entry.state ? { state: entry.state } : {}),
      };
      entry.controller = await this.#pool.open(request, (event) => {
        this.#note(entry, event);
        try {
          onEvent?.(event, { encoding: entry.encoding, seed: entry.seed });
        } catch (error) {
          // The caller's own: it ends the session.
          this.#fail(error);
          void this.dispose();
          return;
        }
        this.#finishIfDone();
      });
    });
    await Promise.all(open);
    this.#finishIfDone();
  }

  get runs(): readonly (RunController | null)[] {
    return this.#entries.map(({ controller }) => controller);
  }

  async start(): Promise<void> {
    await this.#each(({ controller, result, failure }) => (result || failure ? undefined : controller?.start()));
  }

  async pause(): Promise<void> {
    await this.#each(({ controller, result, failure }) => (result || failure ? undefined : controller?.pause()));
  }

  async rewind(): Promise<void> {
    await this.#each(async (entry) => {
      if (!entry.controller) return;
      entry.result = entry.failure = entry.ended = entry.weights = entry.state = null;
      await entry.controller.rewind();
    });
  }

  async state(): Promise<ExperimentState> {
    const unfinished: ExperimentState["unfinished"] = [];
    await this.#each(async ({ encoding, seed, controller, result, failure, progress, state }) => {
      if (result || !controller) return;
      // A run that has failed starts again when resumed; one that has not begun needs no state.
      if (failure || (!progress && !state)) return; // (one that diverged is among the results)
      unfinished.push({ encoding, seed, state: await controller.snapshot() });
    });
    const place = (key: { encoding: number; seed: number }): number =>
      this.#entries.findIndex((entry) => keyText(entry) === keyText(key));
    return { runs: this.#results(), unfinished: unfinished.sort((a, b) => place(a) - place(b)) };
  }

  async result(): Promise<ExperimentResult> {
    return assembleResult(this.experiment, this.#info, this.#results(true));
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#pool.close();
    this.#finish(await this.result());
  }

  #note(entry: Entry, event: RunEvent): void {
    if (event.type === "progress") {
      entry.progress = event.progress;
    } else if (event.type === "done") {
      entry.result = event.result;
      entry.weights = event.weights;
    } else if (event.type === "failed") {
      entry.failure = event.error;
      entry.ended = event.result ?? null;
    }
  }

  #finishIfDone(): void {
    if (this.#entries.every(({ result, failure }) => result || failure))
      this.#finish(assembleResult(this.experiment, this.#info, this.#results(true)));
  }

  /** Finished runs and, when wanted, failed ones with what is known of them. */
  #results(failedToo = false): RunResult[] {
    return this.#entries.flatMap(({ encoding, seed, result, failure, ended, progress }): RunResult[] => {
      if (result) return [result];
      // A run that diverged would diverge again: that is its result.
      if (ended && (failedToo || failure?.code === "diverged")) return [ended];
      if (!failure || !failedToo) return [];
      const steps = progress?.step ?? failure.step;
      const nothing = {
        parameters: 0,
        seconds: 0,
        tokensPerSecond: 0,
        training: [],
        byLength: [],
        byPosition: { binWidth: 0, loss: [] },
        atTest: [],
      };
      return [{ encoding, seed, steps, ...nothing, stopped: { reason: failure.message, step: failure.step } }];
    });
  }

  async #each(work: (entry: Entry) => Promise<unknown> | undefined): Promise<void> {
    await Promise.all(this.#entries.map(work));
  }
}

/**
 * Runs an experiment over workers, as many as there are cores unless `workers` says otherwise.
 * @throws ExperimentInterrupted when `signal` fires: its `state` resumes the experiment, bit for bit.
 */
export async function runExperiment(json: unknown, options: RunExperimentOptions = {}): Promise<ExperimentResult> {
  checkOptions(options, [...poolOptions, "resume", "signal", "onProgress", "onRun"]);
  const { signal, onProgress, onRun, ...rest } = options;
  checkSignal(signal);
  checkCallback(onProgress, "onProgress");
  checkCallback(onRun, "onRun");
  const session = await openExperiment(json, {
    ...rest,
    onEvent: (event) => {
      if (event.type === "progress") onProgress?.(event.progress);
      // A run that diverged has weights worth keeping; one whose worker died has not.
      if ((event.type === "done" || event.type === "failed") && event.result && event.weights)
        onRun?.(event.result, event.weights);
    },
  });
  try {
    const aborted = new Promise<"aborted">((resolve) => {
      if (signal?.aborted) resolve("aborted");
      signal?.addEventListener("abort", () => resolve("aborted"), { once: true });
    });
    // What a callback throws comes as `finished`, before the workers' end is seen by a start that is under way.
    if (!signal?.aborted) await Promise.race([session.start(), session.finished]);
    const end = await Promise.race([session.finished, aborted]);
    if (end !== "aborted") return end;
    await session.pause();
    throw new ExperimentInterrupted(await session.state(), signal?.reason);
  } finally {
    await session.dispose();
  }
}
