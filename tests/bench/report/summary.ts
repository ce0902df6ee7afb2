// SPDX-License-Identifier: MIT
// The numbers that the project's goals are about, for scripts: attention at L = 1024 and the training step, in Node with
// the SIMD build, and one entry a scheme; the same of the relaxed build and of Chromium beside them.

import { spreadOf } from "../measure/statistics.js";
import { findTable, growthOf, ratioToBestPeer, rowNamed, tablesOf, type Results } from "./results.js";

export interface AttentionEntry {
  gflops: number;
  /** how many times as long the fastest peer takes */ ratioToBestPeer: number | null;
  percentOfLimit: number | null;
}
export interface TrainingEntry {
  tokensPerSecond: number;
  ratioToBestPeer: number | null;
}
/** Causal, L = 1024; peers leave out what they cannot do of the scheme. */
export interface SchemeEntry extends AttentionEntry {
  /** GFLOP/s of attention without it, in the same table */ ofPlain: number | null;
  backwardGflops: number | null;
  backwardPercentOfLimit: number | null;
  tokensPerSecond: number | null;
  evaluationTokensPerSecond: number | null;
  memoryExponent: number | null;
  backwardMemoryExponent: number | null;
}
export interface EngineSummary {
  attentionFull: AttentionEntry | null;
  attentionCausal: AttentionEntry | null;
  training: TrainingEntry | null;
}
export type Summary = EngineSummary & {
  relaxed: EngineSummary;
  chromium: EngineSummary;
  chromiumRelaxed: EngineSummary;
  /** milliseconds from import to first result */ startup: number | null;
  /** bytes after gzip */ size: number | null;
  [scheme: string]: unknown;
};

function attentionEntry(results: Results, engine: string, id: string, name: string): AttentionEntry | null {
  const table = findTable(results, engine, id);
  const row = rowNamed(table, name);
  if (!row || row.rate === null) return null;
  return {
    gflops: row.rate,
    ratioToBestPeer: ratioToBestPeer(table, row),
    percentOfLimit: row.percentOfLimit,
  };
}

function trainingEntry(results: Results, engine: string, name: string): TrainingEntry | null {
  const table = findTable(results, engine, "training");
  const row = rowNamed(table, `${name}, none`);
  if (!row || row.rate === null) return null;
  return { tokensPerSecond: row.rate, ratioToBestPeer: ratioToBestPeer(table, row) };
}

function engineSummary(results: Results, engine: string, name: string): EngineSummary {
  return {
    attentionFull: attentionEntry(results, engine, "attention/full/1024", name),
    attentionCausal: attentionEntry(results, engine, "attention/causal/1024", name),
    training: trainingEntry(results, engine, name),
  };
}

/** Schemes that were measured, in the order of the registry. */
export function schemesOf(results: Results): string[] {
  const named = tablesOf(results).flatMap(({ id }) => (id.startsWith("scheme/") ? [id.slice("scheme/".length)] : []));
  return [...new Set([...named, ...growthOf(results).map(({ scheme }) => scheme)])].filter((type) => type !== "none");
}

/** One scheme in Node, with the build whose rows are called `name`. */
export function schemeEntry(results: Results, scheme: string, name = "PosLab SIMD"): SchemeEntry | null {
  const table = findTable(results, "Node", `scheme/${scheme}`);
  const row = rowNamed(table, name);
  const plain = rowNamed(table, `${name}, without it`)?.rate ?? null;
  const backward = rowNamed(findTable(results, "Node", "backward"), `${name}, ${scheme}`);
  const rateIn = (id: string): number | null =>
    rowNamed(findTable(results, "Node", id), `${name}, ${scheme}`)?.rate ?? null;
  const growth = (direction: string): number | null =>
    growthOf(results).find((entry) => entry.scheme === scheme && entry.direction === direction)?.memoryExponent ?? null;
  if (!row || row.rate === null) return null;
  return {
    gflops: row.rate,
    ratioToBestPeer: ratioToBestPeer(table, row),
    percentOfLimit: row.percentOfLimit,
    ofPlain: plain === null ? null : row.rate / plain,
    backwardGflops: backward?.rate ?? null,
    backwardPercentOfLimit: backward?.percentOfLimit ?? null,
    tokensPerSecond: rateIn("training"),
    evaluationTokensPerSecond: rateIn("evaluation"),
    memoryExponent: growth("forward"),
    backwardMemoryExponent: growth("backward"),
  };
}

export function summaryOf(results: Results): Summary {
  const startup = results.startup?.["PosLab"];
  return {
    ...engineSummary(results, "Node", "PosLab SIMD"),
    ...Object.fromEntries(schemesOf(results).map((scheme) => [scheme, schemeEntry(results, scheme)])),
    relaxed: engineSummary(results, "Node", "PosLab relaxed SIMD"),
    chromium: engineSummary(results, "Chromium", "PosLab SIMD"),
    chromiumRelaxed: engineSummary(results, "Chromium", "PosLab relaxed SIMD"),
    startup: startup ? spreadOf(startup).median : null,
    size: results.sizes?.find(({ name }) => name === "PosLab")?.total ?? null,
  };
}
