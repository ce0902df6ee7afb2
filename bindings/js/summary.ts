// SPDX-License-Identifier: MIT
// What a result says at a glance: for every encoding (and every change at test time) and every tested length the mean over
// seeds and its spread. Tables and charts read this.

import { atTestLabel, encodingLabel } from "./experiment.js";
import type { ExperimentResult, LengthEntry } from "./types.js";

export interface SummaryCell {
  length: number;
  /** mean over the seeds that have a number, null when none has */ mean: number | null;
  /** sample standard deviation over seeds, null with fewer than two */ spread: number | null;
  /** seeds with a number */ seeds: number;
  /** why there is no number, in the words of the result */ reason?: string;
}
export interface SummaryRow {
  encoding: number;
  /** index into experiment.atTest, or null for the encoding as trained */ atTest: number | null;
  label: string;
  type: string;
  cells: SummaryCell[];
  /** runs of this row that ended early, and why */ stopped: { seed: number; step: number; reason: string }[];
}
export interface Summary {
  /** accuracy for toy tasks, else nats */ measure: "lossAtEnd" | "accuracyAtEnd";
  lengths: number[];
  rows: SummaryRow[];
}

export function summarize(result: ExperimentResult): Summary {
  const { experiment, runs } = result;
  const measure = experiment.task.type === "text" ? "lossAtEnd" : "accuracyAtEnd";
  const lengths = experiment.test.lengths;
  const rows: SummaryRow[] = [];
  experiment.encodings.forEach((encoding, index) => {
    const own = runs.filter((run) => run.encoding === index);
    const row = (atTest: number | null, label: string, entries: LengthEntry[][]): SummaryRow => ({
      encoding: index,
      atTest,
      label,
      type: encoding.type,
      cells: lengths.map((length) =>
        cell(
          length,
          entries.map((list) => list.find((entry) => entry.length === length)),
          measure,
        ),
      ),
      stopped: own.flatMap(({ seed, stopped }) => (stopped ? [{ seed, ...stopped }] : [])),
    });
    rows.push(
      row(
        null,
        encodingLabel(encoding),
        own.map((run) => run.byLength),
      ),
    );
    experiment.atTest.forEach((change, entry) => {
      if (change.of !== index) return;
      const lists = own.map((run) => run.atTest.find((measured) => measured.entry === entry)?.byLength ?? []);
      rows.push(row(entry, atTestLabel(change, experiment.encodings), lists));
    });
  });
  return { measure, lengths, rows };
}

function cell(length: number, entries: (LengthEntry | undefined)[], measure: Summary["measure"]): SummaryCell {
  const values = entries.flatMap((entry) => (typeof entry?.[measure] === "number" ? [entry[measure]] : []));
  const reason = entries.find((entry) => entry?.reason)?.reason;
  if (values.length === 0) return { length, mean: null, spread: null, seeds: 0, ...(reason ? { reason } : {}) };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    length,
    mean,
    seeds: values.length,
    spread: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : null,
    ...(reason ? { reason } : {}),
  };
}
