// SPDX-License-Identifier: MIT
// The chart of a result, with the lines that make it readable: what counting letters reaches on a text, what guessing
// reaches on a toy task.

import { chartSvg } from "../js/chart-svg.js";
import { extrapolationChart, type ReferenceLine } from "../js/extrapolation-chart.js";
import { loadPosLab } from "../js/index.js";
import { ngramLosses } from "../js/ngram-losses.js";
import type { ExperimentResult } from "../js/types.js";

/** `text` is the corpus; null for toy tasks, and where it is not at hand. */
export async function resultSvg(result: ExperimentResult, text: Uint8Array | string | null): Promise<string> {
  return chartSvg(extrapolationChart(result, { references: await references(result, text) }));
}

async function references(result: ExperimentResult, text: Uint8Array | string | null): Promise<ReferenceLine[]> {
  const { task } = result.experiment;
  if (task.type === "text") {
    const losses = text === null ? null : ngramLosses(text, task.unit);
    if (!losses) return [];
    return [
      { value: losses.letters, label: "letter frequencies alone" },
      { value: losses.pairs, label: "pairs of letters" },
      { value: losses.triples, label: "triples of letters" },
    ];
  }
  const { guessAccuracy } = (await loadPosLab()).tasks().find(({ type }) => type === task.type) ?? { guessAccuracy: 0 };
  return [{ value: guessAccuracy, label: "random guessing" }];
}
