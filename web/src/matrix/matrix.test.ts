// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { heatMapDrawing } from "../engine/pictures.js";
import { chinese } from "../language/chinese.js";
import { english } from "../language/english.js";
import { colourOf, colourTable, kColours, pixelOf, rangeOf } from "./colours.js";
import { cellAt, matrixRows, matrixTable, moveCell, ticksOf, valueAt, type MatrixData } from "./matrix.js";

const matrix = (rows: number, columns: number): MatrixData => ({
  rows,
  columns,
  data: Float32Array.from({ length: rows * columns }, (_, index) => index),
  rowLabel: "position",
  columnLabel: "dimension",
  rowName: (row) => `p${row}`,
  columnName: (column) => `d${column}`,
});

describe("a matrix", () => {
  const small = matrix(3, 4);

  it("finds the cell under a place, at its edges too", () => {
    expect(cellAt(small, 0.3, 0.99)).toEqual({ row: 2, column: 1 });
    expect(cellAt(small, 1, -0.2)).toEqual({ row: 0, column: 3 });
    expect(valueAt(small, { row: 2, column: 1 })).toBe(9);
  });

  it("moves its cursor by keys and stays inside", () => {
    const at = { row: 1, column: 1 };
    expect(moveCell(small, at, "ArrowDown", false)).toEqual({ row: 2, column: 1 });
    expect(moveCell(small, { row: 2, column: 1 }, "ArrowDown", false)).toEqual({ row: 2, column: 1 });
    expect(moveCell(small, at, "End", false)).toEqual({ row: 1, column: 3 });
    expect(moveCell(small, at, "Home", true)).toEqual({ row: 0, column: 0 });
    expect(moveCell(matrix(80, 1), { row: 0, column: 0 }, "PageDown", false)).toEqual({ row: 10, column: 0 });
    expect(moveCell(small, at, "a", false)).toBeNull();
  });

  it("has ticks at round steps, never more than asked for", () => {
    expect(ticksOf(3, 8)).toEqual([0, 1, 2]);
    expect(ticksOf(64, 8)).toEqual([0, 8, 16, 24, 32, 40, 48, 56]);
    for (const count of [1, 7, 100, 2048]) expect(ticksOf(count, 6).length).toBeLessThanOrEqual(6);
  });

  it("stands in a table that keeps its ends, and in a CSV that keeps everything", () => {
    const table = matrixTable(matrix(100, 2), String);
    expect(table.columns).toEqual(["d0", "d1"]);
    expect(table.rows.length).toBeLessThanOrEqual(25);
    expect(table.rows.at(-1)).toEqual({ label: "p99", cells: ["198", "199"] });
    expect(matrixTable({ ...small, data: new Float32Array(12).fill(-Infinity) }, String).rows[0]!.cells[0]).toBe("–");
    expect(matrixRows(small)[3]).toEqual(["p2", 8, 9, 10, 11]);
  });
});

describe("the colours of a matrix", () => {
  it("are centred at zero when there are both signs", () => {
    expect(rangeOf([[-1, 3, NaN, -Infinity]])).toEqual({ kind: "diverging", low: -3, high: 3 });
    expect(rangeOf([[1, 3], [5]])).toEqual({ kind: "sequential", low: 1, high: 5 });
    expect(rangeOf([[2, 2]])).toEqual({ kind: "sequential", low: 1.5, high: 2.5 });
    expect(rangeOf([[]], "diverging")).toEqual({ kind: "diverging", low: -1, high: 1 });
  });

  it("are pixels of every map in both themes", () => {
    expect(pixelOf("rgb(1, 2, 3)") >>> 0).toBe(0xff030201);
    expect(pixelOf("#010203") >>> 0).toBe(0xff030201);
    for (const kind of ["sequential", "diverging"] as const) {
      for (const theme of ["light", "dark"] as const) {
        const table = colourTable(kind, theme);
        expect(table).toHaveLength(kColours);
        expect(table[kColours - 1]).toBe(pixelOf(colourOf(kind, theme, 1)) >>> 0);
      }
    }
  });
});

describe("a saved matrix", () => {
  const notes = (words: typeof english, side: number) => {
    const drawn = { ...matrix(side, side), rowLabel: words.charts.positionAxis, columnLabel: words.charts.stepAxis };
    return heatMapDrawing({
      title: words.charts.position,
      subtitle: "PosLab",
      summary: words.charts.empty,
      matrix: drawn,
      range: rangeOf([drawn.data]),
      words,
      theme: "light",
    });
  };

  it("says in the page's language what stands where, and what is left out", () => {
    expect(notes(english, 3)).toContain(">Down: position. Across: step.<");
    expect(notes(english, 500)).toContain("Across: step. One row and column of every 2 is drawn.<");
    const saved = notes(chinese, 500);
    expect(saved).toContain(">纵向：位置；横向：步数。每 2 行、每 2 列各取其一绘出。<");
    expect(saved.replaceAll(/<[^>]*>/g, "").replaceAll("PosLab", "")).not.toMatch(/\p{Script=Latin}/u);
  });
});
