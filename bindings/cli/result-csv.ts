// SPDX-License-Identifier: MIT
// A result as CSV, one row a run (or change at test time) and tested length; empty where nothing is defined.

import { csvFormat } from "d3-dsv";
import { atTestLabel, encodingLabel } from "../js/experiment.js";
import type { ExperimentResult, LengthEntry } from "../js/types.js";

const columns = [
  "encoding",
  "type",
  "label",
  "atTest",
  "change",
  "seed",
  "length",
  "loss",
  "lossError",
  "lossAtEnd",
  "lossAtEndError",
  "accuracy",
  "accuracyAtEnd",
  "reason",
] as const;

export function resultCsv({ experiment, runs }: ExperimentResult): string {
  const rows = runs.flatMap((run) => {
    const encoding = experiment.encodings[run.encoding]!;
    const common = { encoding: run.encoding, type: encoding.type, label: encodingLabel(encoding), seed: run.seed };
    const row = (entry: LengthEntry, change: { atTest: number | ""; change: string }): Record<string, unknown> => ({
      ...common,
      ...change,
      ...entry,
    });
    return [
      ...run.byLength.map((entry) => row(entry, { atTest: "", change: "" })),
      ...run.atTest.flatMap((measured) => {
        const change = {
          atTest: measured.entry,
          change: atTestLabel(experiment.atTest[measured.entry]!, experiment.encodings),
        };
        return measured.byLength.map((entry) => row(entry, change));
      }),
    ];
  });
  return `${csvFormat(
    rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? ""]))),
    [...columns],
  )}\n`;
}
