// SPDX-License-Identifier: MIT
// What can be asked of trained weights: a change at test time, a continuation of a text, the loss at every position for
// every length. Answers are kept by question; a question that fails says why.

import { SvelteMap } from "svelte/reactivity";
import type { Generated, Measurement, TestChange } from "../engine/poslab.js";
import { readError, type CoreError } from "../language/core-errors.js";
import { stable } from "../schemes/fields.js";
import type { Switch } from "../state/fields.js";
import type { Models } from "./models.js";
import type { Measured } from "./shown.js";

export interface WriteOptions {
  prompt: string;
  count: number;
  temperature: number;
  seed: number;
}
export type Written =
  | { state: "writing" }
  | { state: "done"; generated: Generated }
  /** the prompt takes all positions that the encoding has */
  | { state: "full" }
  | { state: "failed"; error: CoreError };
export type MapRows =
  | { state: "measuring" | "done"; rows: NonNullable<Measurement["byPosition"]>[] }
  | { state: "failed"; error: CoreError; rows: NonNullable<Measurement["byPosition"]>[] };

export class AfterTraining {
  readonly measured = new SvelteMap<string, Measured>();
  readonly written = new SvelteMap<number, Written>();
  readonly maps = new SvelteMap<number, MapRows>();
  #closed = false;

  constructor(readonly models: Models) {}

  /** Measures one change on the weights of its encoding, length by length, so that the curve grows. */
  async measure(change: Switch, encoding: number): Promise<void> {
    const key = stable(change);
    if (this.measured.get(key)?.state === "measuring") return;
    const { of: _, ...rest } = change;
    const put = (value: Measured) => {
      if (!this.#closed) this.measured.set(key, value);
    };
    const byLength: Measured["byLength"] = [];
    put({ state: "measuring", byLength, seed: 0 });
    try {
      const { controller, seed } = await this.models.get(encoding);
      const { test } = this.models.source.experiment;
      for (const length of test.lengths) {
        byLength.push(...(await controller.measure({ change: rest as TestChange, lengths: [length] })).byLength);
        if (this.#closed) return;
        put({ state: length === test.lengths.at(-1) ? "done" : "measuring", byLength: [...byLength], seed });
      }
    } catch (error) {
      put({ state: "failed", byLength, seed: 0, error: readError(error) });
    }
  }

  async write(encoding: number, options: WriteOptions): Promise<void> {
    const put = (value: Written) => {
      if (!this.#closed) this.written.set(encoding, value);
    };
    if (options.count < 1) return put({ state: "full" });
    put({ state: "writing" });
    try {
      const { controller } = await this.models.get(encoding);
      const { prompt, count, temperature, seed } = options;
      const generated = await controller.generate({ count, temperature, seed, ...(prompt === "" ? {} : { prompt }) });
      put({ state: "done", generated });
    } catch (error) {
      put({ state: "failed", error: readError(error) });
    }
  }

  /** The loss by position at every tested length, for one encoding's map. */
  async map(encoding: number): Promise<void> {
    if (this.maps.has(encoding) && this.maps.get(encoding)!.state !== "failed") return;
    const put = (value: MapRows) => {
      if (!this.#closed) this.maps.set(encoding, value);
    };
    const rows: MapRows["rows"] = [];
    put({ state: "measuring", rows });
    try {
      const { controller } = await this.models.get(encoding);
      const { test } = this.models.source.experiment;
      for (const length of test.lengths) {
        const { byPosition } = await controller.measure({
          lengths: [length],
          byPosition: true,
          windows: Math.min(64, test.windows),
        });
        if (this.#closed) return;
        if (byPosition) rows.push(byPosition);
        put({ state: "measuring", rows: [...rows] });
      }
      put({ state: "done", rows });
    } catch (error) {
      put({ state: "failed", error: readError(error), rows });
    }
  }

  forget(): void {
    this.measured.clear();
    this.written.clear();
    this.maps.clear();
  }
  close(): void {
    this.#closed = true;
    this.models.close();
  }
}
