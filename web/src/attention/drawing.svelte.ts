// SPDX-License-Identifier: MIT
// Keeps what is drawn up with what is wanted. One thing at a time is asked of the worker, and always by the newest wish:
// while one drags, no picture waits for places that are gone by.

import { wrap, type Remote } from "comlink";
import { SvelteMap } from "svelte/reactivity";
import type { Encoding } from "../engine/poslab.js";
import { startThread } from "./thread.js";
import type { PanelRequest, PanelResult, RowResult, Sight } from "./panels.js";
import type { RaceModels } from "./trained.js";
import type { Answer, PanelWorker, Problem, SceneFacts, SceneRequest } from "./worker.js";

export interface Wanted {
  scene: SceneRequest;
  encodings: readonly Encoding[];
  sight: Sight;
  request: PanelRequest;
  /** the query that is read out, or null */ query: number | null;
}

/** What is drawn of one encoding; an answer stays until the next one is there. */
export interface Drawn<Value> {
  answer: Answer<Value>;
  /** what it answers */ key: string;
  offset: number;
}

export class Drawing {
  facts = $state.raw<SceneFacts | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** the worker could not be started or has died */ failure = $state<string | null>(null);
  readonly panels = new SvelteMap<string, Drawn<PanelResult>>();
  readonly rows = new SvelteMap<string, Drawn<RowResult>>();
  /** everything wanted is drawn */ settled = $state(false);

  #wanted: Wanted | null = null;
  #scene = "";
  #next = 0;
  #working = false;
  #closed = false;
  #thread: Worker | undefined;
  #remote: Remote<PanelWorker> | undefined;
  #race = "";

  constructor(readonly findRace: (id: string) => Promise<RaceModels>) {}

  want(wanted: Wanted): void {
    this.#wanted = wanted;
    if (!this.#working) void this.#work();
  }
  close(): void {
    this.#closed = true;
    this.#thread?.terminate();
  }

  /** What one row's call is given, for code that makes it elsewhere. */
  call(encoding: Encoding): ReturnType<PanelWorker["call"]> {
    const { sight, query, request } = this.#wanted!;
    return this.#worker().call(encoding, sight, query ?? 0, request.offset);
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (!this.#closed && (await this.#step()));
    } catch (error) {
      if (!this.#closed) this.failure = error instanceof Error ? error.message : String(error);
    } finally {
      this.#working = false;
    }
  }

  /** Does the next thing that is out of date; false when there is none. */
  async #step(): Promise<boolean> {
    const wanted = this.#wanted!;
    const scene = JSON.stringify(wanted.scene);
    if (scene !== this.#scene) {
      this.settled = false;
      await this.#open(wanted.scene, scene);
      return true;
    }
    if (!this.facts) return false;
    const { encodings, sight, request } = wanted;
    const query = wanted.query !== null && wanted.query < this.facts.symbols.length ? wanted.query : null;
    const rowKey = JSON.stringify([scene, sight, request.offset, query]);
    const panelKey = JSON.stringify([scene, sight, request]);
    for (let turn = 0; turn < encodings.length; turn += 1) {
      const encoding = encodings[(this.#next + turn) % encodings.length]!;
      const name = JSON.stringify(encoding);
      if (query !== null && this.rows.get(name)?.key !== rowKey) {
        const answer = await this.#worker().row(encoding, sight, query, request.offset);
        this.rows.set(name, { answer, key: rowKey, offset: request.offset });
        return true;
      }
      if (this.panels.get(name)?.key !== panelKey) {
        this.settled = false;
        const answer = await this.#worker().panel(encoding, sight, request);
        this.panels.set(name, { answer, key: panelKey, offset: request.offset });
        this.#next = (this.#next + turn + 1) % encodings.length;
        return true;
      }
    }
    this.settled = true;
    return false;
  }

  async #open(scene: SceneRequest, key: string): Promise<void> {
    if (scene.kind === "trained" && scene.race !== this.#race) {
      await this.#worker().useRace(await this.findRace(scene.race));
      this.#race = scene.race;
    }
    const answer = await this.#worker().open(scene);
    this.#scene = key;
    this.failure = null;
    this.panels.clear();
    this.rows.clear();
    this.facts = "value" in answer ? answer.value : null;
    this.problem = "problem" in answer ? answer.problem : null;
  }

  #worker(): Remote<PanelWorker> {
    if (!this.#remote) {
      this.#thread = startThread();
      this.#thread.addEventListener("error", (event) => (this.failure = event.message || "worker"));
      this.#remote = wrap<PanelWorker>(this.#thread);
    }
    return this.#remote;
  }
}
