// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { formatCount } from "../language/format.js";
import type { LineChartData } from "./data.js";
import { rightRoom } from "./plot.js";

const chart = (steps: number, label: string): LineChartData => ({
  title: "t",
  xLabel: "x",
  yLabel: "y",
  xScale: "linear",
  curves: [{ id: "a", label, colour: "#000000", dash: [], atTest: false, points: [{ x: steps, y: 1 }] }],
  horizontals: [],
  formatX: (value) => formatCount("en", value),
  formatY: String,
  dots: false,
});

describe("the right side of a chart", () => {
  it("has room for half of the last tick's label where it has none for names", () => {
    expect(rightRoom(chart(100, "RoPE"), 300)).toBe(14);
    expect(rightRoom(chart(100_000, "RoPE"), 300)).toBeGreaterThan(20);
  });

  it("has room for names where the chart is wide", () => {
    expect(rightRoom(chart(100, "RoPE"), 800)).toBeGreaterThan(4 * 6);
    expect(rightRoom(chart(100, "旋转编码"), 800)).toBeGreaterThan(4 * 12);
    expect(rightRoom(chart(100, "RoPE".repeat(99)), 800)).toBeLessThan(0.3 * 800);
  });
});
