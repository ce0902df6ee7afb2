// SPDX-License-Identifier: MIT
import { csvParse } from "d3-dsv";
import { describe, expect, it } from "vitest";
import { lengthChart } from "../shown.js";
import { contextOf, entry, run, shown } from "../testing.js";
import { fileName, resultCsv, resultJson } from "./files.js";
import { chartDrawing } from "../../engine/pictures.js";

const of = shown(
  {
    encodings: [{ type: "rope", label: 'a "b", c' }],
    atTest: [{ of: 0, window: 64 }],
    test: { lengths: [64, 128] },
    seeds: [1],
  },
  [
    run(0, 1, [entry(64, 1.23456789012), entry(128, null, { reason: "not defined, here" })], {
      atTest: [{ entry: 0, byLength: [entry(64, 1.5)] }],
    }),
  ],
);

describe("saved files", () => {
  it("are named after task, length, what is in them, and seeds", () => {
    expect(fileName(of, "numbers", "csv")).toBe("poslab-text-moby-dick-L64-numbers-seed1.csv");
    expect(fileName(shown({ task: { type: "needle" }, seeds: [1, 2, 3] }, []), "length", "svg")).toBe(
      "poslab-needle-L32-length-seeds1-3.svg",
    );
  });

  it("as CSV carry version, seeds and link in a header comment, and numbers that are not rounded", () => {
    const text = resultCsv(of, ['a "b", c'], "https://example.org/#/race");
    const [version, link, ...rest] = text.split("\n");
    expect(version).toBe("# PosLab 9.9 (simd), seeds 1, 2026-01-02T00:00:00.000Z");
    expect(link).toBe("# https://example.org/#/race");
    const rows = csvParse(rest.join("\n"));
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatchObject({
      encoding: 'a "b", c',
      change_at_test: "",
      length: "64",
      loss_at_end: "1.23456789012",
    });
    expect(rows[1]).toMatchObject({ loss: "", reason: "not defined, here" });
    expect(JSON.parse(rows[2]!.change_at_test!)).toEqual({ of: 0, window: 64 });
  });

  it("as JSON are a result object with a verdict", () => {
    const result = JSON.parse(resultJson(of)) as { experiment: unknown; runs: unknown[]; verdict: string };
    expect(result.experiment).toEqual(of.experiment);
    expect(result.runs).toHaveLength(1);
    expect(result.verdict).not.toBe("");
  });

  it("as SVG hold every curve and escape their names", () => {
    const svg = chartDrawing(
      lengthChart(contextOf(of, { switches: [{ of: of.experiment.encodings[0]!, window: 64 }] })),
      { subtitle: "sub < title", summary: "说明 <" },
      "dark",
    );
    expect(svg.match(/<g class="curve"/g)).toHaveLength(2);
    expect(svg).toContain("a &quot;b&quot;, c");
    expect(svg).toContain("sub &lt; title");
    expect(svg).toContain("说明 &lt;</desc>");
  });
});
