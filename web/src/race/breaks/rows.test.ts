// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { run, shown } from "../testing.js";
import {
  colourRange,
  fittingTicks,
  mapTable,
  placeOf,
  positionAt,
  reachOf,
  rowsByEncoding,
  rowsByLength,
} from "./rows.js";

describe("the map", () => {
  const of = shown({ encodings: [{ type: "rope" }, { type: "alibi" }] }, [
    run(0, 1, []),
    run(0, 2, [], { byPosition: { binWidth: 4, loss: [5, 2, null, 3] } }),
  ]);

  it("has a row for each encoding that was run, averaged over seeds bin by bin", () => {
    expect(rowsByEncoding(of, ["RoPE", "ALiBi"], new Set())).toEqual([
      { label: "RoPE", binWidth: 4, values: [4, 2, null, 2] },
    ]);
    expect(rowsByEncoding(of, ["RoPE", "ALiBi"], new Set([0]))).toEqual([]);
  });

  it("has a row for each tested length of one encoding", () => {
    const rows = rowsByLength(
      [
        { length: 8, binWidth: 4, loss: [1, 2] },
        { length: 16, binWidth: 4, loss: [1, 2, 3, 4] },
      ],
      String,
    );
    expect(rows.map((row) => row.label)).toEqual(["8", "16"]);
    expect(reachOf(rows)).toBe(16);
    expect(mapTable(rows, [4, 8, 16], String, String)).toEqual({
      columns: ["4", "8", "16"],
      rows: [
        { label: "8", cells: ["2", "2", "–"] },
        { label: "16", cells: ["2", "3", "4"] },
      ],
    });
  });

  it("has a colour range that one outlier does not stretch", () => {
    const values = [...Array.from({ length: 99 }, (_, index) => 1 + index / 99), 1000];
    expect(colourRange([{ label: "", binWidth: 1, values }])[1]).toBeLessThan(3);
    expect(colourRange([])).toEqual([0, 1]);
    expect(colourRange([{ label: "", binWidth: 1, values: [2, 2] }])).toEqual([1.5, 2.5]);
  });

  it("finds the position under a place of its doubling axis, and back", () => {
    expect(positionAt(0.5, 4, 1024)).toBeCloseTo(64);
    expect(placeOf(positionAt(0.3, 4, 1024), 4, 1024)).toBeCloseTo(0.3);
  });
});

describe("the labels of its axis", () => {
  const ticks = (width: number) =>
    [4, 8, 16, 32, 64, 128, 256, 512, 1024].map((tick) => ({
      tick,
      left: placeOf(tick, 4, 1024) * width,
      text: tick.toLocaleString("en"),
    }));
  const shownAt = (width: number) => fittingTicks(ticks(width), 64).map(({ tick }) => tick);

  it("are all there where there is room", () => {
    expect(shownAt(700)).toEqual([4, 8, 16, 32, 64, 128, 256, 512, 1024]);
  });

  it("never run into each other; the ends and the trained length come first", () => {
    expect(shownAt(300)).toEqual([4, 8, 16, 32, 64, 128, 256, 1024]);
    expect(shownAt(210)).toEqual([4, 16, 64, 1024]);
    expect(shownAt(100)).toEqual([4, 1024]);
    expect(fittingTicks([], 64)).toEqual([]);
  });
});
