// SPDX-License-Identifier: MIT
// Runs over workers: each run is opened in the worker with the least to do, and moved (by its snapshot, so bit for bit)
// when another worker has nothing left. Who holds a run's controls notices nothing of it.

import { PosLabError, wrongArgument } from "./errors.js";
import { textOf } from "./experiment-run.js";
import { compileModule, type CompiledModule } from "./module.js";
import { RemoteRun, type RunHome, type Text, withoutText } from "./remote-run.js";
import { Lane, numberOfCores } from "./run-lane.js";
import type { RunController, RunEvent, RunPool, RunPoolOptions, RunRequest } from "./run-types.js";
import { checkCallback, checkOptions, readCount } from "./tensors.js";
import type { CompleteExperiment, Info } from "./types.js";

/** Moving costs a snapshot and a new start: not worth it when little is left. */
const leastLeftToMove = 0.1;

/** Names of a pool's options. */
export const poolOptions: readonly string[] = ["workers", "createWorker", "variant", "wasm", "corpora"];

/** Makes a pool; workers are started when runs need them. */
export function createRunPool(options: RunPoolOptions = {}): Promise<RunPool> {
  return openWorkerPool(options);
}

/** The same, for the package itself. */
export async function openWorkerPool(options: RunPoolOptions): Promise<WorkerPool> {
  checkOptions(options, poolOptions);
  const { variant, wasm, createWorker } = options;
  checkCallback(createWorker, "createWorker");
  const workers = readWorkers(options.workers) ?? (await numberOfCores());
  const compiled = await compileModule({ ...(variant ? { variant } : {}), ...(wasm ? { wasm } : {}) });
  return new WorkerPool(compiled, options, workers);
}

export function readWorkers(workers: number | undefined): number | undefined {
  if (workers !== undefined && readCount(workers, "workers") < 1)
    throw wrongArgument("range", "workers", workers, "a whole number of at least 1");
  return workers;
}

export class WorkerPool implements RunPool, RunHome {
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

  nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  /** a fresh place for a run whose worker is gone */
  anotherLane(run: RemoteRun): Promise<Lane> {
    run.lane = undefined;
    return this.#laneFor(run);
  }

  remove(run: RemoteRun): void {
    this.#runs.delete(run);
    this.balance();
  }

  /** when a worker has nothing to do and another has two runs at work, one of them moves */
  balance(): void {
    if (this.#closed || this.#lanes.length < 2) return;
    const busy = (lane: Promise<Lane>): RemoteRun[] =>
      [...this.#runs].filter((run) => run.lane === lane && run.isWorking);
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
    return text === null
      ? null
      : { key: `${unit} ${task.text === undefined ? `corpus ${task.corpus}` : `text ${task.text}`}`, text, unit };
  }
}
