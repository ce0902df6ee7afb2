// SPDX-License-Identifier: MIT
// What to ask of the worker next: what is out of date, all of it where that is quick, else one panel at a time and the one
// that has waited longest first, so that dragging a long text starves none.

import type { Encoding } from "../engine/poslab.js";
import type { PanelRequest, Sight } from "./panels.js";
import type { SceneFacts, SceneRequest } from "./worker.js";

export interface Wanted {
  scene: SceneRequest;
  encodings: readonly Encoding[];
  sight: Sight;
  request: PanelRequest;
  /** the query that is read out, or null */ query: number | null;
}

export interface Job {
  sight: Sight;
  panels: readonly Encoding[];
  request: PanelRequest;
  rows: readonly Encoding[];
  query: number;
}

/** The name under which an encoding's answers are kept. */
export const nameOf = (encoding: Encoding): string => JSON.stringify(encoding);

/** Weights of one encoding, up to which all encodings are drawn at once: 256 tokens and 8 heads. */
const kQuick = 2 ** 19;

export class Jobs {
  readonly #panels = new Map<string, string>();
  readonly #rows = new Map<string, string>();
  readonly #turns = new Map<string, number>();
  #turn = 0;

  /** null when everything that is wanted has been asked for. */
  next({ encodings, sight, request, query }: Wanted, { heads, symbols: { length } }: SceneFacts): Job | null {
    const panelKey = JSON.stringify([sight, request]);
    const rowKey = JSON.stringify([sight, request.offset, query]);
    const read = query !== null && query < length;
    const stale = encodings.filter((encoding) => this.#panels.get(nameOf(encoding)) !== panelKey);
    const rows = encodings.filter((encoding) => read && this.#rows.get(nameOf(encoding)) !== rowKey);
    if (stale.length === 0 && rows.length === 0) return null;
    const waiting = [...stale].sort((a, b) => this.#turnOf(a) - this.#turnOf(b));
    const panels = heads * length ** 2 <= kQuick ? stale : waiting.slice(0, 1);
    for (const encoding of panels) {
      this.#panels.set(nameOf(encoding), panelKey);
      this.#turns.set(nameOf(encoding), (this.#turn += 1));
    }
    for (const encoding of rows) this.#rows.set(nameOf(encoding), rowKey);
    return { sight, request, panels, rows, query: query ?? 0 };
  }

  /** Another scene: nothing that was asked holds. */
  clear(): void {
    for (const map of [this.#panels, this.#rows, this.#turns]) map.clear();
  }

  #turnOf = (encoding: Encoding): number => this.#turns.get(nameOf(encoding)) ?? 0;
}
