// SPDX-License-Identifier: MIT
// One worker as the pool sees it: started with the compiled module, asked through Comlink, and watched: whatever waits
// for a worker that died is told so.

import { type Endpoint, releaseProxy, type Remote, transfer, wrap } from "comlink";
import { PosLabError } from "./errors.js";
import type { CompiledModule } from "./module.js";
import { importNode, isNode } from "./node-import.js";
import type { CreateWorker } from "./run-types.js";
import type { Info } from "./types.js";
import { type Answer, valueOf, type WorkerApi } from "./worker-messages.js";

/** What browser workers and those of node:worker_threads have in common, each in its own words. */
interface AnyWorker {
  postMessage(message: unknown, transfer?: unknown[]): void;
  terminate(): unknown;
  addEventListener?(type: string, listener: (event: unknown) => void): void;
  removeEventListener?(type: string, listener: (event: unknown) => void): void;
  on?(type: string, listener: (value: unknown) => void): void;
  off?(type: string, listener: (value: unknown) => void): void;
}

/** The package's own worker. The literal lets bundlers find it. */
async function defaultWorker(): Promise<AnyWorker> {
  if (typeof Worker === "function")
    return new Worker(new URL("./worker.js", import.meta.url), { type: "module" }) as unknown as AnyWorker;
  const threads = await importNode("worker_threads");
  return new threads.Worker(new URL("./worker.js", import.meta.url)) as unknown as AnyWorker;
}

export async function numberOfCores(): Promise<number> {
  const browser = (globalThis as { navigator?: { hardwareConcurrency?: number } }).navigator?.hardwareConcurrency;
  if (browser) return browser;
  if (!isNode) return 1;
  return (await importNode("os")).availableParallelism();
}

export class Lane {
  readonly #worker: AnyWorker;
  readonly #api: Remote<WorkerApi>;
  readonly #corpora = new Map<string, Promise<unknown>>();
  readonly #onDeath: (reason: string) => void;
  /** rejects when the worker dies */ readonly #death: Promise<never>;
  #kill!: (error: PosLabError) => void;
  #reason: string | null = null;
  #opening: Promise<unknown> = Promise.resolve();
  info!: Info;

  private constructor(worker: AnyWorker, onDeath: (reason: string) => void) {
    this.#worker = worker;
    this.#onDeath = onDeath;
    this.#death = new Promise((_, reject) => {
      this.#kill = reject;
    });
    this.#death.catch(() => {});
    const died = (what: string) => (value: unknown) => this.#died(`${what}${describeEnd(value)}`);
    if (worker.on) {
      worker.on("error", died("the worker failed"));
      worker.on("exit", died("the worker ended"));
    } else {
      worker.addEventListener?.("error", died("the worker failed"));
      worker.addEventListener?.("messageerror", died("the worker could not be understood"));
    }
    this.#api = wrap<WorkerApi>(worker.on ? nodeEndpoint(worker) : (worker as unknown as Endpoint));
  }

  static async start(
    compiled: CompiledModule,
    createWorker: CreateWorker | undefined,
    onDeath: (reason: string) => void,
  ): Promise<Lane> {
    const worker = createWorker ? (createWorker() as AnyWorker) : await defaultWorker();
    const lane = new Lane(worker, onDeath);
    lane.info = await lane.ask((api) => api.load(compiled.module, compiled.variant));
    return lane;
  }

  get dead(): boolean {
    return this.#reason !== null;
  }

  /** The answer of the worker, or the error that it answered with, or that it died. */
  async ask<T>(question: (api: Remote<WorkerApi>) => Promise<Answer<T>>): Promise<T> {
    if (this.#reason !== null) throw new PosLabError("worker", this.#reason);
    return valueOf(await Promise.race([question(this.#api), this.#death]));
  }

  /**
   * One opening after the other: a text must not be let go between its arrival and the opening of the run that needs
   * it.
   */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#opening.catch(() => {}).then(work);
    this.#opening = mine;
    return mine;
  }

  /** Sends a text once, however many runs use it. */
  async keepCorpus(key: string, text: Uint8Array | string, unit: "characters" | "bytes"): Promise<void> {
    const sent = this.#corpora.get(key) ?? this.ask((api) => api.keepCorpus(key, text, unit));
    this.#corpora.clear(); // the worker lets go of texts that no run uses; ask again when another one comes back
    this.#corpora.set(key, sent);
    await sent;
  }

  open(
    id: number,
    request: Parameters<WorkerApi["open"]>[1],
    corpus: string | null,
    events: MessagePort,
  ): Promise<null> {
    return this.ask((api) => api.open(id, request, corpus, transfer(events, [events])));
  }

  async terminate(): Promise<void> {
    this.#reason ??= "the worker was ended";
    this.#kill(new PosLabError("worker", this.#reason));
    this.#api[releaseProxy]();
    await this.#worker.terminate();
  }

  #died(reason: string): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#kill(new PosLabError("worker", reason));
    this.#onDeath(reason);
  }
}

function describeEnd(value: unknown): string {
  if (typeof value === "number") return ` with exit code ${value}`;
  const message = (value as { message?: unknown } | null)?.message;
  return typeof message === "string" && message ? `: ${message}` : "";
}

function nodeEndpoint(worker: AnyWorker): Endpoint {
  const listeners = new WeakMap<object, (data: unknown) => void>();
  return {
    postMessage: (message: unknown, transferred?: Transferable[]) => worker.postMessage(message, transferred),
    addEventListener: (_type: string, listener: EventListenerOrEventListenerObject) => {
      const heard = (data: unknown): void => {
        const event = { data } as MessageEvent;
        if (typeof listener === "function") listener(event);
        else listener.handleEvent(event);
      };
      listeners.set(listener, heard);
      worker.on?.("message", heard);
    },
    removeEventListener: (_type: string, listener: EventListenerOrEventListenerObject) => {
      const heard = listeners.get(listener);
      if (heard) worker.off?.("message", heard);
    },
  };
}
