// SPDX-License-Identifier: MIT
// The verdict of an experiment, computed from its numbers: who holds past the trained length, who breaks and where.
// Read off the losses at the end of the windows (the same characters at every length) or, for toy tasks, the accuracies
// there. The facts come apart from the sentence, so that a page can phrase them in its own language.

import { encodingLabel } from "./experiment.js";
import type { EncodingVerdict, Verdict } from "./run-types.js";
import type { CompleteExperiment, LengthEntry, RunResult } from "./types.js";

/** From here on a change is called a break: nats per character, or a share of right answers. */
const lossThreshold = 0.1;
const accuracyThreshold = 0.1;
/** Two digits after the point are shown, of nats and of shares. */
const roundsToNothing = 0.005;

/** The facts behind the sentence. */
export function computeVerdict(experiment: CompleteExperiment, runs: readonly RunResult[]): Verdict {
  const measure = experiment.task.type === "text" ? "loss" : "accuracy";
  const trainedLength = experiment.training.length;
  const threshold = measure === "loss" ? lossThreshold : accuracyThreshold;
  const encodings = experiment.encodings.map((encoding, index): EncodingVerdict => {
    const own = runs.filter((run) => run.encoding === index && run.byLength.length > 0);
    const curve = own.length > 0 ? meanCurve(own, experiment.test.lengths, measure) : [];
    return judge(index, encodingLabel(encoding), curve, trainedLength, measure, threshold);
  });
  const longest = experiment.test.lengths[experiment.test.lengths.length - 1]!;
  const best = (value: (verdict: EncodingVerdict) => number | null): number | null => {
    let winner: number | null = null;
    let top = -Infinity;
    for (const verdict of encodings) {
      const number = value(verdict);
      const merit = number === null ? -Infinity : measure === "loss" ? -number : number;
      if (merit > top) [top, winner] = [merit, verdict.encoding];
    }
    return winner;
  };
  return {
    measure,
    trainedLength,
    longest,
    threshold,
    encodings,
    bestAtLongest: best((verdict) => (verdict.lastDefined === longest ? verdict.atLongest : null)),
    bestAtTrained: best((verdict) => verdict.atTrained),
  };
}

interface Point {
  length: number;
  value: number | null;
}

/**
 * The mean over seeds at each length that was measured; null where a seed has no number. Lengths that a run has not come
 * to yet, and those at whose end no answer stands (of copied rows), say nothing and are left out.
 */
function meanCurve(runs: readonly RunResult[], lengths: readonly number[], measure: "loss" | "accuracy"): Point[] {
  return lengths.flatMap((length) => {
    const entries = runs.map((run) => run.byLength.find((entry) => entry.length === length));
    if (!entries.every((entry) => entry !== undefined && saysSomething(entry, measure))) return [];
    const values = entries.map((entry) => valueOf(entry!, measure));
    const known = values.filter((value) => value !== null);
    return {
      length,
      value: known.length === values.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null,
    };
  });
}

function valueOf(entry: LengthEntry, measure: "loss" | "accuracy"): number | null {
  const value = measure === "loss" ? entry.lossAtEnd : entry.accuracyAtEnd;
  return value === undefined || value === null || !Number.isFinite(value) ? null : value;
}

const saysSomething = (entry: LengthEntry, measure: "loss" | "accuracy"): boolean =>
  valueOf(entry, measure) !== null || entry.reason !== undefined || entry.loss === null;

function judge(
  encoding: number,
  label: string,
  curve: readonly Point[],
  trainedLength: number,
  measure: "loss" | "accuracy",
  threshold: number,
): EncodingVerdict {
  const within = curve.filter((point) => point.length <= trainedLength && point.value !== null);
  const start = within[within.length - 1];
  const nothing = { atTrained: null, atLongest: null, worst: null, breaksAt: null, breaksBy: null, lastDefined: null };
  if (!start) return { encoding, label, outcome: "failed", ...nothing };
  const atTrained = start.value!;
  const past = curve.filter((point) => point.length > trainedLength);
  const worsening = (value: number): number => (measure === "loss" ? value - atTrained : atTrained - value);
  const defined = past.filter((point) => point.value !== null);
  const last = defined[defined.length - 1] ?? start;
  const broken = defined.find((point) => worsening(point.value!) > threshold);
  return {
    encoding,
    label,
    outcome: broken ? "breaks" : past.length > defined.length ? "not-defined" : "holds",
    atTrained,
    atLongest: last.value,
    worst: Math.max(0, ...defined.map((point) => worsening(point.value!))),
    breaksAt: broken?.length ?? null,
    breaksBy: broken ? worsening(broken.value!) : null,
    lastDefined: last.length,
  };
}

/** The verdict as an English sentence. */
export function verdictSentence(verdict: Verdict): string {
  const { trainedLength, longest, measure, encodings } = verdict;
  const known = encodings.filter(({ outcome }) => outcome !== "failed");
  if (known.length === 0) return "No run ended with a number, so there is no verdict.";
  const amount = (value: number): string => {
    if (measure === "loss") return `${value.toFixed(2)} nats`;
    const points = (100 * value).toFixed(0);
    return `${points} ${points === "1" ? "point" : "points"} of accuracy`;
  };
  const grouped = (value: number): string => value.toLocaleString("en-US");
  const parts: string[] = [];
  const breaks = known
    .filter(({ outcome }) => outcome === "breaks")
    .sort((a, b) => a.breaksAt! - b.breaksAt! || b.breaksBy! - a.breaksBy!);
  const undefinedPast = known.filter(({ outcome }) => outcome === "not-defined");
  const holds = known.filter(({ outcome }) => outcome === "holds").sort((a, b) => a.worst! - b.worst!);
  const first = breaks[0];
  if (first) parts.push(`${first.label} loses ${amount(first.breaksBy!)} by ${grouped(first.breaksAt!)}`);
  for (const { label, breaksAt } of breaks.slice(1)) parts.push(`${label} breaks by ${grouped(breaksAt!)}`);
  for (const { label, lastDefined } of undefinedPast)
    parts.push(`${label} is not defined past ${grouped(lastDefined!)}`);
  const steady = holds[0];
  const past = encodings.some(({ lastDefined }) => lastDefined !== null && lastDefined > trainedLength);
  if (steady && past) {
    // What rounds to nothing is called nothing.
    const worst = steady.worst! < roundsToNothing ? "loses nothing" : `stays within ${amount(steady.worst!)}`;
    parts.push(`${steady.label} ${worst} up to ${grouped(steady.lastDefined!)}`);
  }
  if (holds.length > 1 && past)
    parts.push(`${listed(holds.slice(1).map(({ label }) => label))} hold${holds.length === 2 ? "s" : ""} too`);
  if (parts.length === 0) return `Nothing longer than the trained length of ${grouped(trainedLength)} was tested.`;
  const best = verdict.bestAtLongest;
  const winner = encodings.find(({ encoding }) => encoding === best);
  const conclusion =
    winner && past
      ? ` Best at ${grouped(longest)}: ${winner.label}, ${measure === "loss" ? `${winner.atLongest!.toFixed(2)} nats` : `${(100 * winner.atLongest!).toFixed(0)} %`}.`
      : "";
  return `Past ${grouped(trainedLength)}, ${parts.join("; ")}.${conclusion}`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}
