// SPDX-License-Identifier: MIT
// The formulas with numbers put in, of schemes on a grid: what they name is what the core computes.

import { describe, expect, it } from "vitest";
import type { SchemeObject } from "../../state/page-link.js";
import { schemePage, tensorOf } from "../schemes/scheme-page.js";
import { awayOnGrid, gridOf, placeOf } from "./grid.js";
import { subjectOf } from "./testing.js";

const kLength = 12;
const sizes = { length: kLength, heads: 2, dim: 8, headDim: 16 };

describe("places on a grid", () => {
  it("are counted row by row, after the tokens before the grid", () => {
    const grid = gridOf({ type: "learned-grid", gridHeight: 2, gridWidth: 5, prefixTokens: 1 });
    expect([0, 1, 5, 6].map((position) => placeOf(grid, position))).toEqual([
      null,
      { y: 0, x: 0 },
      { y: 0, x: 4 },
      { y: 1, x: 0 },
    ]);
    expect(awayOnGrid(grid, 6, 5)).toEqual({ dy: 1, dx: -4 });
  });

  it("have as many columns as the trained length needs, or are in one row", () => {
    expect(gridOf({ type: "swin", gridHeight: 5 }, 12).columns).toBe(3);
    expect(placeOf(gridOf({ type: "axial-rope" }), 7)).toEqual({ y: 0, x: 7 });
  });
});

describe("a score with the numbers put in", () => {
  const windows: SchemeObject[] = [{}, { gridHeight: 3 }, { gridHeight: 3, gridWidth: 4 }].flatMap((grid) =>
    ["swin", "levit"].map((type) => ({ type, ...grid })),
  );

  it.each(windows)("names the row of the table that the core reads: $type $gridHeight $gridWidth", async (scheme) => {
    const subject = await subjectOf(scheme, sizes);
    const { heads } = sizes;
    const table = tensorOf(subject, "table");
    const { data } = subject.lab.bias(subject.position, { heads, queryLength: kLength, keyLength: kLength });
    for (let head = 0; head < heads; head += 1) {
      for (let query = 0; query < kLength; query += 1) {
        for (let key = 0; key < kLength; key += 1) {
          const tex = schemePage(scheme.type)!.worked!.score!(subject, { head, query, key });
          const [, row, of] = tex.match(/= T_\{(\d+),\\,(\d+)\}$/)!.map(Number);
          expect(of).toBe(head + 1);
          expect(table[row! * heads + head], tex).toBe(data[(head * kLength + query) * kLength + key]);
        }
      }
    }
  });
});
