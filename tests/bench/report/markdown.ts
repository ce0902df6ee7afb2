// SPDX-License-Identifier: MIT
// The tables of a run as Markdown.

import type { Growth, Table } from "../measure/place.js";
import { spreadOf, type Spread } from "../measure/statistics.js";
import type { Row } from "../measure/timing.js";
import {
  bestPeer,
  failuresOf,
  findTable,
  growthOf,
  nativeRows,
  ratioToBestPeer,
  rowNamed,
  tablesOf,
  type NativeReport,
  type Results,
} from "./results.js";
import { schemeEntry, schemesOf } from "./summary.js";

const kMebibyte = 2 ** 20;

/** Three digits that mean something; whole numbers from a thousand on. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

const percent = (value: number | null | undefined): string =>
  value === null || value === undefined ? "" : `${Math.round(value)} %`;
const times = (value: number | null): string => (value === null ? "" : `${short(value)}×`);
const spread = (value: Spread | null): string =>
  value ? `${short(value.median)} (${short(value.lower)}–${short(value.upper)})` : "";

export function markdownTable(header: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map((_, index) => (index === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}

function rowCells({ name, milliseconds, rate, percentOfLimit, ratio, error, contains, failure }: Row): string[] {
  const label = failure === undefined ? name : `${name}: ${failure}`;
  const off = error === null ? "" : error === 0 ? "0" : error.toExponential(0);
  return [label, spread(milliseconds), short(rate), percent(percentOfLimit), times(ratio), off, contains];
}

function tableSection(table: Table): string {
  const first = table.rows[0]?.name ?? "";
  const header = ["", "ms (quartiles)", table.unit, "of the limit", `time, ${first} = 1`, "largest error", "timed"];
  // No subject of a table has a limit that tokens or errors could be compared with: leave such columns out.
  const cells = table.rows.map(rowCells);
  const kept = header.map((_, column) => column === 0 || cells.some((row) => row[column] !== ""));
  const keep = (row: string[]): string[] => row.filter((_, column) => kept[column]);
  return `### ${table.title}, ${table.engine}\n\n${markdownTable(keep(header), cells.map(keep))}`;
}

// ------------------------------------------------------------------------------------------------ overview

const kBuilds = ["PosLab SIMD", "PosLab relaxed SIMD"];

/** One line each for what the goals are about: our rate, percentage and ratio in each engine and build. */
function overview(results: Results): string {
  const works: [string, string, string][] = [
    ["attention, full, L = 1024", "attention/full/1024", ""],
    ["attention, causal, L = 1024", "attention/causal/1024", ""],
    ["attention, full, L = 2048", "attention/full/2048", ""],
    ["attention, causal, L = 2048", "attention/causal/2048", ""],
    ["RoPE on q and k [2048, 8, 64]", "position/rotation", ""],
    ["sinusoidal table 8192 × 512", "position/table", ""],
    ["T5 bias matrix [8, 1024, 1024]", "position/bias", ""],
    ["one token, cache of 4096", "decode", ""],
    ["training step", "training", ", none"],
    ["evaluation", "evaluation", ", none"],
  ];
  const rows: string[][] = [];
  for (const [what, id, suffix] of works) {
    for (const engine of ["Node", "Chromium"]) {
      const table = findTable(results, engine, id);
      if (!table) continue;
      const peer = bestPeer(table);
      const builds = kBuilds.map((name) => rowNamed(table, name + suffix));
      const cells = builds.flatMap((row) => [
        row?.milliseconds ? `${short(row.milliseconds.median)} ms, ${short(row.rate)} ${table.unit}` : "",
        percent(row?.percentOfLimit),
        times(ratioToBestPeer(table, row)),
      ]);
      rows.push([what, engine, ...cells, peer ? `${peer.name} (${short(peer.milliseconds!.median)} ms)` : ""]);
    }
  }
  const header = [
    "",
    "",
    "SIMD",
    "of the limit",
    "best peer",
    "relaxed SIMD",
    "of the limit",
    "best peer",
    "best peer is",
  ];
  return rows.length > 0 ? `## Overview\n\n${markdownTable(header, rows)}` : "";
}

function schemesSection(results: Results): string {
  const schemes = schemesOf(results).filter((scheme) => schemeEntry(results, scheme) !== null);
  if (schemes.length === 0) return "";
  const rows = schemes.map((scheme) => {
    const cells = kBuilds.flatMap((name) => {
      const entry = schemeEntry(results, scheme, name);
      if (!entry) return ["", "", "", ""];
      const share = entry.backwardGflops === null ? null : entry.backwardGflops / entry.gflops;
      return [
        `${short(entry.gflops)} (${percent(entry.percentOfLimit)})`,
        short(entry.ofPlain),
        entry.backwardGflops === null
          ? ""
          : `${short(entry.backwardGflops)} (${percent(entry.backwardPercentOfLimit)})`,
        short(share),
      ];
    });
    const table = findTable(results, "Node", `scheme/${scheme}`);
    const peer = bestPeer(table);
    return [scheme, ...cells, times(ratioToBestPeer(table, rowNamed(table, kBuilds[0]!))), peer?.name ?? ""];
  });
  const ours = ["forward", "of plain", "backward", "of forward"];
  return [
    "## Every scheme: causal attention, L = 1024, 8 heads of 64, Node",
    "",
    "GFLOP/s (and percentage of the limit) of the SIMD build, then of the relaxed one; peers get a bias matrix or a table",
    "of angles, and what cannot be said that way they leave out.",
    "",
    markdownTable(["", ...ours, ...ours, "best peer", "best peer is"], rows),
  ].join("\n");
}

// ------------------------------------------------------------------------------------------------ cost against length

function growthSection(growth: Growth[]): string {
  if (growth.length === 0) return "";
  const lengths = [...new Set(growth.flatMap(({ points }) => points.map(({ length }) => length)))];
  const label = ({ scheme, direction, failure }: Growth): string =>
    `${scheme}, ${direction}${failure === undefined ? "" : `: ${failure}`}`;
  const at = (points: Growth["points"], length: number) => points.find((point) => point.length === length);
  const timeRows = growth.map((entry) => [
    label(entry),
    ...lengths.map((length) => short(at(entry.points, length)?.milliseconds)),
    entry.timeExponent === null ? "" : entry.timeExponent.toFixed(2),
  ]);
  const mebibytes = (bytes: number | undefined): string => (bytes === undefined ? "" : short(bytes / kMebibyte));
  const memoryRows = growth.map((entry) => [
    label(entry),
    ...lengths.map((length) => mebibytes(at(entry.points, length)?.bytes)),
    entry.memoryExponent === null ? "" : entry.memoryExponent.toFixed(2),
    mebibytes(entry.beyond),
    mebibytes(entry.allowed),
  ]);
  const header = ["", ...lengths.map((length) => `L = ${length}`)];
  return [
    `## Cost against length: causal, 8 heads of 64, SIMD build, ${growth[0]!.engine}`,
    "",
    "Milliseconds, and the exponent fitted from L = 512 on (forward is 4 H L² D / 2 operations, backward 10 H L² D / 2):",
    "",
    markdownTable([...header, "exponent"], timeRows),
    "",
    "Peak of the module's memory beyond the empty module, MiB, each in a module of its own that grows page by page;",
    "“beyond” is what is left at the greatest length without inputs, outputs and gradients, “goal” what it may be:",
    "",
    markdownTable([...header, "exponent", "beyond", "goal"], memoryRows),
  ].join("\n");
}

// ------------------------------------------------------------------------------------------------ the rest

function nativeSection(native: NativeReport): string {
  const {
    limit_gflops: flops,
    limit_read_gbytes: read,
    limit_copy_gbytes: copy,
    limit_fill_gbytes: fill,
  } = native.context;
  const rows = nativeRows(native).map(({ name, milliseconds, rate, unit, percentOfLimit, failure }) => [
    failure === undefined ? name : `${name}: ${failure}`,
    spread(milliseconds),
    rate === null ? "" : `${short(rate)} ${unit}`,
    percent(percentOfLimit),
  ]);
  return [
    "## Natively",
    "",
    `The same kernels through SIMDe, 128 bits wide, no fused multiply-add; processor time. Limits of the same run:`,
    `${short(Number(flops))} GFLOP/s in registers; 64 MiB read at ${short(Number(read))}, copied at ${short(Number(copy))},`,
    `filled at ${short(Number(fill))} GB/s. Kernels bound by memory are compared with a loop over as many bytes as they touch.`,
    "",
    markdownTable(["", "ms (quartiles)", "rate", "of the limit"], rows),
  ].join("\n");
}

function startupSection(startup: Record<string, number[]>): string {
  const rows = Object.entries(startup).map(([name, samples]) => [name, spread(spreadOf(samples))]);
  return [
    "## Start-up in Node",
    "",
    "From the import to the first attention (8 heads of 64, L = 128), each in a fresh process; the start of Node is left out.",
    "",
    markdownTable(["", "ms (quartiles)"], rows),
  ].join("\n");
}

function sizeSection(sizes: NonNullable<Results["sizes"]>): string {
  const kilobytes = (bytes: number): string => (bytes === 0 ? "" : `${short(bytes / 1000)} kB`);
  const rows = sizes.map(({ name, script, wasm, total }) => [
    name,
    kilobytes(script),
    kilobytes(wasm),
    kilobytes(total),
  ]);
  return [
    "## Size",
    "",
    "What a page loads that computes attention, bundled and minified by Vite, after gzip.",
    "",
    markdownTable(["", "script", "WebAssembly", "together"], rows),
  ].join("\n");
}

function failuresSection(failures: string[]): string {
  if (failures.length === 0) return "";
  return ["## Not measured", "", ...failures.map((failure) => `- ${failure}`)].join("\n");
}

function heading({ machine, command, quick }: Results): string {
  const { processor, cores, gibibytes, system, date, commit } = machine;
  return [
    `# PosLab beside its peers${quick ? " (quick run)" : ""}`,
    "",
    `${date} UTC, ${processor}, ${cores} cores, ${gibibytes} GiB, ${system}, commit ${commit}: \`${command}\`.`,
    "One thread each, all in one run, taking turns; medians with quartiles. “Of the limit” is the share of what plain",
    "multiply-adds in registers, or plain loops over the same bytes, reached in the same table. Ratios say how many times as",
    "long the peer takes; the last column of a table says what was timed.",
  ].join("\n");
}

export function markdownOf(results: Results): string {
  const sections = [
    heading(results),
    failuresSection(failuresOf(results)),
    overview(results),
    schemesSection(results),
    growthSection(growthOf(results)),
    results.native ? nativeSection(results.native) : "",
    results.startup ? startupSection(results.startup) : "",
    results.sizes ? sizeSection(results.sizes) : "",
    tablesOf(results).length > 0 ? "## All tables" : "",
    ...tablesOf(results).map(tableSection),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}
