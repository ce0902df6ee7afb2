// SPDX-License-Identifier: MIT
// The table of final numbers: encodings and changes at test time against tested lengths, with their spread.

import type { TableData } from "../chart/data.js";
import type { LengthEntry } from "../engine/poslab.js";
import { sameEncoding } from "../schemes/fields.js";
import { changeName } from "../schemes/names.js";
import { valueOf, type Measure } from "./curves.js";
import { entriesOf, runsOf, type ChartContext } from "./shown.js";

export interface NumberRow {
  label: string;
  /** encoding index */ encoding: number;
  atTest: boolean;
  cells: { length: number; mean: number | null; spread: number | null; reason?: string }[];
}

export function numberRows(context: ChartContext): NumberRow[] {
  const { shown, switches, measured, names, words, measure, setting } = context;
  const { encodings, test, model } = shown.experiment;
  const row = (
    label: string,
    encoding: number,
    atTest: boolean,
    lists: readonly (readonly LengthEntry[])[],
  ): NumberRow => ({
    label,
    encoding,
    atTest,
    cells: test.lengths.map((length) =>
      cellOf(
        length,
        lists.map((list) => list.find((entry) => entry.length === length)),
        measure,
      ),
    ),
  });
  return encodings.flatMap((own, encoding) => {
    const runs = runsOf(shown, encoding);
    if (runs.length === 0) return [];
    const changes = switches
      .filter((change) => sameEncoding(change.of, own))
      .flatMap((change) => {
        const lists = entriesOf(shown, change, measured);
        const label = words.atTest.curve(names[encoding]!, changeName(change, model.heads, words, setting));
        return lists.length ? [row(label, encoding, true, lists)] : [];
      });
    return [
      row(
        names[encoding]!,
        encoding,
        false,
        runs.map((run) => run.byLength),
      ),
      ...changes,
    ];
  });
}

function cellOf(
  length: number,
  entries: readonly (LengthEntry | undefined)[],
  measure: Measure,
): NumberRow["cells"][number] {
  const known = entries.flatMap((entry) => {
    const value = entry && valueOf(entry, measure);
    return typeof value === "number" && Number.isFinite(value) ? [value] : [];
  });
  const reason = entries.find((entry) => entry?.reason)?.reason;
  if (known.length === 0) return { length, mean: null, spread: null, ...(reason ? { reason } : {}) };
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  if (known.length > 1) return { length, mean, spread: (Math.max(...known) - Math.min(...known)) / 2 };
  const entry = entries.find((own) => own !== undefined)!;
  const error = measure === "end" ? entry.lossAtEndError : measure === "whole" ? entry.lossError : undefined;
  return { length, mean, spread: error ?? null };
}

export function numberTable(context: ChartContext): TableData {
  const { measure, fixed, count, words } = context;
  const digits = measure === "accuracy" ? 0 : 3;
  return {
    columns: context.shown.experiment.test.lengths.map(count),
    rows: numberRows(context).map(({ label, cells }) => ({
      label,
      cells: cells.map(({ mean, spread, reason }) => {
        if (mean === null) return reason ? words.numbers.notDefined : "–";
        return spread === null ? fixed(mean, digits) : `${fixed(mean, digits)} ± ${fixed(spread, digits)}`;
      }),
    })),
  };
}
