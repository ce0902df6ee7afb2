// SPDX-License-Identifier: MIT
// Keeps what is drawn up with what is wanted. One thing at a time is asked of the worker, and always by the newest wish:
// while one drags, no picture waits for places that are gone by.

import { wrap, type Remote } from "comlink";
import { SvelteMap } from "svelte/reactivity";
import type { Encoding } from "../engine/poslab.js";
import { startThread } from "./thread.js";
import { Jobs, nameOf, type Job, type Wanted } from "./jobs.js";
import type { PanelResult, RowResult } from "./panels.js";
import type { RaceModels } from "./trained.js";
import type { Answer, Drawings, PanelWorker, Problem, SceneFacts, SceneRequest } from "./worker.js";

/** What is drawn of one encoding; an answer stays until the next one is there. */
export interface Drawn<Value> {
  answer: Answer<Value>;
  offset: number;
}

export class Drawing {
  facts = $state.raw<SceneFacts | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** the worker could not be started or has died */ failure = $state<string | null>(null);
  readonly panels = new SvelteMap<string, Drawn<PanelResult>>();
  readonly rows = new SvelteMap<string, Drawn<RowResult>>();
  /** the wish that everything drawn is of; null while something is on its way */
  settledFor = $state.raw<Wanted | null>(null);

  #wanted: Wanted | null = null;
  #scene = "";
  readonly #jobs = new Jobs();
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

  /** What one row's call is given, or that of all rows, for code that makes it elsewhere. */
  call(encoding: Encoding, rows: "one" | "all"): ReturnType<PanelWorker["call"]> {
    const { sight, query, request } = this.#wanted!;
    return this.#worker().call(encoding, sight, rows === "all" ? null : (query ?? 0), request.offset);
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      for (;;) {
        await this.#openScene();
        const job = this.#closed ? null : this.#nextJob();
        if (!job) break;
        await this.#draw(job);
      }
      if (this.facts) this.settledFor = this.#wanted;
    } catch (error) {
      this.#jobs.clear(); // what was asked is asked again with the next wish
      if (!this.#closed) this.failure = error instanceof Error ? error.message : String(error);
    } finally {
      this.#working = false;
    }
  }

  async #openScene(): Promise<void> {
    while (!this.#closed && !this.#sceneIsOpen()) {
      this.settledFor = null;
      const { scene } = this.#wanted!;
      await this.#open(scene, JSON.stringify(scene));
    }
  }
  #sceneIsOpen = (): boolean => JSON.stringify(this.#wanted!.scene) === this.#scene;

  /** The next wish is sent before the answer to the last one is drawn, so that both threads have work. */
  async #draw(first: Job): Promise<void> {
    this.settledFor = null;
    let job: Job | null = first;
    let reply: Promise<Drawings> | null = this.#worker().draw(first);
    while (job && reply && !this.#closed) {
      const done: Job = job;
      const { panels, rows } = await reply;
      job = this.#sceneIsOpen() ? this.#nextJob() : null;
      reply = job && this.#worker().draw(job);
      const { offset } = done.request;
      done.panels.forEach((encoding, index) => this.panels.set(nameOf(encoding), { answer: panels[index]!, offset }));
      done.rows.forEach((encoding, index) => this.rows.set(nameOf(encoding), { answer: rows[index]!, offset }));
    }
  }

  #nextJob = (): Job | null => (this.facts ? this.#jobs.next(this.#wanted!, this.facts) : null);

  async #open(scene: SceneRequest, key: string): Promise<void> {
    if (scene.kind === "trained" && scene.race !== this.#race) {
      await this.#worker().useRace(await this.findRace(scene.race));
      this.#race = scene.race;
    }
    const answer = await this.#worker().open(scene);
    this.#scene = key;
    this.failure = null;
    for (const kept of [this.panels, this.rows, this.#jobs]) kept.clear();
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
