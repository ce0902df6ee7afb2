// SPDX-License-Identifier: MIT
// The worker of "poslab/worker": holds runs and works on them in slices, each in turn. Importing this file in a worker
// (browser or node:worker_threads) starts it; pages and programs talk to it through "poslab/run".

import { type Endpoint, expose, transfer } from "comlink";
import type { LabCorpus } from "./lab-corpus.js";
import { startModule, type Variant } from "./module.js";
import { importNode } from "./node-import.js";
import { PosLab } from "./poslab.js";
import { LocalRun } from "./run-controller.js";
import type { RunEvent, RunRequest } from "./run-types.js";
import type { CompleteExperiment } from "./types.js";
import { type Answer, buffersOf, type Closed, errorData, type RunMethod, type WorkerApi } from "./worker-messages.js";

class RunWorker implements WorkerApi {
  #lab: PosLab | undefined;
  readonly #corpora = new Map<string, LabCorpus>();
  readonly #runs = new Map<number, { run: LocalRun; corpus: string | null; events: MessagePort }>();

  load(module: WebAssembly.Module, variant: Variant): ReturnType<WorkerApi["load"]> {
    return answer(async () => {
      this.#lab = new PosLab(await startModule({ module, variant }), variant);
      return this.#lab.info;
    });
  }

  keepCorpus(
    key: string,
    text: Uint8Array | string,
    unit: "characters" | "bytes",
  ): ReturnType<WorkerApi["keepCorpus"]> {
    return answer(() => {
      const used = new Set([...this.#runs.values()].map(({ corpus }) => corpus));
      for (const [other, corpus] of this.#corpora) {
        if (used.has(other)) continue;
        corpus.dispose();
        this.#corpora.delete(other);
      }
      if (!this.#corpora.has(key)) this.#corpora.set(key, this.#loaded.corpus(text, unit));
      return null;
    });
  }

  check(experiment: CompleteExperiment, corpus: string | null): ReturnType<WorkerApi["check"]> {
    return answer(() => this.#loaded.checkExperiment(experiment, this.#corpus(corpus)));
  }

  open(id: number, request: RunRequest, corpus: string | null, events: MessagePort): ReturnType<WorkerApi["open"]> {
    return answer(() => {
      const say = (event: RunEvent): void => events.postMessage(event, buffersOf(event));
      const run = new LocalRun(this.#loaded, request, this.#corpus(corpus), say);
      this.#runs.set(id, { run, corpus, events });
      return null;
    });
  }

  call(id: number, method: RunMethod, values: unknown[]): ReturnType<WorkerApi["call"]> {
    return answer(() => {
      const entry = this.#runs.get(id);
      if (!entry) throw new Error(`there is no run ${id} in this worker`);
      const bound = entry.run[method] as (...values: unknown[]) => Promise<unknown>;
      return bound.apply(entry.run, values);
    });
  }

  close(id: number): ReturnType<WorkerApi["close"]> {
    return answer(async () => {
      const entry = this.#runs.get(id);
      this.#runs.delete(id);
      await entry?.run.dispose();
      entry?.events.postMessage({ type: "closed" } satisfies Closed);
      return null;
    });
  }

  get #loaded(): PosLab {
    if (!this.#lab) throw new Error("the module is not loaded yet");
    return this.#lab;
  }

  #corpus(key: string | null): LabCorpus | null {
    if (key === null) return null;
    const corpus = this.#corpora.get(key);
    if (!corpus) throw new Error("the text is not in this worker");
    return corpus;
  }
}

async function answer<T>(work: () => T | Promise<T>): Promise<Answer<T>> {
  try {
    const value = await work();
    return transfer({ value }, buffersOf(value));
  } catch (error) {
    return { error: errorData(error) };
  }
}

/** A worker_threads port as Comlink wants it. */
interface NodePort {
  postMessage(message: unknown, transfer?: unknown[]): void;
  on(type: "message", listener: (data: unknown) => void): void;
}

function nodeEndpoint(port: NodePort): Endpoint {
  return {
    postMessage: (message: unknown, transferred?: Transferable[]) => port.postMessage(message, transferred),
    addEventListener: (_type: string, listener: EventListenerOrEventListenerObject) => {
      port.on("message", (data) => {
        const event = { data } as MessageEvent;
        if (typeof listener === "function") listener(event);
        else listener.handleEvent(event);
      });
    },
    removeEventListener: () => {},
  };
}

async function serve(): Promise<void> {
  if (
    typeof (globalThis as { importScripts?: unknown }).importScripts === "function" ||
    typeof (globalThis as { WorkerGlobalScope?: unknown }).WorkerGlobalScope === "function"
  ) {
    expose(new RunWorker());
    return;
  }
  const { parentPort } = await importNode("worker_threads");
  if (parentPort) expose(new RunWorker(), nodeEndpoint(parentPort as unknown as NodePort));
}

void serve();
