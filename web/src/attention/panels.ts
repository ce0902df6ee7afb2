// SPDX-License-Identifier: MIT
// One encoding's attention on one text: pictures a head, what moving the text changes, the mean weight by distance, one
// query's row. Rows of queries are worked on in blocks, so that no more than a few megabytes are held at once; a picture
// larger than the screen is made smaller here, keeping the largest weight of what becomes one cell.

import type { AttentionOptions, Encoding, PosLab, Tensor } from "../engine/poslab.js";
import type { PanelInputs, VectorSource } from "./sources.js";

export interface Sight {
  causal: boolean;
  /** with `causal`: keys that a query sees, itself included */ window: number | null;
}
export type Shows = "weights" | "scores";

export interface PanelRequest {
  /** the position of the first token */ offset: number;
  heads: readonly number[];
  show: Shows;
  /** cells of a picture's side, at most */ side: number;
}

export interface PanelResult {
  /** one a shown head: [cells, cells], NaN where no key is seen */ pictures: Float32Array[];
  cells: number;
  /** tokens along the side of a cell */ pool: number;
  /** of the weights of the shown heads, against the text at position 0 */ change: { largest: number; mean: number };
  /** what a colour scale should reach: all but the rare largest and smallest values */ reach: readonly [
    number,
    number,
  ];
  /** mean weight over the queries that have a key at a distance i - j, and over the shown heads; NaN where none has */
  byDistance: { first: number; mean: Float64Array };
}

export interface RowResult {
  keys: number;
  /** [heads, keys] */ weights: Float32Array;
  /** [heads, keys]; -Infinity where hidden */ scores: Float32Array;
}

/** Numbers in a block of weights: 4 MB. */
const kBlock = 1 << 20;
/** Weights at position 0 are kept up to this many numbers, and computed again beyond. */
const kKept = 1 << 22;

/** The weights of a few rows, and the scores when asked for: [heads, rows, keys]. */
interface Block {
  first: number;
  rows: number;
  keys: number;
  weights: Float32Array;
  scores: Float32Array | null;
}

export class Panel {
  readonly #atStart = new Map<number, Float32Array>();

  constructor(
    readonly lab: PosLab,
    readonly source: VectorSource,
    readonly encoding: Encoding,
    readonly sight: Sight,
  ) {}

  get length(): number {
    return this.source.symbols.length;
  }

  /** @throws Refusal or PosLabError */
  result({ offset, heads, show, side }: PanelRequest): PanelResult {
    const { length } = this;
    const inputs = this.source.inputs(this.encoding, offset);
    const start = offset === 0 ? null : this.source.inputs(this.encoding, 0);
    const gathered = new Gathered(length, heads, side, this.sight);
    const rows = Math.max(1, Math.floor(kBlock / Math.max(1, this.source.heads * length)));
    for (let first = 0; first < length; first += rows) {
      const count = Math.min(rows, length - first);
      const block = this.#block(inputs, offset, first, count, show === "scores");
      if (offset === 0) this.#keep(block);
      const before = start && (this.#atStart.get(first) ?? this.#before(start, first, count));
      gathered.add(block, before);
    }
    return gathered.finish();
  }

  row(query: number, offset: number): RowResult {
    const inputs = this.source.inputs(this.encoding, offset);
    const { keys, weights, scores } = this.#block(inputs, offset, query, 1, true);
    return { keys, weights, scores: scores! };
  }

  /** What is given to `lab.attention` for one query's row, or with null for all of them. */
  call(query: number | null, offset: number): AttentionOptions {
    const inputs = this.source.inputs(this.encoding, offset);
    return query === null ? this.#call(inputs, offset, 0, this.length) : this.#call(inputs, offset, query, 1);
  }

  #before(start: PanelInputs, first: number, count: number): Float32Array {
    const block = this.#block(start, 0, first, count, false);
    this.#keep(block);
    return block.weights;
  }
  #keep({ first, weights }: Block): void {
    if (this.source.heads * this.length ** 2 <= kKept) this.#atStart.set(first, weights);
  }

  #call({ query, key, position, gates }: PanelInputs, offset: number, first: number, rows: number): AttentionOptions {
    const { causal, window } = this.sight;
    const keys = causal ? first + rows : this.length;
    const seen = rowsOf(key, 0, keys);
    return {
      query: rowsOf(query, first, rows),
      key: seen,
      value: seen, // of any values: only the weights are looked at
      position,
      ...(gates ? { gates: firstOf(gates, keys) } : {}),
      mask: { causal, ...(causal && window !== null ? { window } : {}) },
      queryPositions: Array.from({ length: rows }, (_, index) => offset + first + index),
      keyPositions: Array.from({ length: keys }, (_, index) => offset + index),
    };
  }
  #block(inputs: PanelInputs, offset: number, first: number, rows: number, withScores: boolean): Block {
    const { weights, scores } = this.lab.attention({
      ...this.#call(inputs, offset, first, rows),
      weights: true,
      scores: withScores,
    });
    return { first, rows, keys: weights!.shape[2]!, weights: weights!.data, scores: scores?.data ?? null };
  }
}

function rowsOf({ data, shape }: Tensor, first: number, count: number): Tensor {
  const [heads = 0, length = 0, width = 0] = shape;
  if (count === length) return { data, shape };
  const part = new Float32Array(heads * count * width);
  for (let head = 0; head < heads; head += 1) {
    const from = (head * length + first) * width;
    part.set(data.subarray(from, from + count * width), head * count * width);
  }
  return { data: part, shape: [heads, count, width] };
}

/** [heads, count] of [heads, length]. */
function firstOf({ data, shape: [heads = 0, length = 0] }: Tensor, count: number): Tensor {
  return { data: rowsOf({ data, shape: [heads, length, 1] }, 0, count).data, shape: [heads, count] };
}

/** Values that a colour scale is made from, at most, and the share of them that may lie outside at either end. */
const kSampled = 1 << 12;
const kOutside = 0.01;

function reachOf(pictures: readonly Float32Array[]): readonly [number, number] {
  const total = pictures.reduce((sum, picture) => sum + picture.length, 0);
  // Odd, so that it does not fall into step with the rows.
  const every = Math.max(1, Math.floor(total / kSampled)) | 1;
  const sample: number[] = [];
  for (const picture of pictures) {
    for (let index = 0; index < picture.length; index += every) {
      if (Number.isFinite(picture[index])) sample.push(picture[index]!);
    }
  }
  if (sample.length === 0) return [0, 0];
  const sorted = Float32Array.from(sample).sort();
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))]!;
  return [at(kOutside), at(1 - kOutside)];
}

/** What is drawn and said of the weights, gathered block by block. */
class Gathered {
  readonly #pool: number;
  readonly #cells: number;
  readonly #pictures: Float32Array[];
  readonly #firstDistance: number;
  readonly #sums: Float64Array;
  readonly #counts: Float64Array;
  #largest = 0;
  #total = 0;
  #compared = 0;

  constructor(
    readonly length: number,
    readonly heads: readonly number[],
    side: number,
    readonly sight: Sight,
  ) {
    this.#pool = Math.max(1, Math.ceil(length / Math.max(1, side)));
    this.#cells = Math.ceil(length / this.#pool);
    this.#pictures = heads.map(() => new Float32Array(this.#cells ** 2).fill(NaN));
    this.#firstDistance = sight.causal ? 0 : 1 - length;
    const distances = Math.max(0, length - this.#firstDistance);
    this.#sums = new Float64Array(distances);
    this.#counts = new Float64Array(distances);
  }

  add(block: Block, before: Float32Array | null): void {
    const { rows, keys, first } = block;
    const { causal, window } = this.sight;
    this.heads.forEach((head, shown) => {
      for (let row = 0; row < rows; row += 1) {
        const query = first + row;
        const from = causal && window !== null ? Math.max(0, query - window + 1) : 0;
        const to = causal ? query + 1 : keys;
        const at = (head * rows + row) * keys;
        this.#addRow(this.#pictures[shown]!, block, at, query, from, to);
        if (before) this.#compare(block.weights, before, at, from, to);
      }
    });
  }

  #addRow(
    picture: Float32Array,
    { weights, scores }: Block,
    at: number,
    query: number,
    from: number,
    to: number,
  ): void {
    const values = scores ?? weights;
    const line = Math.floor(query / this.#pool) * this.#cells;
    for (let key = from; key < to; key += 1) {
      const cell = line + (this.#pool === 1 ? key : Math.floor(key / this.#pool));
      const value = values[at + key]!;
      // A bare cell is NaN, which no comparison holds for.
      if (!(picture[cell]! >= value)) picture[cell] = value;
      const distance = query - key - this.#firstDistance;
      this.#sums[distance]! += weights[at + key]!;
      this.#counts[distance]! += 1;
    }
  }

  #compare(weights: Float32Array, before: Float32Array, at: number, from: number, to: number): void {
    for (let key = from; key < to; key += 1) {
      const difference = Math.abs(weights[at + key]! - before[at + key]!);
      if (difference > this.#largest) this.#largest = difference;
      this.#total += difference;
    }
    this.#compared += to - from;
  }

  finish(): PanelResult {
    return {
      pictures: this.#pictures,
      cells: this.#cells,
      pool: this.#pool,
      reach: reachOf(this.#pictures),
      change: { largest: this.#largest, mean: this.#compared === 0 ? 0 : this.#total / this.#compared },
      byDistance: {
        first: this.#firstDistance,
        mean: this.#sums.map((sum, index) => (this.#counts[index]! === 0 ? NaN : sum / this.#counts[index]!)),
      },
    };
  }
}
