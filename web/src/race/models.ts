// SPDX-License-Identifier: MIT
// Trained models for everything that comes after training: measuring a change, writing, the map by length. A model that
// was trained here is asked directly; others are opened from their weights when first needed.

import { openPool } from "../engine/pool.js";
import type { CompleteExperiment, RunController, RunPool } from "../engine/poslab.js";

export interface ModelSource {
  experiment: CompleteExperiment;
  ownText: Uint8Array | null;
  /** whether `find` will find something; cheap, and true to the moment */ has: (encoding: number) => boolean;
  /** a run of this encoding that has weights: its controller, or the weights themselves */
  find: (encoding: number) => Promise<{ seed: number; controller?: RunController; weights?: Uint8Array } | null>;
}
export interface Model {
  controller: RunController;
  seed: number;
}

export class Models {
  #opened = new Map<number, Promise<Model>>();
  #pool: Promise<RunPool> | undefined;
  #closed = false;

  constructor(readonly source: ModelSource) {}

  /** Rejects when there are no weights, or when they cannot be opened; asking again tries again. */
  get(encoding: number): Promise<Model> {
    let model = this.#opened.get(encoding);
    if (!model) {
      model = this.#open(encoding);
      this.#opened.set(encoding, model);
      model.catch(() => this.#opened.delete(encoding));
    }
    return model;
  }

  async #open(encoding: number): Promise<Model> {
    const found = await this.source.find(encoding);
    if (!found) throw new Error("no weights");
    if (found.controller) return { controller: found.controller, seed: found.seed };
    this.#pool ??= openPool(this.source.experiment, 2, this.source.ownText);
    const pool = await this.#pool.catch((error: unknown) => {
      this.#pool = undefined;
      throw error;
    });
    if (this.#closed) throw new Error("closed");
    const { experiment } = this.source;
    const controller = await pool.open({ experiment, encoding, seed: found.seed, weights: found.weights! });
    return { controller, seed: found.seed };
  }

  /** Ends work that is still going on. */
  close(): void {
    this.#closed = true;
    void this.#pool?.then(
      (pool) => pool.close(),
      () => {},
    );
  }
}
