// SPDX-License-Identifier: MIT
// Attention off the page's own thread. A scene is a text with its source of queries and keys; panels and rows are asked
// of it one by one, so that a newer wish waits for one of them at most.

import { expose, transfer } from "comlink";
import { loadPosLab } from "poslab";
import type { Encoding, PosLab } from "../engine/poslab.js";
import { readError, type CoreError } from "../language/core-errors.js";
import type { Job } from "./jobs.js";
import { Panel, type PanelResult, type RowResult, type Sight } from "./panels.js";
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
export type Problem = { reason: RefusalReason; rows: number } | { reason: "refused"; error: CoreError };
export type Answer<Value> = { value: Value } | { problem: Problem };

export interface Drawings {
  panels: Answer<PanelResult>[];
  rows: Answer<RowResult>[];
}

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

  /** Pictures of some encodings, and one query's rows of some; either list may be empty. */
  async draw({ sight, panels, request, rows, query }: Job): Promise<Drawings> {
    const lab = await this.#loaded();
    const drawn = panels.map((encoding) => answer(() => this.#panelOf(lab, encoding, sight).result(request)));
    const read = rows.map((encoding) => answer(() => this.#panelOf(lab, encoding, sight).row(query, request.offset)));
    const buffers = drawn.flatMap((given) =>
      "value" in given ? [...given.value.pictures.map(({ buffer }) => buffer), given.value.byDistance.mean.buffer] : [],
    );
    return transfer({ panels: drawn, rows: read }, buffers);
  }

  /** The inputs of one row's call, or with null of the whole, for code that makes it elsewhere. */
  async call(
    encoding: Encoding,
    sight: Sight,
    query: number | null,
    offset: number,
  ): Promise<Answer<ReturnType<Panel["call"]>>> {
    const lab = await this.#loaded();
    return answer(() => this.#panelOf(lab, encoding, sight).call(query, offset));
  }

  #panelOf(lab: PosLab, encoding: Encoding, sight: Sight): Panel {
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
    const { code, argument } = error as { code?: string; argument?: string };
    // The core asks for a tensor that nobody has trained.
    if (code === "missing" && argument?.startsWith("position.")) return { problem: { reason: "no-tensors", rows: 0 } };
    if (code === "missing" && argument === "gates") return { problem: { reason: "no-gates", rows: 0 } };
    return { problem: { reason: "refused", error: readError(error) } };
  }
}

expose(new PanelWorker());
