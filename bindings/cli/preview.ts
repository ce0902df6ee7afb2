// SPDX-License-Identifier: MIT
// A tensor as a person wants to see it in a terminal: rounded, aligned, and elided in the middle where it is large.

import type { Tensor } from "../js/types.js";
import { colors } from "./colors.js";

/** Of larger matrices the first and last rows (and matrices, and columns) are shown. */
const kRows = 12;
const kPanels = 4;
const kTail = 3;
const kDigits = 4;
const kGap = 2;

/** `axes` names the axes: ["head", "query", "key"]. */
export function previewTensor(name: string, tensor: Tensor, axes: readonly string[], width: number): string {
  const { data, shape } = tensor;
  const title = `${colors.bold(name)} [${shape.join(", ")}]  ${colors.dim(`${axes.join(" × ")}${range(data)}`)}`;
  if (data.length === 0) return title;
  const columns = shape.at(-1)!,
    rows = shape.at(-2) ?? 1;
  const panels = data.length / (rows * columns);
  const format = formatter(data);
  const blocks: string[] = [];
  const shownPanels = elide(panels, kPanels, 1);
  for (const panel of shownPanels) {
    if (panel === null) {
      blocks.push(colors.dim(`… ${panels - (shownPanels.length - 1)} more ${axes[0]}s …`));
      continue;
    }
    if (shape.length > 2) blocks.push(colors.dim(`${axes[0]} ${panel}`));
    blocks.push(
      matrix(data.subarray(panel * rows * columns, (panel + 1) * rows * columns), rows, columns, format, width),
    );
  }
  return [title, ...blocks].join("\n");
}

function matrix(
  data: Float32Array,
  rows: number,
  columns: number,
  format: (value: number) => string,
  width: number,
): string {
  const shownRows = elide(rows, kRows, kTail);
  const visible = shownRows.filter((row) => row !== null);
  let cell = 1;
  for (const row of visible)
    for (const column of elide(columns, 24, kTail))
      if (column !== null) cell = Math.max(cell, format(data[row * columns + column]!).length);
  const label = String(rows - 1).length;
  const fit = Math.max(4, Math.floor((width - label) / (cell + kGap)));
  const shownColumns = elide(columns, fit, Math.min(kTail, Math.floor(fit / 3)));
  const line = (head: string, parts: readonly string[]): string =>
    head.padStart(label) + parts.map((part) => " ".repeat(kGap) + part.padStart(cell)).join("");
  const text = (row: number, column: number | null): string =>
    column === null ? "…" : format(data[row * columns + column]!);
  return [
    colors.dim(
      line(
        "",
        shownColumns.map((column) => (column === null ? "…" : String(column))),
      ),
    ),
    ...shownRows.map((row) =>
      row === null
        ? colors.dim(
            line(
              "…",
              shownColumns.map(() => "…"),
            ),
          )
        : line(
            String(row),
            shownColumns.map((column) => text(row, column)),
          ),
    ),
  ].join("\n");
}

/** Indices 0 .. count - 1, at most `most` of them, with null where some are left out before the last `tail`. */
function elide(count: number, most: number, tail: number): (number | null)[] {
  if (count <= most) return Array.from({ length: count }, (_, index) => index);
  const head = Math.max(1, most - tail - 1);
  return [
    ...Array.from({ length: head }, (_, index) => index),
    null,
    ...Array.from({ length: tail }, (_, index) => count - tail + index),
  ];
}

/** The same number of decimals for all, so that columns line up; exponents when magnitudes are far from 1. */
function formatter(data: Float32Array): (value: number) => string {
  let largest = 0,
    whole = true;
  for (const value of data) {
    if (!Number.isFinite(value)) continue;
    largest = Math.max(largest, Math.abs(value));
    whole &&= Number.isInteger(value);
  }
  const special = (value: number): string | null =>
    Number.isNaN(value) ? "NaN" : Number.isFinite(value) ? null : value > 0 ? "∞" : "-∞";
  if (whole && largest < 1e6) return (value) => special(value) ?? String(value);
  if (largest >= 1e6 || largest < 1e-3) return (value) => special(value) ?? value.toExponential(kDigits - 2);
  const decimals = Math.max(0, kDigits - Math.max(0, Math.floor(Math.log10(largest))));
  return (value) => special(value) ?? value.toFixed(decimals).replace(/^-(0\.0*)$/, "$1");
}

function range(data: Float32Array): string {
  let low = Infinity,
    high = -Infinity;
  for (const value of data) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? `, from ${Number(low.toPrecision(kDigits))} to ${Number(high.toPrecision(kDigits))}` : "";
}
