// SPDX-License-Identifier: MIT
// What is on screen: a result and where it came from. Charts, map, table and files are all made from this one object.

import type { LineChartData, Curve } from "../chart/data.js";
import type { CompleteExperiment, LengthEntry, RunResult } from "../engine/poslab.js";
import type { CoreError } from "../language/core-errors.js";
import type { Dictionary } from "../language/english.js";
import { sameEncoding, stable } from "../schemes/fields.js";
import { atTestDash, type Look } from "../schemes/looks.js";
import { changeName } from "../schemes/names.js";
import { switchesOf, type Switch } from "../state/fields.js";
import { lengthPoints, positionPoints, trainingPoints, type Measure } from "./curves.js";

export interface Shown {
  source: "recorded" | "live" | "kept" | "opened";
  /** milliseconds since 1970 */ date: number;
  build: { version: string; variant: string };
  experiment: CompleteExperiment;
  runs: readonly RunResult[];
}

/** A change measured on trained weights after the fact. */
export interface Measured {
  state: "measuring" | "done" | "failed";
  byLength: LengthEntry[];
  seed: number;
  error?: CoreError;
}

export interface ChartContext {
  shown: Shown;
  switches: readonly Switch[];
  measured: ReadonlyMap<string, Measured>;
  /** encoding indices that are switched off */ hidden: ReadonlySet<number>;
  measure: Measure;
  looks: readonly Look[];
  names: readonly string[];
  words: Dictionary;
  count: (value: number) => string;
  setting: (value: number) => string;
  fixed: (value: number, digits: number) => string;
}

/** Values of English letters alone, pairs and triples, in nats per character (counted on the corpus). */
const kEnglishLines = { letters: 3.12, pairs: 2.46, triples: 2.01 };
/** Answers that a guess can hit, by toy task. */
const kAnswers: Record<string, number> = {
  lookback: 16,
  "fixed-position": 16,
  first: 16,
  needle: 8,
  recall: 8,
  "position-modulo": 4,
  majority: 2,
  copy: 16,
  reverse: 16,
};

export const isText = (shown: Shown): boolean => shown.experiment.task.type === "text";
export const runsOf = (shown: Shown, encoding: number): RunResult[] =>
  shown.runs.filter((run) => run.encoding === encoding);

/** Every list of lengths that was measured for this change: by the runs themselves, or afterwards. */
export function entriesOf(shown: Shown, change: Switch, measured: ReadonlyMap<string, Measured>): LengthEntry[][] {
  const key = stable(change);
  const entry = switchesOf(shown.experiment.atTest, shown.experiment.encodings).findIndex((own) => stable(own) === key);
  const own = shown.runs.flatMap((run) => run.atTest.filter((at) => at.entry === entry).map((at) => at.byLength));
  if (own.length) return own;
  const later = measured.get(key);
  return later?.state === "done" ? [later.byLength] : [];
}

/** What bands and dotted lines of the charts stand for. */
export function chartNotes(context: ChartContext): string[] {
  const { shown, words } = context;
  const bands = shown.experiment.seeds.length > 1 ? words.charts.band : words.charts.bandOne;
  return isText(shown) && references(context).length ? [bands, words.charts.frequencies] : [bands];
}

function references({ shown, measure, words }: ChartContext): { y: number; label: string }[] {
  const { task } = shown.experiment;
  if (task.type === "text") {
    if (task.corpus !== "moby-dick" || task.unit === "bytes") return [];
    const { letters, pairs, triples } = words.charts;
    return [
      { y: kEnglishLines.letters, label: letters },
      { y: kEnglishLines.pairs, label: pairs },
      { y: kEnglishLines.triples, label: triples },
    ];
  }
  const answers = kAnswers[task.type];
  if (answers === undefined) return [];
  return [{ y: measure === "accuracy" ? 100 / answers : Math.log(answers), label: words.charts.guess }];
}

export function lengthChart(context: ChartContext): LineChartData {
  const { shown, switches, measured, hidden, measure, looks, names, words, count, fixed } = context;
  const { encodings, training, test, model } = shown.experiment;
  const longest = Math.max(...test.lengths);
  const curves: Curve[] = encodings.flatMap((_, encoding): Curve[] => {
    const runs = runsOf(shown, encoding);
    if (hidden.has(encoding) || runs.length === 0) return [];
    const points = lengthPoints(
      runs.map((run) => run.byLength),
      measure,
    );
    const endsEarly =
      points.length > 0 && points.at(-1)!.x < longest && runs.some((run) => run.byLength.some((entry) => entry.reason));
    return [{ id: String(encoding), label: names[encoding]!, ...looks[encoding]!, atTest: false, points, endsEarly }];
  });
  for (const change of switches) {
    const encoding = encodings.findIndex((own) => sameEncoding(own, change.of));
    if (encoding < 0 || hidden.has(encoding)) continue;
    const points = lengthPoints(entriesOf(shown, change, measured), measure);
    if (points.length === 0) continue;
    const endLabel = changeName(change, model.heads, words, context.setting);
    const label = words.atTest.curve(names[encoding]!, endLabel);
    curves.push({
      id: stable(change),
      label,
      endLabel,
      colour: looks[encoding]!.colour,
      dash: atTestDash,
      atTest: true,
      points,
    });
  }
  return {
    title: measure === "accuracy" ? words.charts.lengthAccuracy : words.charts.lengthLoss,
    xLabel: words.charts.testLength,
    yLabel: yLabel(context),
    xScale: "log",
    curves,
    vertical: { x: training.length, label: words.charts.trained(count(training.length)) },
    horizontals: references(context),
    formatX: count,
    formatY: (value) => (measure === "accuracy" ? fixed(value, 0) : fixed(value, 2)),
    xRange: [Math.min(...test.lengths), longest],
    ...(measure === "accuracy" ? { includeY: [0, 100] } : {}),
    dots: true,
  };
}

function yLabel({ shown, measure, words }: ChartContext): string {
  if (measure === "accuracy") return words.charts.accuracy;
  return isText(shown) ? words.charts.nats : words.charts.natsSymbol;
}

export function positionChart(context: ChartContext): LineChartData {
  const { shown, hidden, looks, names, words, count, fixed } = context;
  const { encodings, training, test } = shown.experiment;
  const curves = encodings.flatMap((_, encoding): Curve[] => {
    const points = positionPoints(runsOf(shown, encoding));
    if (hidden.has(encoding) || points.length === 0) return [];
    return [{ id: String(encoding), label: names[encoding]!, ...looks[encoding]!, atTest: false, points }];
  });
  return {
    title: words.charts.position,
    xLabel: words.charts.positionAxis,
    yLabel: isText(shown) ? words.charts.nats : words.charts.natsSymbol,
    xScale: "log",
    curves,
    vertical: { x: training.length, label: words.charts.trained(count(training.length)) },
    horizontals: references({ ...context, measure: "end" }),
    formatX: count,
    formatY: (value) => fixed(value, 2),
    xRange: [training.length / 16, Math.max(...test.lengths)],
    dots: false,
  };
}

export function trainingChart(context: ChartContext): LineChartData {
  const { shown, hidden, looks, names, words, count, fixed } = context;
  const { encodings, training } = shown.experiment;
  const curves = encodings.flatMap((_, encoding): Curve[] => {
    const points = trainingPoints(runsOf(shown, encoding));
    if (hidden.has(encoding) || points.length === 0) return [];
    return [{ id: String(encoding), label: names[encoding]!, ...looks[encoding]!, atTest: false, points }];
  });
  return {
    title: words.charts.training,
    xLabel: words.charts.stepAxis,
    yLabel: isText(shown) ? words.charts.nats : words.charts.natsSymbol,
    xScale: "linear",
    curves,
    horizontals: references({ ...context, measure: "end" }),
    formatX: count,
    formatY: (value) => fixed(value, 2),
    xRange: [0, training.steps],
    dots: false,
  };
}

/** One sentence for those who do not see the picture. */
export function describeCurves(chart: LineChartData, words: Dictionary): string {
  if (chart.curves.length === 0) return words.charts.empty;
  return chart.curves
    .flatMap((curve) => {
      const first = curve.points[0],
        last = curve.points.at(-1);
      if (!first || !last) return [];
      if (curve.endsEarly) return [words.charts.summaryUndefined(curve.label, chart.formatY(first.y))];
      return [
        words.charts.summaryItem(curve.label, chart.formatY(first.y), chart.formatY(last.y), chart.formatX(last.x)),
      ];
    })
    .join(words.punctuation.clause);
}
