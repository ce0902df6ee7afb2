// SPDX-License-Identifier: MIT
// `poslab perplexity`: the loss of a model on a text at several lengths, as trained and under overrides of its positions.

import { csvFormat } from "d3-dsv";
import { type Chart, chartSvg } from "../js/chart-svg.js";
import { groupedDigits } from "../js/svg-text.js";
import type { LossByPosition, Model, PositionOverride } from "../js/models.js";
import { curveStyles } from "../js/scheme-style.js";
import { borderless } from "./borderless.js";
import { exitStatus, isPosLabError, Refusal } from "./failure.js";
import { checkWritable, readBytes, writeWhole } from "./files.js";
import { type ModelOptions, openForCommand, textOf } from "./model-opening.js";
import { checkOverride, readOverride } from "./override-option.js";

export interface PerplexityOptions extends ModelOptions {
  text: string;
  lengths?: number[];
  override?: string[];
  stride?: number;
  windows: number;
  documents?: boolean;
  separator: string;
  json?: boolean;
  csv?: string;
  svg?: string;
}

interface Setting {
  label: string;
  override: PositionOverride | undefined;
}

/** One length under one setting; `loss` is null where it is not defined, with the reason. */
interface Entry {
  override: string;
  length: number;
  windows: number;
  tokens: number;
  loss: number | null;
  lossError: number | null;
  perplexity: number | null;
  reason?: string;
  byPosition: number[];
}

export async function perplexity(path: string, options: PerplexityOptions): Promise<number> {
  for (const name of ["csv", "svg"] as const)
    if (options[name] !== undefined) checkWritable(options[name], `--${name}`);
  const settings: Setting[] = [
    { label: "as trained", override: undefined },
    ...(options.override ?? []).map((text) => ({ label: text, override: readOverride(text) })),
  ];
  const text = textOf(readBytes(options.text), options.text);
  const model = await openForCommand(path, { ...options, quiet: options.quiet ?? options.json ?? false });
  for (const { override } of settings) checkOverride(model, override);
  const texts = tokensOf(model, text, options);
  const lengths = lengthsOf(model, texts, options);
  const entries: Entry[] = [];
  for (const { label, override } of settings)
    for (const length of lengths)
      entries.push(await measure(model, texts, { label, override }, length, Math.max(...lengths), options));
  if (options.csv !== undefined) writeWhole(options.csv, csv(entries));
  if (options.svg !== undefined) writeWhole(options.svg, chartSvg(chart(entries, model, options)));
  process.stdout.write(
    options.json ? `${JSON.stringify(result(entries, model, options))}\n` : table(entries, lengths, model),
  );
  model.dispose();
  return exitStatus.done;
}

/** Documents, each begun as the tokenizer begins a text; in one row unless they are measured one by one. */
function tokensOf(model: Model, text: string, { documents, separator }: PerplexityOptions): Int32Array[] {
  const { bos } = model.tokenizer;
  const each = text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => Int32Array.from([...(bos === null ? [] : [bos]), ...model.encode(part, { special: false })]));
  if (each.length === 0) throw new Refusal("option '--text': the text is empty");
  if (documents) return each;
  const all = new Int32Array(each.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const ids of each) {
    all.set(ids, at);
    at += ids.length;
  }
  return [all];
}

function lengthsOf(model: Model, texts: readonly Int32Array[], { lengths, documents }: PerplexityOptions): number[] {
  const longest = Math.max(...texts.map(({ length }) => length));
  const trained = model.info.trainedLength || 512;
  const wanted =
    lengths ?? [trained, 2 * trained, 4 * trained].filter((length, index) => index === 0 || length <= longest);
  const tooLong = documents ? undefined : wanted.find((length) => length > longest);
  if (tooLong !== undefined && lengths)
    throw new Refusal(`option '--lengths': ${tooLong} was given, and the text has ${longest} tokens`);
  return wanted.map((length) => (documents ? length : Math.min(length, longest)));
}

async function measure(
  model: Model,
  texts: readonly Int32Array[],
  { label, override }: Setting,
  length: number,
  longest: number,
  { stride, windows, documents }: PerplexityOptions,
): Promise<Entry> {
  try {
    if (documents) return await measureDocuments(model, texts, label, override, length);
    // Every length is measured on the same tokens: so many windows of the longest one.
    const ids = texts[0]!.subarray(0, windows * longest);
    const options = { window: length, ...(stride === undefined ? {} : { stride }), override };
    return entryOf(label, length, await model.lossByPosition(ids, options));
  } catch (error) {
    // A table that ends is an answer.
    if (!isPosLabError(error) || error.code !== "notDefined") throw error;
    return {
      override: label,
      length,
      windows: 0,
      tokens: 0,
      loss: null,
      lossError: null,
      perplexity: null,
      reason: error.message,
      byPosition: [],
    };
  }
}

function entryOf(override: string, length: number, measured: LossByPosition): Entry {
  const { windows, tokens, loss, lossError, perplexity: value, byPosition } = measured;
  return {
    override,
    length,
    windows,
    tokens,
    loss,
    lossError: Number.isFinite(lossError) ? lossError : null,
    perplexity: value,
    byPosition: Array.from(byPosition),
  };
}

/** Each document on its own, cut at the length; the mean is over tokens. */
async function measureDocuments(
  model: Model,
  texts: readonly Int32Array[],
  label: string,
  override: PositionOverride | undefined,
  length: number,
): Promise<Entry> {
  const sums: number[] = [];
  const counts: number[] = [];
  let documents = 0;
  for (const ids of texts.filter((text) => text.length > 1)) {
    const { byPosition } = await model.lossByPosition(ids, { window: length, windows: 1, override });
    documents += 1;
    byPosition.forEach((loss, place) => {
      sums[place] = (sums[place] ?? 0) + loss;
      counts[place] = (counts[place] ?? 0) + 1;
    });
  }
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  const loss = sums.reduce((sum, part) => sum + part, 0) / tokens;
  return {
    override: label,
    length,
    windows: documents,
    tokens,
    loss,
    lossError: null,
    perplexity: Math.exp(loss),
    byPosition: sums.map((sum, place) => sum / counts[place]!),
  };
}

function table(entries: readonly Entry[], lengths: readonly number[], model: Model): string {
  const labels = [...new Set(entries.map(({ override }) => override))];
  const { trainedLength } = model.info;
  const heads = [
    "positions",
    ...lengths.map((length) => (length === trainedLength ? `L = ${length}` : String(length))),
  ];
  const rows = labels.map((label) => [label, ...entries.filter(({ override }) => override === label).map(cell)]);
  const reasons = [...new Set(entries.flatMap(({ reason }) => (reason ? [`not defined: ${reason}`] : [])))];
  const [first] = entries;
  return [
    `loss in nats a token (perplexity), ${first?.tokens ?? 0} predictions, by length of the window:`,
    borderless(heads, rows, ["left", ...lengths.map(() => "right" as const)]),
    ...reasons,
    "",
  ].join("\n");
}

function cell({ loss, perplexity: value }: Entry): string {
  return loss === null || value === null ? "not defined" : `${loss.toFixed(4)} (${value.toFixed(value < 100 ? 2 : 0)})`;
}

const columns = ["override", "length", "position", "loss"] as const;

/** One row a place: loss by position; length and override beside it. */
function csv(entries: readonly Entry[]): string {
  const rows = entries.flatMap(({ override, length, byPosition }) =>
    byPosition.map((loss, place) => ({ override, length, position: place + 1, loss })),
  );
  return `${csvFormat(rows, [...columns])}\n`;
}

function result(entries: readonly Entry[], model: Model, { text }: PerplexityOptions): object {
  const { modelType, trainedLength, cautions } = model.info;
  return { model: modelType, trainedLength, text, cautions, results: entries };
}

/** Points of a curve: few enough to read. */
const mostPoints = 32;

/** Loss by position at the longest length, one curve an override. */
function chart(entries: readonly Entry[], model: Model, { text }: PerplexityOptions): Chart {
  const longest = Math.max(...entries.map(({ length }) => length));
  const shown = entries.filter(({ length }) => length === longest);
  const styles = curveStyles(shown.map(({ override }, index) => (index === 0 ? "rope" : override)));
  const { trainedLength, modelType } = model.info;
  return {
    title: `Loss by position, windows of ${longest} tokens`,
    subtitle: `${modelType} · ${text.split(/[/\\]/).at(-1)} · ${shown[0]?.windows ?? 0} windows`,
    xLabel: "position (tokens)",
    yLabel: "loss (nats a token)",
    curves: shown.map(({ override, byPosition, reason }, index) => ({
      label: override,
      ...styles[index]!,
      marker: "circle",
      points: binned(byPosition),
      ...(reason ? { note: "not defined" } : {}),
    })),
    ...(trainedLength > 0
      ? { verticalLine: { x: trainedLength, label: `trained length ${groupedDigits(trainedLength)}` } }
      : {}),
    formatY: (value) => String(Number(value.toFixed(3))),
  };
}

function binned(byPosition: readonly number[]): { x: number; y: number }[] {
  const width = Math.max(1, Math.ceil(byPosition.length / mostPoints));
  return Array.from({ length: Math.ceil(byPosition.length / width) }, (_, bin) => {
    const part = byPosition.slice(bin * width, (bin + 1) * width);
    return { x: bin * width + (part.length + 1) / 2, y: part.reduce((sum, loss) => sum + loss, 0) / part.length };
  });
}
