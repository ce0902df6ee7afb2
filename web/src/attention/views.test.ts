// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { english } from "../language/english-attention.js";
import type { PanelResult } from "./panels.js";
import {
  cellName,
  distanceChart,
  sharedRange,
  shiftSentence,
  shownMatrix,
  strongestKeys,
  type Naming,
} from "./views.js";

const naming: Naming = { symbols: ["extraordinarily", " ", "cat"], words: english, count: String };
const result = (more: Partial<PanelResult> = {}): PanelResult => ({
  pictures: [Float32Array.of(1, NaN, 0.5, 0.5)],
  cells: 2,
  pool: 1,
  reach: [0.1, 0.9],
  change: { largest: 0, mean: 0 },
  byDistance: { first: 0, mean: Float64Array.of(0.75, 0.5) },
  ...more,
});

it("cells are named after their token, or after the first and last that share them", () => {
  expect(cellName(naming, 0, 1)).toBe("extraordinarily");
  expect(cellName(naming, 0, 1, 6)).toBe("extra…");
  expect(cellName(naming, 1, 1)).toBe("␣");
  expect(cellName(naming, 1, 2)).toBe("3–3");
});

it("a matrix of several heads knows the tokens of each", () => {
  const { matrix, tiles } = shownMatrix(result({ pictures: [result().pictures[0]!, result().pictures[0]!] }), naming);
  expect(matrix).toMatchObject({ rows: 2, columns: 5, rowLabel: "query" });
  expect(matrix.columnName(3)).toBe("extra…");
  expect(tiles.at(0, 3)).toEqual({ picture: 1, row: 0, column: 0 });
});

it("one range serves all pictures: weights from 0, scores around 0, as far as the middle one reaches", () => {
  const reaching = (...far: number[]) => far.map((high) => result({ reach: [-1, high] }));
  expect(sharedRange(reaching(0.9, 0.04, 0.03), "weights")).toEqual({
    kind: "sequential",
    low: 0,
    high: 0.04,
    beyond: "above",
  });
  expect(sharedRange(reaching(2, 3, 9), "scores")).toMatchObject({ kind: "diverging", low: -3, high: 3 });
  expect(sharedRange([], "weights").high).toBe(1);
});

describe("what moving the text does", () => {
  const say = (outcomes: Parameters<typeof shiftSentence>[0], offset: number) =>
    shiftSentence(outcomes, offset, naming, (value) => value.toFixed(2));

  it("is said of those that change, those that end and those that do not change", () => {
    const outcomes = [
      { name: "Sinusoidal", change: { largest: 0.312 } },
      { name: "Learned", change: null },
      { name: "RoPE", change: { largest: 4e-7 } },
      { name: "ALiBi", change: { largest: 0 } },
    ];
    expect(say(outcomes, 600)).toBe(
      "From position 600 on: Sinusoidal changes by up to 0.31; Learned is not defined there; RoPE, ALiBi: no change.",
    );
    expect(say(outcomes, 0)).toBe(english.result.atStart);
    expect(say([], 5)).toBe("");
  });
});

it("curves by distance leave out what no query has, and are no longer than a screen is wide", () => {
  const mean = Float64Array.from({ length: 2000 }, (_, index) => (index === 4 ? NaN : index));
  const { curves } = distanceChart(
    [{ id: "a", name: "A", look: { colour: "#000", dash: [] }, result: result({ byDistance: { first: 0, mean } }) }],
    naming,
    String,
  );
  expect(curves[0]!.points.length).toBeLessThanOrEqual(600 + 128);
  // Near distances are all there; a doubling axis has no 0.
  expect(curves[0]!.points.slice(0, 4).map(({ x }) => x)).toEqual([1, 2, 3, 5]);
  expect(curves[0]!.points.at(-1)).toEqual({ x: 1996, y: 1996 });
});

it("the keys that a query looks at most are named with their weights", () => {
  expect(strongestKeys([0.2, 0.1, 0.7], (key) => naming.symbols[key]!, String, ", ", 2)).toBe(
    "cat 0.7, extraordinarily 0.2",
  );
});
