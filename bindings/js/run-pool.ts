// SPDX-License-Identifier: MIT
// Runs over workers: each run is opened in the worker with the least to do, and moved (by its snapshot, so bit for bit) when
// another worker has nothing left. Who holds a run's controls notices nothing of it.

import { PosLabError } from "./errors.js";
import { textOf } from "./experiment-run.js";
import { compileModule, type CompiledModule } from "./module.js";
import { Lane, numberOfCores } from "./run-lane.js";
import type {
  AttentionLook, AttentionPicture, Generated, GenerateOptions, MeasureOptions, Measurement, RunController, RunEvent, RunPool, RunPoolOptions, RunRequest,
} from "./run-types.js";
import type { CompleteExperiment, Info, RunProgress, RunResult } from "./types.js";
import type { Closed, RunMethod } from "./worker-messages.js";

/** Moving costs a snapshot and a new start: not worth it when little is left. */
const leastLeftToMove = 0.1;

/** Makes a pool; workers are started when runs need them. */
export async function createRunPool(options: RunPoolOptions = {}): Promise<WorkerPool> {
  const { variant, wasm } = options;
  const compiled = await compileModule({ ...(variant ? { variant } : {}), ...(wasm ? { wasm } : {}) });
  return new WorkerPool(compiled, options, Math.max(1, options.workers ?? (await numberOfCores())));
}

interface Text { key: string; text: Uint8Array | string; unit: "characters" | "bytes" }

export class WorkerPool implements RunPool {
  readonly workers: number;
  readonly #compiled: CompiledModule;
  readonly #options: RunPoolOptions;
  readonly #lanes: Promise<Lane>[] = [];
  readonly #runs = new Set<RemoteRun>();
  #ids = 0;
  #closed = false;

  /** @internal */
  constructor(compiled: CompiledModule, options: RunPoolOptions, workers: number) {
    this.#compiled = compiled;
    this.#options = options;
    this.workers = workers;
  }

  /** Checks an experiment with all that the core knows, and says what build answers. */
  async check(experiment: CompleteExperiment): Promise<{ experiment: CompleteExperiment; info: Info }> {
    const lane = await this.#laneFor(null);
    const text = await this.#text(experiment);
    const checked = await lane.exclusively(async () => {
      if (text) await lane.keepCorpus(text.key, text.text, text.unit);
      return lane.ask((api) => api.check(withoutText(experiment), text?.key ?? null));
    });
    return { experiment: { ...checked, task: experiment.task }, info: lane.info };
  }

  async open(request: RunRequest, onEvent: (event: RunEvent) => void = () => {}): Promise<RunController> {
    const text = await this.#text(request.experiment);
    const run = new RemoteRun(this, request, text, onEvent);
    this.#runs.add(run);
    try {
      await run.place(await this.#laneFor(run));
    } catch (error) {
      this.#runs.delete(run);
      throw error;
    }
    return run;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const run of this.#runs) run.forget();
    this.#runs.clear();
    const lanes = await Promise.allSettled(this.#lanes.splice(0));
    await Promise.all(lanes.map((lane) => (lane.status === "fulfilled" ? lane.value.terminate() : undefined)));
  }

  /** @internal a worker for a run: a new one while there are too few, else the one with the least to do */
  async #laneFor(run: RemoteRun | null): Promise<Lane> {
    if (this.#closed) throw new PosLabError("disposed", "the pool of workers is closed");
    const load = new Map<Promise<Lane>, number>(this.#lanes.map((lane) => [lane, 0]));
    for (const other of this.#runs) {
      if (other !== run && other.lane && load.has(other.lane)) load.set(other.lane, load.get(other.lane)! + 1);
    }
    let [best, least] = [undefined as Promise<Lane> | undefined, Infinity];
    for (const [lane, count] of load) if (count < least) [best, least] = [lane, count];
    if (!best || (least > 0 && this.#lanes.length < this.workers)) best = this.#startLane();
    if (run) run.lane = best;
    return best;
  }

  #startLane(): Promise<Lane> {
    const lane: Promise<Lane> = Lane.start(this.#compiled, this.#options.createWorker, (reason) => {
      this.#drop(lane);
      for (const run of this.#runs) if (run.lane === lane) run.died(reason);
    });
    this.#lanes.push(lane);
    lane.catch(() => this.#drop(lane));
    return lane;
  }

  #drop(lane: Promise<Lane>): void {
    const index = this.#lanes.indexOf(lane);
    if (index >= 0) this.#lanes.splice(index, 1);
  }

  /** @internal */
  nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  /** @internal a fresh place for a run whose worker is gone */
  anotherLane(run: RemoteRun): Promise<Lane> {
    run.lane = undefined;
    return this.#laneFor(run);
  }

  /** @internal */
  remove(run: RemoteRun): void {
    this.#runs.delete(run);
    this.balance();
  }

  /** @internal when a worker has nothing to do and another has two runs at work, one of them moves */
  balance(): void {
    if (this.#closed || this.#lanes.length < 2) return;
    const busy = (lane: Promise<Lane>): RemoteRun[] => [...this.#runs].filter((run) => run.lane === lane && run.isWorking);
    const idle = this.#lanes.find((lane) => busy(lane).length === 0);
    if (!idle) return;
    const crowded = this.#lanes.map(busy).sort((a, b) => b.length - a.length)[0];
    if (!crowded || crowded.length < 2) return;
    const candidate = crowded.sort((a, b) => a.fraction - b.fraction)[0]!;
    if (1 - candidate.fraction < leastLeftToMove) return;
    void candidate.move(idle);
  }

  async #text(experiment: CompleteExperiment): Promise<Text | null> {
    const { task } = experiment;
    if (task.type !== "text") return null;
    const text = await textOf(experiment, this.#options.corpora);
    const unit = task.unit ?? "characters";
    return text === null ? null : { key: `${unit} ${task.text === undefined ? `corpus ${task.corpus}` : `text ${task.text}`}`, text, unit };
  }
}

/** The text itself goes to a worker once, as a corpus. */
function withoutText(experiment: CompleteExperiment): CompleteExperiment {
  const { task } = experiment;
  return task.type === "text" && task.text !== undefined ? { ...experiment, task: { ...task, text: "" } } : experiment;
}

/** A run in some worker. */
export class RemoteRun implements RunController {
  readonly encoding: number;
  readonly seed: number;
  readonly #pool: WorkerPool;
  readonly #request: RunRequest;
  readonly #text: Text | null;
  readonly #onEvent: (event: RunEvent) => void;
  #id = 0;
  #events: MessagePort | undefined;
  /** calls wait while the run moves */ #placed: Promise<Lane> | undefined;
  #disposed = false;
  #last: RunProgress | undefined;
  #moving = false;
  /** @internal where it is */ lane: Promise<Lane> | undefined;

  constructor(pool: WorkerPool, request: RunRequest, text: Text | null, onEvent: (event: RunEvent) => void) {
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

  /** @internal opens the run in a worker */
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
    if (event.type === "progress") this.#last = event.progress;
    this.#onEvent(event);
    if (event.type === "done" || event.type === "failed") this.#pool.balance();
  }

  /** @internal the worker is gone: the lane says so, the others go on */
  died(reason: string): void {
    if (this.#disposed) return;
    this.#events?.close();
    const step = this.#last?.step ?? 0;
    const error = { code: "worker", message: reason, step };
    if (this.#last?.phase === "done") return;
    if (this.#last) {
      this.#last = { ...this.#last, phase: "failed", paused: true, error: reason };
      this.#onEvent({ type: "progress", progress: this.#last, losses: new Float32Array(), firstStep: step });
    }
    this.#onEvent({ type: "failed", error });
  }

  /** @internal to another worker, bit for bit */
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
    await this.#placed.catch(() => {});
    this.#moving = false;
  }

  /** @internal the pool is closing */
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
