// SPDX-License-Identifier: MIT
// Where computed tensors go: a preview on the terminal, JSON, CSV, a heat map, or a safetensors file that is a conformance
// case, so that another implementation can be held against it (and `poslab check` against itself).

import { csvFormatRows } from "d3-dsv";
import { heatMapSvg } from "../js/heat-map-svg.js";
import { writeSafetensors, type TensorToWrite } from "../js/safetensors.js";
import type { Position, Tensor } from "../js/types.js";
import { encodingLabel } from "../js/experiment.js";
import { checkWritable, formatOf, writeWhole } from "./files.js";
import { previewTensor } from "./preview.js";

export const formats = ["json", "csv", "safetensors", "svg"] as const;

export interface Computed {
  op: "table" | "bias" | "rotate" | "attention";
  position: Position;
  /** further fields of the case: length, heads, mask, ... */ call: Record<string, unknown>;
  /** what went in, in the names of a case file */ inputs: [string, TensorToWrite][];
  /** which of them were made up, and from what seed */ random: { seed: number; tensors: string[] };
  /** by name: output, weights, ... */ results: Record<string, Tensor>;
  /** the one that is previewed, drawn and written as CSV */ shown: string;
  /** names of its axes */ axes: string[];
}

export interface OutputOptions {
  out?: string[];
  json?: boolean;
}

/** Refuses endings and places that cannot be written, before anything is computed. */
export function checkOutputs(options: OutputOptions): void {
  for (const path of options.out ?? []) {
    formatOf(path, formats, "--out");
    checkWritable(path, "--out");
  }
}

export function deliver(computed: Computed, options: OutputOptions): void {
  for (const path of options.out ?? []) writeWhole(path, encode(computed, formatOf(path, formats, "--out")));
  if (options.json) process.stdout.write(toJson(computed));
  else if (options.out?.length) {
    const shapes = Object.entries(computed.results).map(([name, { shape }]) => `${name} [${shape.join(", ")}]`);
    process.stdout.write(`${shapes.join(", ")} written to ${options.out.join(", ")}\n`);
  } else {
    const width = process.stdout.columns ?? 100;
    process.stdout.write(`${previewTensor(computed.shown, computed.results[computed.shown]!, computed.axes, width)}\n`);
  }
}

function encode(computed: Computed, format: (typeof formats)[number]): string | Uint8Array {
  switch (format) {
    case "json":
      return toJson(computed);
    case "csv":
      return toCsv(computed);
    case "safetensors":
      return toCase(computed);
    case "svg":
      return toSvg(computed);
  }
}

/** Shortest decimal that is the same float32: 0.1 and not 0.10000000149011612. */
export function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return Number(value.toPrecision(9));
}

/** `{ op, position, ..., <result>: { shape, data } }`; JSON has no -Infinity (a hidden score), so it is null. */
function toJson({ op, position, call, random, results }: Computed): string {
  const tensors = Object.entries(results).map(([name, { data, shape }]) => [
    name,
    { shape, data: Array.from(data, (value) => (Number.isFinite(value) ? shortest(value) : null)) },
  ]);
  return `${JSON.stringify({ op, position: plainPosition(position), ...call, ...(random.tensors.length ? { random } : {}), ...Object.fromEntries(tensors) })}\n`;
}

/** Index columns first (head, query), then one column an entry of the last axis. */
function toCsv({ results, shown, axes }: Computed): string {
  const { data, shape } = results[shown]!;
  const columns = shape.at(-1) ?? 0;
  const last = axes.at(-1)!;
  const rows: string[][] = [
    [...axes.slice(0, -1), ...Array.from({ length: columns }, (_, index) => `${last} ${index}`)],
  ];
  const count = columns === 0 ? 0 : data.length / columns;
  for (let row = 0; row < count; row += 1) {
    const index: string[] = [];
    for (let rest = row, axis = shape.length - 2; axis >= 0; rest = Math.floor(rest / shape[axis]!), axis -= 1)
      index.unshift(String(rest % shape[axis]!));
    rows.push([
      ...index,
      ...Array.from(data.subarray(row * columns, (row + 1) * columns), (value) =>
        String(Number.isFinite(value) ? shortest(value) : value),
      ),
    ]);
  }
  return `${csvFormatRows(rows)}\n`;
}

const caseResults = new Set(["table", "x", "bias", "output", "weights"]);

function toCase({ op, position, call, inputs, results }: Computed): Uint8Array {
  const description = {
    name: `${op}-${position.type}`,
    op,
    source: "computed by poslab",
    position: plainPosition(position),
    ...call,
    tolerance: { absolute: 1e-6, relative: 1e-5 },
  };
  // Only what the operation compares is an expectation; scores and log-sum-exp go along under their own names.
  const expected = Object.entries(results).map(([name, tensor]): [string, TensorToWrite] => [
    caseResults.has(name) ? `expected.${name}` : name,
    tensor,
  ]);
  return writeSafetensors([...inputs, ...expected], { case: JSON.stringify(description) });
}

/** The scheme without its tensors, which have their own place in a file. */
function plainPosition(position: Position): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(position).filter(([, value]) => !(typeof value === "object" && value !== null && "data" in value)),
  );
}

function toSvg({ op, position, results, shown, axes }: Computed): string {
  const { data, shape } = results[shown]!;
  const columns = shape.at(-1)!,
    rows = shape.at(-2) ?? 1;
  const size = rows * columns;
  const count = size === 0 ? 0 : data.length / size;
  return heatMapSvg({
    title: `${encodingLabel(plainPosition(position) as unknown as Position)}: ${op === "attention" ? shown : op}`,
    subtitle: `[${shape.join(", ")}]`,
    rowLabel: axes.at(-2) ?? "",
    columnLabel: axes.at(-1)!,
    panels: Array.from({ length: count }, (_, index) => ({
      title: shape.length > 2 ? `${axes[0]} ${index}` : "",
      rows,
      columns,
      data: data.subarray(index * size, (index + 1) * size),
    })),
  });
}
