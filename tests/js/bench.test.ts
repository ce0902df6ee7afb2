// SPDX-License-Identifier: MIT
// The parts of the benchmark that are arithmetic and text: statistics, the interleaving, options, tables, summary. No
// timing is asserted.

import { describe, expect, it } from "vitest";
import { readArguments } from "../bench/arguments.mjs";
import type { Table } from "../bench/measure/place.ts";
import { fitExponent, spreadOf } from "../bench/measure/statistics.ts";
import { timeRows, type Row, type Subject } from "../bench/measure/timing.ts";
import { errorAtSampledRows, loops } from "../bench/peers/loops.ts";
import { largestError, swapped, transposed, type AttentionProblem } from "../bench/peers/peer.ts";
import { barsOf } from "../bench/report/bars.ts";
import { markdownOf, markdownTable, short } from "../bench/report/markdown.ts";
import { nativeRows, type Results } from "../bench/report/results.ts";
import { summaryOf } from "../bench/report/summary.ts";

describe("statistics", () => {
  it("gives the median between the middle samples, and the quartiles", () => {
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, lower: 1.75, upper: 3.25, samples: 4 });
    expect(spreadOf([7])).toEqual({ median: 7, lower: 7, upper: 7, samples: 1 });
    expect(() => spreadOf([])).toThrow(RangeError);
  });

  it("finds the exponent of a power law, whatever its factor", () => {
    const points = [128, 256, 1024, 4096].map((x) => ({ x, y: 3e-5 * x ** 1.7 }));
    expect(fitExponent(points)).toBeCloseTo(1.7, 12);
    expect(fitExponent(points.map(({ x }) => ({ x, y: 5 })))).toBeCloseTo(0, 12);
  });

  it("has no exponent for one size, or for something that is zero", () => {
    expect(fitExponent([{ x: 2, y: 3 }])).toBeNull();
    expect(
      fitExponent([
        { x: 1, y: 0 },
        { x: 2, y: 1 },
      ]),
    ).toBeNull();
  });
});

describe("timing", () => {
  const timing = { rounds: 7, sampleMilliseconds: 0 };

  it("takes turns and starts each round with another subject", async () => {
    const order: string[] = [];
    const subject = (name: string): Subject => ({ name, kind: "ours", contains: "", run: () => order.push(name) });
    await timeRows([subject("a"), subject("b")], { amount: 1, unit: "GFLOP/s" }, timing);
    // Two runs each to warm up, then the rounds.
    expect(order.join("")).toBe("aabb" + "abbaabbaabbaab");
  });

  it("does not time what computes something else, and says so", async () => {
    let runs = 0;
    const wrong: Subject = { name: "wrong", kind: "peer", contains: "", run: () => (runs += 1), check: () => 0.5 };
    const nan: Subject = { ...wrong, name: "NaN", check: () => NaN };
    const broken: Subject = {
      ...wrong,
      name: "broken",
      check: () => {
        throw new Error("no kernel\nat line 1");
      },
    };
    const rows = await timeRows([wrong, nan, broken], { amount: 1, unit: "GFLOP/s" }, timing);
    expect(rows.map(({ failure }) => failure)).toEqual([
      "wrong: off by 5.0e-1 (allowed 0.00001)",
      "wrong: off by NaN (allowed 0.00001)",
      "no kernel",
    ]);
    expect(
      rows.every(({ milliseconds, rate, ratio }) => milliseconds === null && rate === null && ratio === null),
    ).toBe(true);
    expect(runs).toBe(0);
  });

  it("compares with the first subject and with the limit of the same build", async () => {
    const wait = (name: string, kind: Subject["kind"], work: number): Subject => ({
      name,
      kind,
      contains: "",
      run: () => {
        const until = performance.now() + 1;
        while (performance.now() < until);
      },
      work,
      variant: "simd",
    });
    const rows = await timeRows(
      [wait("ours", "ours", 50), wait("limit", "limit", 100)],
      { amount: 0, unit: "GB/s" },
      timing,
    );
    expect(rows[0]!.ratio).toBe(1);
    expect(rows[1]!.ratio).toBeNull();
    const { rate, percentOfLimit } = rows[0]!;
    expect(percentOfLimit).toBeCloseTo((100 * rate!) / rows[1]!.rate!, 9);
  });
});

describe("peers", () => {
  it("moves heads between rows and back, and transposes", () => {
    const data = Float32Array.from({ length: 24 }, (_, n) => n);
    expect(swapped(swapped(data, 2, 3, 4), 3, 2, 4)).toEqual(data);
    expect([...swapped(data, 2, 3, 4).subarray(4, 8)]).toEqual([12, 13, 14, 15]);
    expect([...transposed(data, 2, 3, 4).subarray(0, 4)]).toEqual([0, 4, 8, 1]);
  });

  it("sees every difference, NaN and missing numbers included", () => {
    expect(largestError([1, 2], [1, 2.5])).toBe(0.5);
    expect(largestError([1, NaN, 1], [1, 2, 3])).toBe(Infinity);
    expect(largestError([1], [1, 2])).toBe(Infinity);
  });

  it("computes attention in plain loops, and checks it, as worked out by hand", async () => {
    // Position 1 is a quarter turn, (a, b) to (-b, a): its query becomes (-1, 0), its key (0, 1).
    const logits = [-1 / Math.SQRT2 + 0.5, 0];
    const first = Math.exp(logits[0]!) / (Math.exp(logits[0]!) + 1);
    const expected = Float32Array.of(3, 5, 3 * first + 7 * (1 - first), 5 * first + 11 * (1 - first));
    const problem: AttentionProblem = {
      heads: 1,
      length: 2,
      dim: 2,
      causal: true,
      query: Float32Array.of(1, 0, 0, 1),
      key: Float32Array.of(1, 0, 1, 0),
      value: Float32Array.of(3, 5, 7, 11),
      bias: Float32Array.of(9, 9, 0.5, 0),
      rotation: { cosines: Float32Array.of(1, 0), sines: Float32Array.of(0, 1) },
      expected,
    };
    const [subject] = await loops.attention!(problem);
    expect(await subject!.check!()).toBeLessThan(1e-6);
    expect(errorAtSampledRows(problem, expected)).toBeLessThan(1e-6);
    expect(errorAtSampledRows({ ...problem, causal: false }, expected)).toBeGreaterThan(0.1);
  });
});

describe("options", () => {
  it("are everything by default", () => {
    expect(readArguments([])).toEqual({
      help: false,
      quick: false,
      topics: ["attention", "position", "training", "memory", "startup", "size"],
      places: ["node", "chromium", "native"],
      markdown: null,
      svg: null,
      out: null,
    });
  });

  it("take names with commas or one by one, in their own order", () => {
    const { topics, places, quick, out } = readArguments(
      "--quick --only training,attention --only size --in native --out x.json".split(" "),
    );
    expect({ topics, places, quick, out }).toEqual({
      topics: ["attention", "training", "size"],
      places: ["native"],
      quick: true,
      out: "x.json",
    });
  });

  it("refuse what they do not know", () => {
    expect(() => readArguments(["--only", "speed"])).toThrow(
      '--only knows no "speed"; it is one of attention, position, training, memory, startup, size',
    );
    expect(() => readArguments(["--fast"])).toThrow("--fast");
    expect(() => readArguments(["--out"])).toThrow("--out");
  });
});

const row = (name: string, kind: Row["kind"], milliseconds: number, more: Partial<Row> = {}): Row => ({
  name,
  kind,
  contains: "what",
  milliseconds: { median: milliseconds, lower: milliseconds, upper: milliseconds, samples: 7 },
  rate: 100 / milliseconds,
  percentOfLimit: null,
  ratio: null,
  error: null,
  ...more,
});
const table = (id: string, rows: Row[], unit: Table["unit"] = "GFLOP/s"): Table => ({
  id,
  topic: "attention",
  engine: "Node 20",
  title: `Table ${id}`,
  unit,
  rows,
});
const results: Results = {
  machine: { processor: "P", cores: 2, gibibytes: 8, system: "S", date: "2026-01-01 00:00", commit: "abc" },
  command: "npm run bench",
  quick: false,
  places: [
    {
      tables: [
        table("attention/causal/1024", [
          row("PosLab SIMD", "ours", 2, { percentOfLimit: 80 }),
          row("slow | peer", "peer", 20),
          row("peer", "peer", 5),
          { ...row("wrong", "peer", 1), milliseconds: null, rate: null, failure: "wrong: off" },
          row("limit, SIMD", "limit", 1),
        ]),
        table("scheme/rope", [row("PosLab SIMD", "ours", 4), row("PosLab SIMD, without it", "ours", 2)]),
        table("backward", [row("PosLab SIMD, rope", "ours", 8)]),
        table("training", [row("PosLab SIMD, none", "ours", 10), row("jax-js", "peer", 25)], "tokens/s"),
      ],
      failures: ["T5 bias matrix, Node 20: no memory"],
      growth: [
        {
          engine: "Node 20",
          scheme: "rope",
          direction: "forward",
          points: [{ length: 512, milliseconds: 3, bytes: 2 ** 20, given: 2 ** 19 }],
          timeExponent: 2,
          memoryExponent: 1.01,
          beyond: 2 ** 19,
          allowed: 2 ** 21,
        },
      ],
    },
  ],
  native: null,
  startup: { PosLab: [30, 40, 50] },
  sizes: [{ name: "PosLab", script: 1000, wasm: 2000, total: 3000 }],
  failures: ["Chromium: none here"],
};

describe("report", () => {
  it("sums up the goals' numbers, with the best of the peers that were right", () => {
    const summary = summaryOf(results);
    expect(summary.attentionCausal).toEqual({ gflops: 50, ratioToBestPeer: 2.5, percentOfLimit: 80 });
    expect(summary.attentionFull).toBeNull();
    expect(summary.training).toEqual({ tokensPerSecond: 10, ratioToBestPeer: 2.5 });
    expect(summary["rope"]).toMatchObject({ gflops: 25, ofPlain: 0.5, backwardGflops: 12.5, memoryExponent: 1.01 });
    expect(summary).toMatchObject({ startup: 40, size: 3000, chromium: { training: null } });
  });

  it("writes tables in which no cell ends early", () => {
    expect(markdownTable(["a", "b"], [["1|2", "3"]])).toBe("| a | b |\n| --- | --: |\n| 1\\|2 | 3 |");
    const markdown = markdownOf(results);
    const lines = markdown.split("\n");
    expect(lines).toContain("| wrong: wrong: off |  |  |  | what |");
    expect(lines.find((line) => line.startsWith("| slow"))).toContain("slow \\| peer | 20 (20–20) | 5 |");
    expect(markdown).toContain("## Start-up in Node");
    expect(lines).toEqual(expect.arrayContaining(["- Chromium: none here", "- T5 bias matrix, Node 20: no memory"]));
    expect(markdown).not.toMatch(/undefined|NaN|null/);
  });

  it("draws the bars that there are", () => {
    const svg = barsOf(results);
    expect(svg).toContain("Table attention/causal/1024, Node 20 (GFLOP/s)");
    expect(svg).toContain("limit 100");
    expect(svg).not.toMatch(/undefined|NaN|wrong/);
    expect(barsOf({ ...results, places: [] })).toContain("No table of this run");
  });

  it("rounds to three digits that mean something", () => {
    expect([0.001234, 12.345, 123456.7, null].map(short)).toEqual(["0.00123", "12.3", "123,457", ""]);
  });

  it("takes medians of Google Benchmark's repetitions and tells failures", () => {
    const entry = { name: "a/repeats:3", run_type: "iteration", "GFLOP/s": 10, percent_of_limit: 50 };
    const rows = nativeRows({
      context: {},
      benchmarks: [
        ...[3, 1, 2].map((cpu_time) => ({ ...entry, cpu_time })),
        { ...entry, run_type: "aggregate", cpu_time: 99 },
        { name: "b", run_type: "iteration", cpu_time: 0, error_occurred: true, error_message: "no memory" },
      ],
    });
    expect(rows).toMatchObject([
      { name: "a", milliseconds: { median: 2 }, rate: 10, unit: "GFLOP/s", percentOfLimit: 50 },
      { name: "b", milliseconds: null, failure: "no memory" },
    ]);
  });
});
