// SPDX-License-Identifier: MIT
// Where queries and keys come from: drawn from a seed, or read out of trained models. A source gives, for one encoding
// and one place of the text on the position axis, what `lab.attention` needs; embeddings are already in query and key.

import { completeExperiment, type Encoding, type PosLab, type Position, type Tensor } from "../engine/poslab.js";
import { withTables } from "../schemes/zero-tables.js";
import { RandomVectors, kHeadDim, normals } from "./draws.js";
import { embeds, gatesOf, positionTensors, schemeOf, type SchemeTensors } from "./scheme-values.js";

export interface PanelInputs {
  /** [heads, length, headDim] */ query: Tensor;
  /** [keyValueHeads, length, headDim] */ key: Tensor;
  /** with the values of what it learns; "none" for embeddings */ position: Position;
  /** [heads, length], for a scheme that takes them */ gates?: Tensor;
}

export interface VectorSource {
  readonly symbols: readonly string[];
  readonly heads: number;
  readonly layers: number;
  /** @throws Refusal or PosLabError when this encoding is not defined there */
  inputs(encoding: Encoding, offset: number): PanelInputs;
}

export type RefusalReason = "past-table" | "no-tensors" | "no-gates" | "not-in-race" | "other-model";

/** Why an encoding has no picture here, as a word for the page's dictionaries. */
export class Refusal extends Error {
  constructor(
    readonly reason: RefusalReason,
    /** rows of a table that ends */ readonly rows = 0,
  ) {
    super(reason);
  }
}

/** Rows of a learned table whose values are drawn: the text can be dragged a little before it ends. */
export const kDrawnRows = 512;

export class RandomSource implements VectorSource {
  readonly layers = 1;
  readonly #vectors: RandomVectors;
  readonly #content: Float32Array;
  readonly #plain: { query: Tensor; key: Tensor };
  readonly #tensors = new Map<string, SchemeTensors>();

  constructor(
    readonly lab: PosLab,
    readonly symbols: readonly string[],
    readonly seed: number,
    readonly heads: number,
  ) {
    this.#vectors = new RandomVectors(seed, heads);
    this.#content = this.#vectors.content(symbols);
    this.#plain = this.#vectors.project(this.#content);
  }

  inputs(encoding: Encoding, offset: number): PanelInputs {
    const tensors = this.#tensorsOf(encoding);
    const position = schemeOf(encoding, tensors);
    if (!embeds(this.lab, encoding.type)) return { ...this.#plain, position, ...gatesOf(tensors, this.#content) };
    const length = this.symbols.length;
    if (encoding.type === "learned" && offset + length > kDrawnRows) throw new Refusal("past-table", kDrawnRows);
    const { data } = this.lab.table(position, { length, dim: this.#vectors.dim, start: offset });
    const rows = this.#content.map((entry, index) => entry + data[index]!);
    return { ...this.#vectors.project(rows), position: { type: "none" } };
  }

  /** What the scheme learns, at values drawn from the seed. */
  #tensorsOf(encoding: Encoding): SchemeTensors {
    const key = JSON.stringify(encoding);
    let tensors = this.#tensors.get(key);
    if (!tensors) {
      tensors = drawnTensors(this.lab, encoding, this.heads, this.seed);
      this.#tensors.set(key, tensors);
    }
    return tensors;
  }
}

/** Layers of small networks, and what reads gates: larger ones would drown everything else. */
const kAsStarted = /^(weight|bias)\d+$|^gate/;

/**
 * The tensors that a scheme learns, as the core starts them, but large enough to be seen: what starts as small random
 * numbers is scaled to entries of about 1, a matrix of vectors to the size that keeps theirs. Constants and layers stay.
 */
export function drawnTensors(lab: PosLab, encoding: Encoding, heads: number, seed: number): SchemeTensors {
  const dim = heads * kHeadDim;
  const experiment = completeExperiment({
    task: { type: "first" },
    model: { dim, heads, layers: 1, feedForward: 4 },
    training: { length: kDrawnRows, batch: 1, steps: 1, learningRate: 0.001 },
    encodings: [encoding],
    atTest: [],
    test: { lengths: [kDrawnRows], windows: 2 },
    seeds: [seed],
  });
  const run = lab.createRun(experiment, 0, seed);
  try {
    const tensors = withTables(positionTensors(run.weights(), 0), normals(seed, "table"));
    for (const [name, { data, shape }] of Object.entries(tensors)) {
      if (kAsStarted.test(name)) continue;
      const rms = Math.sqrt(data.reduce((sum, entry) => sum + entry * entry, 0) / data.length);
      if (rms === 0 || data.every((entry) => entry === data[0])) continue;
      const wanted = shape[0] === dim && shape[1] === dim ? 1 / Math.sqrt(dim) : 1;
      for (let index = 0; index < data.length; index += 1) data[index]! *= wanted / rms;
    }
    return tensors;
  } finally {
    run.dispose();
  }
}
