// SPDX-License-Identifier: MIT
// Attention off the page's own thread. A scene is a text with its source of queries and keys; panels and rows are asked
// of it one by one, so that a newer wish waits for one of them at most.

import { expose, transfer } from "comlink";
import { loadPosLab } from "poslab";
import type { Encoding, PosLab } from "../engine/poslab.js";
import { Panel, type PanelRequest, type PanelResult, type RowResult, type Sight } from "./panels.js";
import { RandomSource, Refusal, type RefusalReason, type VectorSource } from "./sources.js";
import { TrainedModels, TrainedSource, type RaceModels, type TrainedLook } from "./trained.js";

export type SceneRequest =
  | { kind: "random"; symbols: readonly string[]; seed: number; heads: number }
  | { kind: "trained"; race: string; look: TrainedLook };
export interface SceneFacts {
  symbols: readonly string[];
  heads: number;
  layers: number;
}
export type Problem = { reason: RefusalReason; rows: number } | { reason: "refused"; message: string };
export type Answer<Value> = { value: Value } | { problem: Problem };

export class PanelWorker {
  #lab: Promise<PosLab> | undefined;
  #source: VectorSource | null = null;
  #models: TrainedModels | null = null;
  readonly #panels = new Map<string, Panel>();

  /** Models for scenes of kind "trained"; those of the race before are given up. */
  async useRace(race: RaceModels): Promise<void> {
    const lab = await this.#loaded();
    this.#models?.dispose();
    this.#models = new TrainedModels(lab, race);
  }

  async open(scene: SceneRequest): Promise<Answer<SceneFacts>> {
    const lab = await this.#loaded();
    this.#panels.clear();
    this.#source = null;
    return answer(() => {
      this.#source =
        scene.kind === "random"
          ? new RandomSource(lab, scene.symbols, scene.seed, scene.heads)
          : new TrainedSource(this.#models!, scene.look);
      const { symbols, heads, layers } = this.#source;
      return { symbols, heads, layers };
    });
  }

  async panel(encoding: Encoding, sight: Sight, request: PanelRequest): Promise<Answer<PanelResult>> {
    const panel = await this.#panelOf(encoding, sight);
    const given = answer(() => panel.result(request));
    if (!("value" in given)) return given;
    const { pictures, byDistance } = given.value;
    return transfer(given, [...pictures.map(({ buffer }) => buffer), byDistance.mean.buffer]);
  }

  async row(encoding: Encoding, sight: Sight, query: number, offset: number): Promise<Answer<RowResult>> {
    const panel = await this.#panelOf(encoding, sight);
    return answer(() => panel.row(query, offset));
  }

  /** The inputs of one row's call, for code that makes it elsewhere. */
  async call(
    encoding: Encoding,
    sight: Sight,
    query: number,
    offset: number,
  ): Promise<Answer<ReturnType<Panel["call"]>>> {
    const panel = await this.#panelOf(encoding, sight);
    return answer(() => panel.call(query, offset));
  }

  async #panelOf(encoding: Encoding, sight: Sight): Promise<Panel> {
    const lab = await this.#loaded();
    const key = JSON.stringify([encoding, sight]);
    let panel = this.#panels.get(key);
    if (!panel) this.#panels.set(key, (panel = new Panel(lab, this.#source!, encoding, sight)));
    return panel;
  }
  #loaded(): Promise<PosLab> {
    this.#lab ??= loadPosLab();
    // A failed download is tried again the next time.
    this.#lab.catch(() => (this.#lab = undefined));
    return this.#lab;
  }
}

function answer<Value>(compute: () => Value): Answer<Value> {
  try {
    return { value: compute() };
  } catch (error) {
    if (error instanceof Refusal) return { problem: { reason: error.reason, rows: error.rows } };
    const { code, argument, message } = error as { code?: string; argument?: string; message: string };
    // The core asks for a tensor that nobody has trained.
    if (code === "missing" && argument?.startsWith("position.")) return { problem: { reason: "no-tensors", rows: 0 } };
    return { problem: { reason: "refused", message } };
  }
}

expose(new PanelWorker());
