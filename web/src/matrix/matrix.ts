// SPDX-License-Identifier: MIT
// A matrix as plain data: what is under a place of its picture, where the keys move the cursor, its ticks and its table.

import type { TableData } from "../chart/data.js";

export interface MatrixData {
  rows: number;
  columns: number;
  /** row-major; -Infinity and NaN are drawn as bare cells */ data: ArrayLike<number>;
  rowLabel: string;
  columnLabel: string;
  rowName: (row: number) => string;
  columnName: (column: number) => string;
}

export interface Cell {
  row: number;
  column: number;
}

export const valueAt = (matrix: MatrixData, { row, column }: Cell): number =>
  matrix.data[row * matrix.columns + column] ?? NaN;

/** The cell under a place, both from 0 to 1. */
export const cellAt = (matrix: MatrixData, x: number, y: number): Cell => ({
  row: clamp(Math.floor(y * matrix.rows), matrix.rows),
  column: clamp(Math.floor(x * matrix.columns), matrix.columns),
});

const clamp = (index: number, count: number) => Math.max(0, Math.min(count - 1, index));

/** A page is an eighth of the matrix. Null for keys that do not move the cursor. */
export function moveCell(matrix: MatrixData, cell: Cell, key: string, withControl: boolean): Cell | null {
  const { rows, columns } = matrix;
  const { row, column } = cell;
  const page = Math.max(1, Math.round(rows / 8));
  const moved = {
    ArrowLeft: { row, column: column - 1 },
    ArrowRight: { row, column: column + 1 },
    ArrowUp: { row: row - 1, column },
    ArrowDown: { row: row + 1, column },
    PageUp: { row: row - page, column },
    PageDown: { row: row + page, column },
    Home: { row: withControl ? 0 : row, column: 0 },
    End: { row: withControl ? rows - 1 : row, column: columns - 1 },
  }[key];
  return moved ? { row: clamp(moved.row, rows), column: clamp(moved.column, columns) } : null;
}

/** About `most` evenly spaced indices of `count`, at round steps. */
export function ticksOf(count: number, most: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, index) => index);
  const rough = count / most;
  const power = 2 ** Math.ceil(Math.log2(rough));
  return Array.from({ length: Math.ceil(count / power) }, (_, index) => index * power);
}

const kTableSide = 24;

/** Every n-th row and column, the last ones too: a table is for reading. */
export function matrixTable(matrix: MatrixData, format: (value: number) => string): TableData {
  const sample = (count: number) => {
    const every = Math.ceil(count / kTableSide);
    return Array.from({ length: count }, (_, index) => index).filter((i) => i % every === 0 || i === count - 1);
  };
  const columns = sample(matrix.columns);
  return {
    columns: columns.map(matrix.columnName),
    rows: sample(matrix.rows).map((row) => ({
      label: matrix.rowName(row),
      cells: columns.map((column) => {
        const value = valueAt(matrix, { row, column });
        return Number.isFinite(value) ? format(value) : "–";
      }),
    })),
  };
}

/** Rows of the CSV: every number, not rounded. */
export function matrixRows(matrix: MatrixData): (string | number)[][] {
  const columns = Array.from({ length: matrix.columns }, (_, column) => column);
  return [
    [`${matrix.rowLabel} \\ ${matrix.columnLabel}`, ...columns.map(matrix.columnName)],
    ...Array.from({ length: matrix.rows }, (_, row) => [
      matrix.rowName(row),
      ...columns.map((column) => valueAt(matrix, { row, column })),
    ]),
  ];
}
