// SPDX-License-Identifier: MIT
// A run that works by itself in this thread, in slices, and reports what happens. Workers hold these; lab.experiment
// uses them directly, which is why both give the same numbers.

import { PosLabError } from "./errors.js";
import type { LabCorpus } from "./lab-corpus.js";
import type { LabRun } from "./lab-run.js";
import type { PosLab } from "./poslab.js";
import { estimate, Pace } from "./run-progress.js";
import type {
  AttentionLook,
  AttentionPicture,
  Generated,
  GenerateOptions,
  MeasureOptions,
  Measurement,
  RunController,
  RunEvent,
  RunFailure,
  RunRequest,
} from "./run-types.js";
import { nextTurn, SliceSize } from "./slices.js";
import { checkOptions, readNatural } from "./tensors.js";
import type { RunProgress, RunResult } from "./types.js";
import { errorData } from "./worker-messages.js";

const reportTime = 100;

/** The loop's reasons to stop. */
type State = "idle" | "running" | "failed" | "disposed";

export class LocalRun implements RunController {
  readonly encoding: number;
  readonly seed: number;
  readonly #lab: PosLab;
  readonly #request: RunRequest;
  readonly #corpus: LabCorpus | null;
  readonly #onEvent: (event: RunEvent) => void;
  readonly #slice = new SliceSize();
  #run: LabRun;
  #state: State = "idle";
  #started = false;
  /** weights were given: there is nothing to train */ #trained = false;
  #failure: RunFailure | undefined;
  #looping = false;
  /** whoever measures holds the run: its weights must not change meanwhile */ #measuring: Promise<unknown> =
    Promise.resolve();
  #held = 0;
  #reported = 0;
  #lastReport = 0;
  #lastLive = performance.now();
  #liveStep = 0;
  readonly #pace = new Pace();
  #announced = false;

  constructor(lab: PosLab, request: RunRequest, corpus: LabCorpus | null, onEvent: (event: RunEvent) => void) {
    this.#lab = lab;
    this.#request = request;
    this.#corpus = corpus;
    this.#onEvent = onEvent;
    this.encoding = request.encoding;
    this.seed = request.seed;
    this.#run = this.#make(request);
  }

  #make({ experiment, state, weights }: RunRequest): LabRun {
    const run = this.#lab.createRun(experiment, this.encoding, this.seed, this.#corpus);
    try {
      if (state) run.restore(state);
      if (weights) run.setWeights(weights);
      this.#trained = weights !== undefined;
    } catch (error) {
      run.dispose();
      throw error;
    }
    this.#reported = run.progress().step;
    return run;
  }

  // ---------------------------------------------------------------------------------------------- control

  async start(): Promise<void> {
    this.#checkAlive();
    if (this.#trained)
      throw new PosLabError("state", "a run that was opened with trained weights has nothing to train", {
        argument: "start",
      });
    if (this.#state === "failed")
      throw new PosLabError("state", "the run has failed; rewind it, or measure the last good weights", {
        argument: "start",
      });
    this.#state = "running";
    this.#started = true;
    this.#lastLive = performance.now();
    this.#pace.begin(this.#run.progress().step);
    if (!this.#looping) void this.#loop();
  }

  async pause(): Promise<void> {
    this.#checkAlive();
    if (this.#state !== "running") return;
    this.#state = "idle";
    this.#report(true);
  }

  async step(count = 1): Promise<RunProgress> {
    readNatural(count, "count");
    await this.pause();
    this.#started = true;
    if (!this.#trained && this.#run.progress().phase === "training") {
      await this.#hold(async () => {
        for (let done = 0; done < count && this.#run.progress().phase === "training"; done += 1) {
          this.#run.advance(1);
          await nextTurn();
          this.#checkAlive();
        }
      });
    }
    this.#report(true);
    return this.progress();
  }

  async rewind(): Promise<void> {
    await this.pause();
    const fresh = this.#make({ ...this.#request, state: undefined, weights: undefined } as RunRequest);
    this.#run.dispose();
    this.#run = fresh;
    this.#state = "idle";
    this.#started = this.#trained = this.#announced = false;
    this.#failure = undefined;
    this.#reported = this.#liveStep = 0;
    this.#pace.forget();
    this.#report(true);
  }

  async skipToMeasuring(): Promise<void> {
    this.#checkAlive();
    this.#run.skipToMeasuring();
    if (this.#state === "failed") {
      this.#state = "idle";
      this.#failure = undefined;
    }
  }

  async dispose(): Promise<void> {
    if (this.#state === "disposed") return;
    this.#state = "disposed";
    this.#run.dispose();
  }

  // ---------------------------------------------------------------------------------------------- looking

  async progress(): Promise<RunProgress> {
    this.#checkAlive();
    return this.#progress();
  }

  async measure(options: MeasureOptions = {}): Promise<Measurement> {
    this.#checkAlive();
    checkOptions(options, ["change", "lengths", "windows", "byPosition"]);
    return this.#hold(() => this.#measure(options));
  }

  async generate(options?: GenerateOptions): Promise<Generated> {
    this.#checkAlive();
    return this.#run.generate(options);
  }

  async attention(options?: AttentionLook): Promise<AttentionPicture> {
    this.#checkAlive();
    return this.#run.attention(options);
  }

  async weights(dtype?: "F32" | "F16"): Promise<Uint8Array> {
    this.#checkAlive();
    return this.#run.weights(dtype);
  }

  async snapshot(): Promise<Uint8Array> {
    this.#checkAlive();
    return this.#run.snapshot();
  }

  async result(): Promise<RunResult> {
    this.#checkAlive();
    return this.#result();
  }

  #result(): RunResult {
    const result = this.#run.result();
    return this.#failure ? { ...result, stopped: { reason: this.#failure.message, step: this.#failure.step } } : result;
  }

  // ---------------------------------------------------------------------------------------------- the loop

  async #loop(): Promise<void> {
    this.#looping = true;
    while (this.#state === "running") {
      await nextTurn();
      while (this.#held > 0) await this.#measuring.catch(() => {});
      if (this.#state !== "running") break;
      try {
        if (this.#isLiveDue()) await this.#measureLive();
        else this.#slice.timed((amount) => this.#run.advance(amount));
      } catch (error) {
        if ((this.#state as State) !== "disposed") this.#fail(error);
        break;
      }
      this.#report(false);
      if ((this.#state as State) === "running" && this.#run.progress().phase === "done") {
        this.#state = "idle";
        this.#announceDone();
      }
    }
    this.#looping = false;
    // start() may have come while the loop was ending.
    if ((this.#state as State) === "running") void this.#loop();
  }

  #fail(error: unknown): void {
    this.#state = "failed";
    this.#failure = { ...errorData(error), step: this.#run.progress().step };
    this.#report(true);
    this.#onEvent({ type: "failed", error: this.#failure, result: this.#result(), weights: this.#run.weights() });
  }

  #announceDone(): void {
    if (this.#announced) return;
    this.#announced = true;
    this.#report(true);
    this.#onEvent({ type: "done", result: this.#result(), weights: this.#run.weights() });
  }

  /** Holds training back while something needs the weights as they are. Holders wait for each other. */
  async #hold<T>(work: () => Promise<T>): Promise<T> {
    this.#held += 1;
    const before = this.#measuring;
    const mine = before.catch(() => {}).then(work);
    this.#measuring = mine;
    try {
      return await mine;
    } finally {
      this.#held -= 1;
    }
  }

  async #measure(options: MeasureOptions): Promise<Measurement> {
    const { test } = this.#request.experiment;
    const run = this.#run;
    const byLength: Measurement["byLength"] = [];
    let byPosition: Measurement["byPosition"];
    for (const length of options.lengths ?? test.lengths) {
      const size = new SliceSize();
      const slices = run.measuring(options.change ?? {}, length, options.windows ?? test.windows, () => size.amount);
      for (;;) {
        let next: ReturnType<typeof slices.next> | undefined;
        size.timed(() => {
          next = slices.next();
        });
        if (next?.done) {
          const { entry, byPosition: positions } = next.value;
          byLength.push(entry);
          if (options.byPosition && entry.reason === undefined && length >= (byPosition?.length ?? 0))
            byPosition = { length, ...positions };
          break;
        }
        await nextTurn();
        if (this.#run !== run || this.#state === "disposed")
          throw new PosLabError("aborted", "the run was rewound or disposed of while it was measured");
      }
    }
    return { byLength, ...(byPosition ? { byPosition } : {}) };
  }

  #isLiveDue(): boolean {
    const { live } = this.#request;
    const { phase, step } = this.#run.progress();
    // Not twice at the same step, however often it is wanted: training must get on.
    if (!live || phase !== "training" || step === this.#liveStep) return false;
    return performance.now() - this.#lastLive > 1000 * (live.everySeconds ?? 3);
  }

  async #measureLive(): Promise<void> {
    const live = this.#request.live!;
    const { step } = this.#run.progress();
    const measurement = await this.#hold(() =>
      this.#measure({
        windows: live.windows ?? 16,
        byPosition: true,
        ...(live.lengths ? { lengths: live.lengths } : {}),
      }),
    );
    this.#lastLive = performance.now();
    this.#liveStep = step;
    this.#onEvent({ type: "live", step, measurement });
  }

  // ---------------------------------------------------------------------------------------------- reporting

  #report(now: boolean): void {
    if (this.#state === "disposed" || (!now && performance.now() - this.#lastReport < reportTime)) return;
    this.#lastReport = performance.now();
    if (this.#state === "running") this.#pace.observe(this.#run.progress().step);
    const firstStep = this.#reported;
    const losses = Float32Array.from(this.#run.losses(firstStep));
    this.#reported += losses.length;
    this.#onEvent({ type: "progress", progress: this.#progress(), losses, firstStep });
  }

  #progress(): RunProgress {
    const progress = this.#run.progress();
    const { step, steps, loss } = progress;
    const { stepsPerSecond } = this.#pace;
    const phase = this.#failure
      ? "failed"
      : this.#trained
        ? "done"
        : this.#started || step > 0
          ? progress.phase
          : "waiting";
    return {
      encoding: this.encoding,
      seed: this.seed,
      phase,
      paused: this.#state === "idle" && phase !== "done",
      step,
      steps,
      loss: Number.isFinite(loss) ? loss : null,
      stepsPerSecond,
      ...estimate(this.#request.experiment, this.#trained ? { ...progress, phase: "done" } : progress, stepsPerSecond),
      ...(this.#failure ? { error: this.#failure.message } : {}),
    };
  }

  #checkAlive(): void {
    if (this.#state === "disposed")
      throw new PosLabError("disposed", "the run has been disposed of; it cannot be used any more");
  }
}
