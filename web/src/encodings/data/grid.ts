// SPDX-License-Identifier: MIT
// Where a token is whose one position is laid on a grid row by row, for formulas with the numbers put in.

import type { SchemeObject } from "../../state/page-link.js";
import { numberOf } from "../schemes/scheme-page.js";

export interface GridSize {
  rows: number;
  /** 0: all tokens are in one row */ columns: number;
  /** class and register tokens before the grid */ prefix: number;
}

/** As the fields say; `length` gives the number of columns where no field does. */
export function gridOf(scheme: SchemeObject, length = 0): GridSize {
  const rows = numberOf(scheme, "gridHeight", 1);
  const prefix = numberOf(scheme, "prefixTokens", 0);
  const columns = numberOf(scheme, "gridWidth", 0) || Math.ceil(Math.max(0, length - prefix) / rows);
  return { rows, columns, prefix };
}

/** Row and column, from 0; null for a token before the grid. */
export function placeOf({ columns, prefix }: GridSize, position: number): { y: number; x: number } | null {
  const place = position - prefix;
  if (place < 0) return null;
  return columns === 0 ? { y: 0, x: place } : { y: Math.floor(place / columns), x: place % columns };
}

/** Rows and columns between a query and a key, query minus key. */
export function awayOnGrid(grid: GridSize, query: number, key: number): { dy: number; dx: number } {
  const [from, to] = [placeOf(grid, query), placeOf(grid, key)];
  return from && to ? { dy: from.y - to.y, dx: from.x - to.x } : { dy: 0, dx: 0 };
}

/** TeX: how the row y and the column x of a position are found. */
export function placesTex(scheme: SchemeObject): string {
  const prefix = numberOf(scheme, "prefixTokens", 0);
  const place = prefix === 0 ? "i" : `i - ${prefix}`;
  const whole = prefix === 0 ? "i" : `(i - ${prefix})`;
  return String.raw`y_i = \left\lfloor \frac{${place}}{N_x} \right\rfloor, \quad x_i = ${whole} \bmod N_x`;
}
