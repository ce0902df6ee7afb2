// SPDX-License-Identifier: MIT
// Three rows of a toy task to check its rule by hand. Drawn by the same rules as the core's (src/lab), at a length that
// can be read; "·" stands where nothing is asked.

import type { TaskType } from "../../state/fields.js";

export interface SampleRow {
  input: string;
  answer: string;
}
type Parameters = { distance: number; position: number };
type Draw = (below: number) => number;

const kSymbols = "abcdefghijklmnop";
const kMarks = "ABCDEFGH";
const kKeys = "abcdefgh";
const kValues = "12345678";
const kNothing = "·";
const kRows = 3;
const kLength = 20;

/** A small linear congruential generator: samples are the same for everyone, and nothing else depends on it. */
function drawer(seed: number): Draw {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const symbols = (draw: Draw, length: number) => Array.from({ length }, () => kSymbols[draw(16)]!);

/** answer[t] from the row and the place; null where it is not asked. */
function answers(row: readonly string[], answer: (t: number) => string | null): SampleRow {
  return { input: row.join(""), answer: row.map((_, t) => answer(t) ?? kNothing).join("") };
}

const rules: Record<Exclude<TaskType, "text">, (draw: Draw, parameters: Parameters) => SampleRow> = {
  lookback: (draw, { distance }) => {
    const row = symbols(draw, Math.max(kLength, distance + 8));
    return answers(row, (t) => (t >= distance ? row[t - distance]! : null));
  },
  "fixed-position": (draw, { position }) => {
    const row = symbols(draw, Math.max(kLength, position + 8));
    return answers(row, (t) => (t > position ? row[position]! : null));
  },
  first: (draw) => {
    const row = symbols(draw, kLength);
    return answers(row, (t) => (t > 0 ? row[0]! : null));
  },
  needle: (draw) => {
    const row = symbols(draw, kLength);
    const place = draw(kLength / 4);
    row[place] = kMarks[draw(8)]!;
    return answers(row, (t) => (t > place ? row[place]! : null));
  },
  recall: (draw) => {
    const map = Array.from({ length: 8 }, () => kValues[draw(8)]!);
    const keys = Array.from({ length: kLength / 2 }, () => draw(4));
    const row = keys.flatMap((key) => [kKeys[key]!, map[key]!]);
    return answers(row, (t) => (t % 2 === 0 && keys.indexOf(keys[t / 2]!) < t / 2 ? map[keys[t / 2]!]! : null));
  },
  "position-modulo": (draw) => answers(symbols(draw, kLength), (t) => String(t % 4)),
  majority: (draw) => {
    // A coin with a favourite: with a fair one, twenty flips seldom have a clear majority.
    const favourite = draw(2);
    const row = Array.from({ length: kLength }, () => String(draw(5) < 4 ? favourite : 1 - favourite));
    return answers(row, (t) => {
      const lead = row.slice(0, t + 1).reduce((sum, coin) => sum + (coin === "1" ? 1 : -1), 0);
      return Math.abs(lead) >= 2 + Math.sqrt(t) / 2 ? (lead > 0 ? "1" : "0") : null;
    });
  },
  copy: (draw) => afterSeparator(symbols(draw, 8), (list) => list),
  reverse: (draw) => afterSeparator(symbols(draw, 8), (list) => list.toReversed()),
};

/** The answer to each place from the separator on is the input of the next. */
function afterSeparator(list: string[], order: (list: string[]) => string[]): SampleRow {
  const said = order(list);
  const row = [...list, "|", ...said.slice(0, -1)];
  return answers(row, (t) => (t >= list.length ? said[t - list.length]! : null));
}

export function sampleRows(task: Exclude<TaskType, "text">, parameters: Parameters): SampleRow[] {
  return Array.from({ length: kRows }, (_, index) => rules[task](drawer(7 + 31 * index), parameters));
}
