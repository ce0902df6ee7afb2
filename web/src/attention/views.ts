// SPDX-License-Identifier: MIT
// From answers of the worker to what is shown: matrices with names, ranges of colours, curves, sentences.

import type { Curve, LineChartData } from "../chart/data.js";
import type { ColourRange } from "../matrix/colours.js";
import type { MatrixData } from "../matrix/matrix.js";
import type { Look } from "../schemes/looks.js";
import type { AttentionWords } from "../language/english-attention.js";
import type { CoreError } from "../language/core-errors.js";
import type { PanelResult, Shows } from "./panels.js";
import { tile, type Tiles } from "./tiles.js";
import { tokenName } from "./tokens.js";
import type { Problem } from "./worker.js";

/** Differences up to here are the rounding of float32. */
export const kRounding = 1e-5;

const kLongName = 10;
const kColumnName = 6;

export interface Naming {
  symbols: readonly string[];
  words: AttentionWords;
  count: (value: number) => string;
}

const clip = (name: string, longest: number) => {
  const letters = [...name];
  return letters.length > longest ? `${letters.slice(0, longest - 1).join("")}…` : name;
};

/** The token of a cell, or the first and last of those that share it. */
export function cellName({ symbols, words, count }: Naming, cell: number, pool: number, longest = Infinity): string {
  if (pool === 1) return clip(tokenName(symbols[cell] ?? ""), longest);
  return words.panel.range(count(cell * pool + 1), count(Math.min(symbols.length, (cell + 1) * pool)));
}

export interface Shown {
  tiles: Tiles;
  matrix: MatrixData;
}

/** The pictures of the shown heads as one matrix with names of tokens. */
export function shownMatrix({ pictures, cells, pool }: PanelResult, naming: Naming): Shown {
  const tiles = tile(pictures, cells);
  // Where a cell holds several tokens, the first one's number is enough beside a picture.
  const short = (cell: number, longest: number) =>
    pool === 1 ? cellName(naming, cell, pool, longest) : naming.count(cell * pool + 1);
  const rowName = (row: number) => {
    const place = tiles.at(row, 0);
    return place ? short(place.row, kLongName) : "";
  };
  const columnName = (column: number) => {
    const place = tiles.at(0, column);
    return place ? short(place.column, kColumnName) : "";
  };
  const { rows, columns, data } = tiles;
  const { query, key } = naming.words.panel;
  return { tiles, matrix: { rows, columns, data, rowLabel: query, columnLabel: key, rowName, columnName } };
}

/**
 * One range for all pictures: weights from 0, scores around 0. The middle one of their reaches, so that one picture with
 * a bright line does not leave the others dark; what lies beyond has the last colour.
 */
export function sharedRange(results: readonly PanelResult[], show: Shows): ColourRange {
  const far = results.map(({ reach: [low, high] }) => (show === "weights" ? high : Math.max(-low, high)));
  const high = far.sort((a, b) => a - b)[Math.floor(far.length / 2)] || 1;
  return show === "weights"
    ? { kind: "sequential", low: 0, high, beyond: "above" }
    : { kind: "diverging", low: -high, high, beyond: "both" };
}

export interface Saying {
  count: (value: number) => string;
  error: (error: CoreError) => string;
}

export function problemText(problem: Problem, words: AttentionWords, { count, error }: Saying): string {
  switch (problem.reason) {
    case "past-table":
      return words.problems.pastTable(count(problem.rows));
    case "no-tensors":
      return words.problems.noTensors;
    case "no-gates":
      return words.problems.noGates;
    case "other-model":
      return words.problems.otherModel;
    case "not-in-race":
      return words.problems.notInRace;
    case "refused":
      return words.problems.refused(error(problem.error));
  }
}

export interface DistanceItem {
  id: string;
  name: string;
  look: Look;
  result: PanelResult;
}

/** Points of a curve, at most: a line on a screen has no more. */
const kMostPoints = 600;
const kFar = 128;

export function distanceChart(
  items: readonly DistanceItem[],
  { words, count }: Naming,
  significant: (value: number) => string,
): LineChartData {
  // Far distances get a doubling axis, which has no 0.
  const far = items.some(({ result: { byDistance } }) => byDistance.first === 0 && byDistance.mean.length > kFar);
  const curves = items.map(({ id, name, look, result: { byDistance } }): Curve => {
    const { first, mean } = byDistance;
    const every = Math.ceil(mean.length / kMostPoints);
    const points = Array.from(mean, (y, index) => ({ x: first + index, y })).filter(
      ({ x, y }) => Number.isFinite(y) && (x % every === 0 || x < kFar) && (!far || x > 0),
    );
    return { id, label: name, colour: look.colour, dash: look.dash, atTest: false, points };
  });
  return {
    title: words.distance.title,
    xLabel: words.distance.x,
    yLabel: words.distance.y,
    xScale: far ? "log" : "linear",
    curves,
    horizontals: [],
    formatX: count,
    formatY: significant,
    includeY: [0],
    dots: false,
  };
}

/** What moving the text does, as a sentence over all encodings. */
export interface Outcome {
  name: string;
  change: { largest: number } | null;
}

export function shiftSentence(
  outcomes: readonly Outcome[],
  offset: number,
  { words, count }: Omit<Naming, "symbols">,
  fixed: (value: number) => string,
): string {
  const { result } = words;
  if (offset === 0) return result.atStart;
  const changed = outcomes.flatMap(({ name, change }) =>
    change && change.largest >= kRounding ? [result.changes(name, fixed(change.largest))] : [],
  );
  const same = outcomes.filter(({ change }) => change && change.largest < kRounding).map(({ name }) => name);
  const ended = outcomes.filter(({ change }) => change === null).map(({ name }) => result.ends(name));
  const parts = [...changed, ...ended, ...(same.length ? [result.same(same.join(result.list))] : [])];
  return parts.length ? result.lead(count(offset)) + parts.join(result.join) + result.end : "";
}

/** "cat (7) 0.41; sat (8) 0.20": where a query looks most; names are those of `nameAt`. */
export function strongestKeys(
  weights: ArrayLike<number>,
  nameAt: (key: number) => string,
  fixed: (value: number) => string,
  list: string,
  most = 3,
): string {
  return Array.from(weights, (weight, key) => ({ weight, key }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, most)
    .map(({ weight, key }) => `${nameAt(key)} ${fixed(weight)}`)
    .join(list);
}
