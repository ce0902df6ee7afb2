// SPDX-License-Identifier: MIT
// A run in some worker: its controls as calls, its events as they come through its port, and moving from worker to
// worker.

import { PosLabError } from "./errors.js";
import type { Lane } from "./run-lane.js";
import type {
  AttentionLook,
  AttentionPicture,
  Generated,
  GenerateOptions,
  MeasureOptions,
  Measurement,
  RunController,
  RunEvent,
  RunRequest,
} from "./run-types.js";
import type { CompleteExperiment, RunProgress, RunResult } from "./types.js";
import { type Closed, errorData, type RunMethod } from "./worker-messages.js";

/** A text and what workers call it. */
export interface Text {
  key: string;
  text: Uint8Array | string;
  unit: "characters" | "bytes";
}

/** The pool, as its runs see it. */
export interface RunHome {
  nextId(): number;
  balance(): void;
  remove(run: RemoteRun): void;
  anotherLane(run: RemoteRun): Promise<Lane>;
}

/** The text itself goes to a worker once, as a corpus. */
export function withoutText(experiment: CompleteExperiment): CompleteExperiment {
  const { task } = experiment;
  return task.type === "text" && task.text !== undefined ? { ...experiment, task: { ...task, text: "" } } : experiment;
}

/** A run in some worker. */
export class RemoteRun implements RunController {
  readonly encoding: number;
  readonly seed: number;
  readonly #pool: RunHome;
  readonly #request: RunRequest;
  readonly #text: Text | null;
  readonly #onEvent: (event: RunEvent) => void;
  #id = 0;
  #events: MessagePort | undefined;
  /** calls wait while the run moves */ #placed: Promise<Lane> | undefined;
  #disposed = false;
  #last: RunProgress | undefined;
  #moving = false;
  /** where it is */ lane: Promise<Lane> | undefined;

  constructor(pool: RunHome, request: RunRequest, text: Text | null, onEvent: (event: RunEvent) => void) {
    this.#pool = pool;
    this.#request = { ...request, experiment: withoutText(request.experiment) };
    this.#text = text;
    this.#onEvent = onEvent;
    this.encoding = request.encoding;
    this.seed = request.seed;
  }

  /** Trains or measures right now. */
  get isWorking(): boolean {
    const { phase, paused } = this.#last ?? { phase: "waiting", paused: true };
    return !this.#moving && !paused && (phase === "training" || phase === "measuring");
  }
  get fraction(): number {
    return this.#last?.fraction ?? 0;
  }

  /** opens the run in a worker */
  async place(lane: Lane, request: RunRequest = this.#request): Promise<void> {
    const opened = this.#open(lane, request);
    this.#placed = opened;
    await opened;
  }

  async #open(lane: Lane, request: RunRequest): Promise<Lane> {
    const { port1, port2 } = new MessageChannel();
    const id = this.#pool.nextId();
    port1.onmessage = ({ data }: MessageEvent<RunEvent | Closed>) => {
      if (data.type === "closed") port1.close();
      else this.#heard(id, data);
    };
    this.#id = id;
    this.#events = port1;
    try {
      await lane.exclusively(async () => {
        if (this.#text) await lane.keepCorpus(this.#text.key, this.#text.text, this.#text.unit);
        await lane.open(id, request, this.#text?.key ?? null, port2);
      });
    } catch (error) {
      port1.close();
      throw error;
    }
    return lane;
  }

  #heard(id: number, event: RunEvent): void {
    if (this.#disposed || (id !== this.#id && event.type !== "progress")) return;
    let said = event;
    if (event.type === "progress") {
      // A run that moves is paused for a moment: nobody's business.
      if (this.#moving) said = { ...event, progress: { ...event.progress, paused: false } };
      this.#last = event.progress;
    }
    this.#onEvent(said);
    if (event.type === "done" || event.type === "failed") this.#pool.balance();
  }

  /** the worker is gone: the lane says so, the others go on */
  died(reason: unknown): void {
    if (this.#disposed) return;
    this.#events?.close();
    const step = this.#last?.step ?? 0;
    const error = { ...errorData(reason), step };
    if (this.#last?.phase === "done") return;
    if (this.#last) {
      this.#last = { ...this.#last, phase: "failed", paused: true, error: error.message };
      this.#onEvent({ type: "progress", progress: this.#last, losses: new Float32Array(), firstStep: step });
    }
    this.#onEvent({ type: "failed", error });
  }

  /** to another worker, bit for bit */
  async move(to: Promise<Lane>): Promise<void> {
    if (this.#moving || this.#disposed) return;
    this.#moving = true;
    const from = this.#placed;
    const old = this.#id;
    this.#placed = (async () => {
      const lane = await from!;
      await lane.ask((api) => api.call(old, "pause", []));
      const state = (await lane.ask((api) => api.call(old, "snapshot", []))) as Uint8Array;
      const next = await to;
      this.lane = to;
      const moved = await this.#open(next, { ...this.#request, state });
      void lane.ask((api) => api.close(old)).catch(() => {});
      await next.ask((api) => api.call(this.#id, "start", []));
      return moved;
    })();
    await this.#placed.catch((error: unknown) => this.died(error));
    this.#moving = false;
  }

  /** the pool is closing */
  forget(): void {
    this.#disposed = true;
    this.#events?.close();
  }

  async #call<T>(method: RunMethod, ...values: unknown[]): Promise<T> {
    if (this.#disposed) throw new PosLabError("disposed", "the run has been disposed of; it cannot be used any more");
    const lane = await this.#placed!;
    return (await lane.ask((api) => api.call(this.#id, method, values))) as T;
  }

  start(): Promise<void> {
    return this.#call("start");
  }
  pause(): Promise<void> {
    return this.#call("pause");
  }
  step(count?: number): Promise<RunProgress> {
    return this.#call("step", count);
  }
  async rewind(): Promise<void> {
    const lane = await this.#placed?.catch(() => undefined);
    if (!lane?.dead) return this.#call("rewind");
    // Its worker is gone: a fresh start in another one.
    const { state: _state, weights: _weights, ...fresh } = this.#request;
    await this.place(await this.#pool.anotherLane(this), fresh);
    this.#last = await this.#call<RunProgress>("progress");
    this.#onEvent({ type: "progress", progress: this.#last, losses: new Float32Array(), firstStep: 0 });
  }
  skipToMeasuring(): Promise<void> {
    return this.#call("skipToMeasuring");
  }
  progress(): Promise<RunProgress> {
    return this.#call("progress");
  }
  measure(options?: MeasureOptions): Promise<Measurement> {
    return this.#call("measure", options);
  }
  generate(options?: GenerateOptions): Promise<Generated> {
    return this.#call("generate", options);
  }
  attention(options?: AttentionLook): Promise<AttentionPicture> {
    return this.#call("attention", options);
  }
  weights(dtype?: "F32" | "F16"): Promise<Uint8Array> {
    return this.#call("weights", dtype);
  }
  snapshot(): Promise<Uint8Array> {
    return this.#call("snapshot");
  }
  result(): Promise<RunResult> {
    return this.#call("result");
  }

  /** Returns at once; the worker stops working on it after its slice. */
  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const id = this.#id;
    void this.#placed?.then((lane) => lane.ask((api) => api.close(this.#id || id))).catch(() => {});
    this.#pool.remove(this);
  }
}
