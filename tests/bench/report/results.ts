// SPDX-License-Identifier: MIT
// A run of the benchmark as data, and how its tables are looked up.

import type { Growth, Measurements, Table } from "../measure/place.js";
import { spreadOf, type Spread } from "../measure/statistics.js";
import type { Row } from "../measure/timing.js";

export interface Machine {
  processor: string;
  cores: number;
  gibibytes: number;
  system: string;
  date: string;
  commit: string;
}

export interface LibrarySize {
  name: string;
  /** bytes after gzip */ script: number;
  wasm: number;
  total: number;
}

export interface Results {
  machine: Machine;
  command: string;
  quick: boolean;
  /** Node and Chromium, as far as they were asked for */ places: Measurements[];
  /** Google Benchmark's JSON */ native: NativeReport | null;
  /** milliseconds by library */ startup: Record<string, number[]> | null;
  sizes: LibrarySize[] | null;
  /** places that could not be measured, and why */ failures: string[];
}

export const tablesOf = (results: Results): Table[] => results.places.flatMap(({ tables }) => tables);
export const failuresOf = (results: Results): string[] => [
  ...results.failures,
  ...results.places.flatMap(({ failures }) => failures),
];
export const growthOf = (results: Results): Growth[] => results.places.flatMap(({ growth }) => growth);

/** The table of this id in the first engine whose name starts so. */
export function findTable(results: Results, engine: string, id: string): Table | null {
  return tablesOf(results).find((table) => table.id === id && table.engine.startsWith(engine)) ?? null;
}

export const rowNamed = (table: Table | null, name: string): Row | null =>
  table?.rows.find((row) => row.name === name) ?? null;

/** The fastest peer of a table that gave right results. */
export function bestPeer(table: Table | null): Row | null {
  const timed = table?.rows.filter(({ kind, milliseconds }) => kind === "peer" && milliseconds !== null) ?? [];
  return timed.sort((a, b) => a.milliseconds!.median - b.milliseconds!.median)[0] ?? null;
}

/** How many times as long as this row the best peer of its table takes. */
export function ratioToBestPeer(table: Table | null, row: Row | null): number | null {
  const peer = bestPeer(table);
  return peer && row?.milliseconds ? peer.milliseconds!.median / row.milliseconds.median : null;
}

// ------------------------------------------------------------------------------------------------ native

interface NativeEntry {
  name: string;
  run_type: string;
  cpu_time: number;
  error_occurred?: boolean;
  error_message?: string;
  [counter: string]: unknown;
}
export interface NativeReport {
  context: Record<string, string>;
  benchmarks: NativeEntry[];
}
export interface NativeRow {
  name: string;
  milliseconds: Spread | null;
  rate: number | null;
  unit: string;
  percentOfLimit: number | null;
  failure?: string;
}

const kNativeUnits = ["GFLOP/s", "GB/s", "tokens/s"];

/** One row a benchmark: spread and medians over its repetitions. */
export function nativeRows({ benchmarks }: NativeReport): NativeRow[] {
  const byName = new Map<string, NativeEntry[]>();
  for (const entry of benchmarks) {
    if (entry.run_type !== "iteration") continue;
    const name = entry.name.replace(/\/repeats:\d+$/, "");
    byName.set(name, [...(byName.get(name) ?? []), entry]);
  }
  return [...byName].map(([name, entries]) => {
    const failed = entries.find((entry) => entry.error_occurred);
    const unit = kNativeUnits.find((known) => entries[0]?.[known] !== undefined) ?? "";
    if (failed)
      return { name, milliseconds: null, rate: null, unit, percentOfLimit: null, failure: failed.error_message ?? "" };
    const medianOf = (counter: string): number | null => {
      const numbers = entries.map((entry) => entry[counter]).filter((value) => typeof value === "number");
      return numbers.length > 0 ? spreadOf(numbers).median : null;
    };
    return {
      name,
      milliseconds: spreadOf(entries.map(({ cpu_time }) => cpu_time)),
      rate: medianOf(unit),
      unit,
      percentOfLimit: medianOf("percent_of_limit"),
    };
  });
}
