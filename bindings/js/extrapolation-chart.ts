// SPDX-License-Identifier: MIT
// A result as a chart: the loss (or accuracy) on the last quarter of the trained length against the tested length, one curve
// an encoding with a band over seeds, a line at the trained length and, for orientation, what guessing or counting reaches.

import type { Chart, ChartCurve } from "./chart-svg.js";
import { curveStyles } from "./scheme-style.js";
import { summarize, type SummaryRow } from "./summary.js";
import { groupedDigits, type SvgTheme } from "./svg-text.js";
import type { ExperimentResult } from "./types.js";

export interface ReferenceLine {
  /** nats, or accuracy from 0 to 1 */ value: number;
  label: string;
}
export interface ExtrapolationChartOptions {
  references?: readonly ReferenceLine[];
  title?: string;
  theme?: SvgTheme;
  width?: number;
  height?: number;
}

const changeMarkers = ["triangle", "square", "diamond"] as const;

export function extrapolationChart(result: ExperimentResult, options: ExtrapolationChartOptions = {}): Chart {
  const { experiment } = result;
  const summary = summarize(result);
  const accuracy = summary.measure === "accuracyAtEnd";
  const styles = curveStyles(experiment.encodings.map((encoding) => encoding.type));
  const trained = experiment.training.length;
  const curves = summary.rows.map((row): ChartCurve => {
    const style = styles[row.encoding]!;
    const own = row.atTest === null;
    return {
      label: row.label,
      color: style.color,
      dash: own ? style.dash : "2 3",
      width: own ? 2.25 : 1.5,
      marker: own ? "circle" : changeMarkers[row.atTest! % changeMarkers.length]!,
      points: row.cells.map(({ length, mean, spread }) => ({
        x: length,
        y: mean,
        ...(mean !== null && spread !== null ? { low: mean - spread, high: mean + spread } : {}),
      })),
      ...note(row),
    };
  });
  const seeds = experiment.seeds.length;
  return {
    title:
      options.title ??
      `Trained at length ${groupedDigits(trained)}, tested at up to ${groupedDigits(Math.max(...summary.lengths))}`,
    subtitle: [
      taskName(result),
      `${groupedDigits(experiment.training.steps)} steps`,
      seeds > 1 ? `mean of ${seeds} seeds, band ± one standard deviation` : `seed ${experiment.seeds[0]}`,
    ].join(" · "),
    xLabel: "tested length (tokens)",
    yLabel: accuracy ? "accuracy on the last places" : "loss on the last places (nats per character)",
    curves,
    verticalLine: { x: trained, label: `trained length ${groupedDigits(trained)}` },
    horizontalLines: (options.references ?? []).map(({ value, label }) => ({ y: value, label })),
    formatY: accuracy ? (value) => `${Math.round(value * 100)} %` : (value) => String(Number(value.toFixed(3))),
    ...(accuracy ? { rangeY: [0, 1] as const } : {}),
    ...(options.theme ? { theme: options.theme } : {}),
    ...(options.width ? { width: options.width } : {}),
    ...(options.height ? { height: options.height } : {}),
  };
}

function note(row: SummaryRow): { note?: string } {
  const [stopped] = row.stopped;
  if (stopped) return { note: `seed ${stopped.seed} stopped at step ${groupedDigits(stopped.step)}` };
  const last = row.cells.findLast((cell) => cell.mean !== null);
  if (!last) return { note: "not defined" };
  return last.length < (row.cells.at(-1)?.length ?? 0)
    ? { note: `not defined past ${groupedDigits(last.length)}` }
    : {};
}

function taskName(result: ExperimentResult): string {
  const { task } = result.experiment;
  if (task.type !== "text") return task.type;
  return task.corpus ?? "own text";
}
