// SPDX-License-Identifier: MIT
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  align,
  doublings,
  fittingGap,
  roomyTicks,
  spread,
  toTable,
  yRange,
  type Curve,
  type LineChartData,
} from "./data.js";

const curve = (id: string, points: Curve["points"]): Curve => ({
  id,
  label: id,
  colour: "#000000",
  dash: [],
  atTest: false,
  points,
});
const chart = (curves: Curve[]): LineChartData => ({
  title: "t",
  xLabel: "x",
  yLabel: "y",
  xScale: "log",
  curves,
  horizontals: [],
  formatX: String,
  formatY: (y) => y.toFixed(1),
  dots: true,
});

describe("curves", () => {
  const a = curve("a", [
    { x: 1, y: 2, low: 1, high: 3 },
    { x: 4, y: 5 },
  ]);
  const b = curve("b", [{ x: 2, y: 7 }]);

  it("are aligned on all positions, with bands that close on points without one", () => {
    expect(align([a, b])).toEqual({
      x: [1, 2, 4],
      columns: [
        [2, undefined, 5],
        [1, undefined, 5],
        [3, undefined, 5],
        [undefined, 7, undefined],
        [undefined, 7, undefined],
        [undefined, 7, undefined],
      ],
    });
  });

  it("become a table with a mark where there is no number", () => {
    expect(toTable(chart([a, b]), "–")).toEqual({
      columns: ["1", "2", "4"],
      rows: [
        { label: "a", cells: ["2.0", "–", "5.0"] },
        { label: "b", cells: ["–", "7.0", "–"] },
      ],
    });
  });
});

describe("the y axis", () => {
  it("takes in a reference line that is near and leaves out one that would squash the curves", () => {
    const curves = [
      curve("a", [
        { x: 1, y: 1 },
        { x: 2, y: 2 },
      ]),
    ];
    expect(yRange({ curves, horizontals: [{ y: 2.2, label: "" }] })[1]).toBeGreaterThan(2.2);
    expect(yRange({ curves, horizontals: [{ y: 9, label: "" }] })[1]).toBeLessThan(3);
  });

  it("has a range when there is nothing to draw", () => {
    expect(yRange({ curves: [], horizontals: [] })).toEqual([0, 1]);
  });
});

describe("labels at the ends of curves", () => {
  it("keep their order and distance and stay inside", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 10 }), (wanted) => {
        const placed = spread(wanted, 15, 0, 200);
        const order = wanted.map((_, index) => index).sort((i, j) => placed[i]! - placed[j]!);
        order.forEach((index, at) => {
          expect(placed[index]).toBeLessThanOrEqual(200);
          if (at > 0) {
            expect(placed[index]! - placed[order[at - 1]!]!).toBeGreaterThanOrEqual(15);
            expect(wanted[index]).toBeGreaterThanOrEqual(wanted[order[at - 1]!]!);
          }
        });
      }),
    );
  });

  it("stand closer where there are too many of them, and never outside", () => {
    expect(fittingGap(5, 15, 200)).toBe(15);
    const wanted = new Array<number>(24).fill(190);
    const placed = spread(wanted, fittingGap(24, 15, 200), 0, 200);
    expect(Math.min(...placed)).toBeCloseTo(0, 9);
    expect(Math.max(...placed)).toBe(200);
  });
});

describe("ticks", () => {
  it("double up to the last", () => {
    expect(doublings(64, 1024)).toEqual([64, 128, 256, 512, 1024]);
  });

  it("give way to those that must be named", () => {
    expect(roomyTicks([0, 20, 40, 60, 80], [2, 4], 30)).toEqual([true, false, true, false, true]);
  });
});
