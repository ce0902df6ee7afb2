// SPDX-License-Identifier: MIT
// The formulas with numbers put in, of schemes on a grid: what they name is what the core computes.

import { describe, expect, it } from "vitest";
import type { SchemeObject } from "../../state/page-link.js";
import { schemePage, tensorOf } from "../schemes/scheme-page.js";
import { awayOnGrid, gridOf, placeOf } from "./grid.js";
import { handsAt, lanesOf } from "./rotation.js";
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

/** The number that TeX of products, powers and sums in brackets stands for. */
function valueOf(tex: string): number {
  const script = tex
    .replace(/\\tfrac\{([^}]*\}?[^}]*)\}\{([^}]*(?:\{[^}]*\})?[^}]*)\}/, "(($1)/($2))")
    .replace(/\\left|\\right|\\!|\\,/g, "")
    .replaceAll("\\pi", "*Math.PI*")
    .replaceAll("\\cdot", "*")
    .replace(/\^\{([^}]*)\}/g, "**($1)")
    .replace(/\*\s*$/, "")
    .replace(/\\(sin|cos)/g, "Math.$1");
  return Number(new Function(`return ${script};`)());
}

describe("a row with the numbers put in", () => {
  const rows: SchemeObject[] = [
    { type: "sinusoidal-2d" },
    { type: "sinusoidal-2d", gridWidth: 5, layout: "interleaved", base: 100 },
    { type: "sinusoidal-2d", gridHeight: 3, gridWidth: 5, firstAxis: "y", coordinates: "normalized" },
  ];

  it.each(rows)("is what the core computes: %j", async (scheme) => {
    const subject = await subjectOf(scheme, sizes);
    const { dim } = sizes;
    const { data } = subject.lab.table(subject.position, { length: kLength, dim });
    for (let position = 0; position < kLength; position += 1) {
      for (let column = 0; column < dim; column += 1) {
        const tex = schemePage(scheme.type)!.worked!.row!(subject, { position, column });
        expect(valueOf(tex.split(" = ")[2]!), tex).toBeCloseTo(data[position * dim + column]!, 6);
      }
    }
  });
});

describe("a row out of tables", () => {
  const tables: SchemeObject[] = [
    { type: "axial-learned" },
    { type: "axial-learned", gridHeight: 3 },
    { type: "axial-learned", gridHeight: 3, gridWidth: 4, combine: "concatenate" },
    { type: "axial-learned", gridHeight: 2, combine: "concatenate", firstAxis: "x" },
    { type: "learned-grid", gridHeight: 3 },
    { type: "learned-grid", gridHeight: 2, prefixTokens: 2 },
  ];

  it.each(tables)("names the rows that the core reads: %j", async (scheme) => {
    const subject = await subjectOf(scheme, sizes);
    const { dim } = sizes;
    const { data } = subject.lab.table(subject.position, { length: kLength, dim });
    const names: Record<string, string> = { Y: "rows", X: "columns", W: "table" };
    for (let position = 0; position < kLength; position += 1) {
      for (let column = 0; column < dim; column += 1) {
        const tex = schemePage(scheme.type)!.worked!.row!(subject, { position, column });
        const parts = [
          ...tex
            .split(" = ")
            .at(-1)!
            .matchAll(/([YXW])_\{(\d+),\\,(\d+)\}/g),
        ];
        const read = parts.map(([, name, row, place]) => {
          const { shape } = subject.learned.find((tensor) => tensor.name === names[name!])!;
          return tensorOf(subject, names[name!]!)[Number(row) * shape[1]! + Number(place)]!;
        });
        expect(read.length, tex).toBeGreaterThan(0);
        expect(
          read.reduce((sum, value) => sum + value, 0),
          tex,
        ).toBeCloseTo(data[position * dim + column]!, 6);
      }
    }
  });
});

describe("an angle with the numbers put in", () => {
  const turns: SchemeObject[] = [
    { type: "axial-rope" },
    { type: "axial-rope", gridWidth: 5, frequencies: "split", theta: 100 },
    { type: "axial-rope", gridWidth: 5, order: "alternating", frequencies: "split" },
    { type: "axial-rope", gridWidth: 5, firstAxis: "x", rotaryDim: 8 },
    { type: "axial-rope", gridHeight: 3, gridWidth: 4, coordinates: "normalized", theta: 100 },
  ];

  it.each(turns)("is that by which the core turns: %j", async (scheme) => {
    const subject = await subjectOf(scheme, sizes);
    const lanes = lanesOf(subject, ((scheme["rotaryDim"] as number | undefined) ?? sizes.headDim) / 2);
    for (let position = 0; position < kLength; position += 1) {
      for (const { pair, x, y } of handsAt(subject, position, lanes)) {
        const tex = schemePage(scheme.type)!.worked!.angle!(subject, { pair, position });
        const angle = valueOf(tex.split(" = ").at(-1)!);
        expect(x, tex).toBeCloseTo(Math.cos(angle), 5);
        expect(y, tex).toBeCloseTo(Math.sin(angle), 5);
      }
    }
  });
});
