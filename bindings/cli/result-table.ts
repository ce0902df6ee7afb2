// SPDX-License-Identifier: MIT
// The end of `poslab extrapolate`: encodings down, tested lengths across, mean and spread over seeds, "not defined" where it
// is. What does not fit the terminal is first broken within cells, then the columns go on below.

import { summarize, type SummaryCell, type SummaryRow } from "../js/summary.js";
import type { ExperimentResult } from "../js/types.js";
import { colors } from "./colors.js";
import { borderless } from "./borderless.js";

export function resultTable(result: ExperimentResult, width: number): string {
  const summary = summarize(result);
  const accuracy = summary.measure === "accuracyAtEnd";
  const seeds = result.experiment.seeds.length;
  const format = (value: number): string => (accuracy ? (100 * value).toFixed(1) : value.toFixed(3));
  const text = (row: SummaryRow, cell: SummaryCell, broken: boolean): string => {
    const join = broken ? "\n" : " ";
    if (cell.mean === null) {
      if (!cell.reason && row.stopped.length === 0) return "–";
      return cell.reason ? `not${join}defined` : "stopped";
    }
    const parts = [format(cell.mean)];
    if (cell.spread !== null) parts.push(`± ${format(cell.spread)}`);
    if (cell.seeds < seeds) parts.push(`(${cell.seeds} of ${seeds})`);
    return parts.join(join);
  };
  const cells = (broken: boolean): string[][] =>
    summary.rows.map((row) => row.cells.map((cell) => text(row, cell, broken)));
  const labels = summary.rows.map((row) => (row.atTest === null ? row.label : `– ${row.label}`));
  const heads = summary.lengths.map((length) =>
    length === result.experiment.training.length ? `L = ${length}` : String(length),
  );
  const whole = layOut(labels, heads, cells(false));
  const blocks = whole.total <= width ? whole.blocks(Infinity) : layOut(labels, heads, cells(true)).blocks(width);
  const unit = accuracy ? "accuracy in % on the last places" : "nats per character on the last places";
  const over = seeds > 1 ? `, mean ± standard deviation of ${seeds} seeds` : "";
  return [`${unit}${over}, by tested length:`, blocks.join("\n\n"), ...footnotes(summary.rows)].join("\n");
}

interface Layout {
  total: number;
  blocks(width: number): string[];
}

function layOut(labels: readonly string[], heads: readonly string[], cells: readonly string[][]): Layout {
  const lineLength = (text: string): number => Math.max(...text.split("\n").map((line) => [...line].length));
  const labelWidth = Math.max(8, ...labels.map(lineLength)) + 2;
  const widths = heads.map(
    (head, column) => Math.max(lineLength(head), ...cells.map((row) => lineLength(row[column]!))) + 2,
  );
  return {
    total: labelWidth + widths.reduce((sum, column) => sum + column, 0),
    blocks(width) {
      const blocks: string[] = [];
      for (let from = 0; from < heads.length;) {
        let to = from,
          used = labelWidth;
        while (to < heads.length && (to === from || used + widths[to]! <= width)) used += widths[to++]!;
        blocks.push(
          draw(
            labels,
            heads.slice(from, to),
            cells.map((row) => row.slice(from, to)),
          ),
        );
        from = to;
      }
      return blocks;
    },
  };
}

function draw(labels: readonly string[], heads: readonly string[], cells: readonly string[][]): string {
  const rows = labels.map((label, row) => [
    label,
    ...cells[row]!.map((cell) => (/^not\s/.test(cell) ? colors.dim(cell) : cell)),
  ]);
  return borderless(["", ...heads], rows, ["left", ...heads.map(() => "right" as const)]);
}

/** Why something is not defined or was stopped, each once. */
function footnotes(rows: readonly SummaryRow[]): string[] {
  return rows.flatMap((row) => {
    const reasons = new Map<string, number[]>();
    for (const { reason, length } of row.cells)
      if (reason) reasons.set(reason, [...(reasons.get(reason) ?? []), length]);
    const first = [...reasons][0];
    return [
      ...(row.atTest === null ? row.stopped : []).map(({ seed, step, reason }) =>
        colors.yellow(`${row.label}, seed ${seed}, stopped at step ${step}: ${reason}`),
      ),
      ...(first ? [colors.dim(`${row.label}, not defined from ${first[1][0]} on: ${first[0]}`)] : []),
    ];
  });
}
