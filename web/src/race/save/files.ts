// SPDX-License-Identifier: MIT
// What can be saved, as text: CSV with a header comment and the result as JSON. File names carry the task,
// the trained length and the seeds.

import { computeVerdict, verdictSentence, type ExperimentResult } from "../../engine/poslab.js";
import { csvText } from "../../save/csv.js";
import type { Shown } from "../shown.js";

export function fileName(shown: Shown, what: string, extension: string): string {
  const { task, training, seeds } = shown.experiment;
  const name = task.type === "text" ? `text-${task.corpus ?? "own"}` : task.type;
  const seed = seeds.length === 1 ? `seed${seeds[0]}` : `seeds${seeds[0]}-${seeds.at(-1)}`;
  return ["poslab", name, `L${training.length}`, what, seed].join("-").replace(/[^\w.-]+/g, "_") + `.${extension}`;
}

/** One line an encoding and length, from every run on its own; numbers are not rounded. */
export function resultCsv(shown: Shown, names: readonly string[], link: string): string {
  const { build, experiment } = shown;
  const header = [
    `PosLab ${build.version} (${build.variant}), seeds ${experiment.seeds.join(" ")}, ${new Date(shown.date).toISOString()}`,
    link,
  ];
  const columns = [
    "encoding",
    "change_at_test",
    "seed",
    "length",
    "loss",
    "loss_error",
    "loss_at_end",
    "loss_at_end_error",
    "accuracy",
    "accuracy_at_end",
    "reason",
  ];
  const lines = shown.runs.flatMap((run) => {
    const lists = [
      { change: "", byLength: run.byLength },
      ...run.atTest.map((at) => ({ change: JSON.stringify(experiment.atTest[at.entry] ?? {}), byLength: at.byLength })),
    ];
    return lists.flatMap(({ change, byLength }) =>
      byLength.map((entry) => [
        names[run.encoding] ?? "",
        change,
        run.seed,
        entry.length,
        entry.loss,
        entry.lossError,
        entry.lossAtEnd,
        entry.lossAtEndError,
        entry.accuracy,
        entry.accuracyAtEnd,
        entry.reason,
      ]),
    );
  });
  return csvText(header, [columns, ...lines]);
}

export function resultJson(shown: Shown): string {
  const { experiment, build } = shown;
  const runs = shown.runs.filter((run) => run.byLength.length > 0);
  const result: ExperimentResult = {
    experiment,
    build,
    runs,
    verdict: verdictSentence(computeVerdict(experiment, runs)),
  };
  return `${JSON.stringify(result, null, 1)}\n`;
}
