// SPDX-License-Identifier: MIT
// Timing things beside each other: every subject is run once and its result checked, then all take turns, round after
// round, so that whatever disturbs the machine disturbs them all. One that fails, or computes something else, is
// reported as such and not timed.

import { spreadOf, type Spread } from "./statistics.js";

export interface Subject {
  name: string;
  kind: "ours" | "peer" | "limit";
  /** what lies inside the timed call, in words */ contains: string;
  run: () => unknown;
  /** runs once and returns the largest absolute error against what is right */ check?: () => number | Promise<number>;
  /** largest error allowed, default 1e-5 (float32 sums of inputs in [-1, 1)) */ tolerance?: number;
  /** floating-point operations, bytes or tokens of a run, where they are not those of the table */ work?: number;
  /** which limit it is compared with */ variant?: "simd" | "relaxed";
  dispose?: () => void;
}

export interface Row {
  name: string;
  kind: Subject["kind"];
  contains: string;
  milliseconds: Spread | null;
  /** work a second in the unit of the table */ rate: number | null;
  percentOfLimit: number | null;
  /** how many times as long as the table's first row */ ratio: number | null;
  error: number | null;
  failure?: string;
}

export interface TimingOptions {
  /** at least 7 */ rounds: number;
  /** a sample repeats short runs until it is about this long */ sampleMilliseconds: number;
}

const kTolerance = 1e-5;

export async function timeAll(subjects: readonly Subject[], options: TimingOptions): Promise<Map<Subject, Timed>> {
  const results = new Map<Subject, Timed>();
  for (const subject of subjects) results.set(subject, await tryOut(subject, options));
  const timed = subjects.filter((subject) => results.get(subject)!.failure === undefined);
  for (let round = 0; round < options.rounds; round += 1) {
    for (let turn = 0; turn < timed.length; turn += 1) {
      // Each round starts with another one.
      const subject = timed[(turn + round) % timed.length]!;
      const result = results.get(subject)!;
      result.samples.push(await timeOnce(subject, result.repeats));
    }
  }
  for (const result of results.values()) if (result.samples.length > 0) result.milliseconds = spreadOf(result.samples);
  for (const subject of subjects) subject.dispose?.();
  return results;
}

export interface Timed {
  samples: number[];
  repeats: number;
  milliseconds: Spread | null;
  error: number | null;
  failure?: string;
}

/** The first runs: checked, compiled, and long enough to know how often to repeat. */
async function tryOut(subject: Subject, options: TimingOptions): Promise<Timed> {
  const result: Timed = { samples: [], repeats: 1, milliseconds: null, error: null };
  try {
    if (subject.check) {
      result.error = await subject.check();
      const tolerance = subject.tolerance ?? kTolerance;
      if (!(result.error <= tolerance))
        return { ...result, failure: `wrong: off by ${result.error.toExponential(1)} (allowed ${tolerance})` };
    }
    // Engines compile what runs often once more: the run that comes after as many as a sample takes is like the others.
    const started = performance.now();
    do await subject.run();
    while (performance.now() - started < options.sampleMilliseconds);
    const once = await timeOnce(subject, 1);
    result.repeats = Math.max(1, Math.ceil(options.sampleMilliseconds / Math.max(once, 1e-3)));
    return result;
  } catch (error) {
    return { ...result, failure: firstLine(error) };
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0]!.slice(0, 120);
}

async function timeOnce(subject: Subject, repeats: number): Promise<number> {
  const started = performance.now();
  for (let n = 0; n < repeats; n += 1) {
    const pending = subject.run();
    if (pending instanceof Promise) await pending;
  }
  return (performance.now() - started) / repeats;
}

/** What a run of most subjects of a table does, and in which unit its rate is told. */
export interface Work {
  amount: number;
  unit: "GFLOP/s" | "GB/s" | "tokens/s";
}
const kPerUnit: Record<Work["unit"], number> = { "GFLOP/s": 1e9, "GB/s": 1e9, "tokens/s": 1 };

/** Times the subjects and compares: rates of their work, percentages of the limits among them, ratios to the first. */
export async function timeRows(subjects: readonly Subject[], work: Work, options: TimingOptions): Promise<Row[]> {
  const results = await timeAll(subjects, options);
  const rateOf = (subject: Subject): number | null => {
    const milliseconds = results.get(subject)!.milliseconds;
    return milliseconds && (1000 * (subject.work ?? work.amount)) / milliseconds.median / kPerUnit[work.unit];
  };
  const limitOf = (variant: string | undefined): number | null => {
    const limit = subjects.find((subject) => subject.kind === "limit" && subject.variant === variant);
    return variant !== undefined && limit ? rateOf(limit) : null;
  };
  const base = results.get(subjects[0]!)!.milliseconds?.median ?? null;
  return subjects.map((subject) => {
    const { milliseconds, error, failure } = results.get(subject)!;
    const rate = rateOf(subject);
    const limit = limitOf(subject.variant);
    const comparable = milliseconds !== null && base !== null && subject.kind !== "limit";
    return {
      name: subject.name,
      kind: subject.kind,
      contains: subject.contains,
      milliseconds,
      rate,
      percentOfLimit: rate !== null && limit !== null ? (100 * rate) / limit : null,
      ratio: comparable ? milliseconds.median / base : null,
      error,
      ...(failure === undefined ? {} : { failure }),
    };
  });
}
