// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { english } from "../language/english.js";
import { stable } from "../schemes/fields.js";
import { numberRows, numberTable } from "./numbers.js";
import { recordingOf, type RecordedEntry } from "./recorded.js";
import { describeCurves, lengthChart, positionChart, trainingChart } from "./shown.js";
import { contextOf, entry, run, shown } from "./testing.js";

const rope = { type: "rope" as const };
const window = { of: rope, window: 64 };
const of = shown(
  {
    encodings: [rope, { type: "learned" }],
    atTest: [{ of: 0, window: 64 }],
    test: { lengths: [64, 128] },
    seeds: [1, 2],
  },
  [
    run(0, 1, [entry(64, 1, { lossAtEndError: 0.1 }), entry(128, 3)], {
      atTest: [{ entry: 0, byLength: [entry(64, 1), entry(128, 1.5)] }],
    }),
    run(0, 2, [entry(64, 2), entry(128, 4)]),
    run(1, 1, [entry(64, 2), entry(128, null, { reason: "past the table" })]),
  ],
);

describe("the chart by length", () => {
  it("has a curve an encoding, a dashed one a change, and marks what is not defined further on", () => {
    const chart = lengthChart(contextOf(of, { switches: [window] }));
    expect(chart.curves.map(({ label, atTest, endsEarly }) => [label, atTest, endsEarly ?? false])).toEqual([
      ["RoPE", false, false],
      ["Learned", false, true],
      ["RoPE, window 64", true, false],
    ]);
    expect(chart.curves[0]!.points[1]).toEqual({ x: 128, y: 3.5, low: 3, high: 4 });
    expect(chart.vertical).toEqual({ x: 64, label: "trained: 64" });
    expect(chart.horizontals.map(({ y }) => y)).toEqual([3.12, 2.46, 2.01]);
  });

  it("draws what was measured afterwards, once it is whole", () => {
    const shift = { of: rope, shift: 100 };
    const measured = (state: "measuring" | "done") =>
      new Map([[stable(shift), { state, byLength: [entry(64, 1.2)], seed: 1 }]]);
    expect(lengthChart(contextOf(of, { switches: [shift], measured: measured("measuring") })).curves).toHaveLength(2);
    expect(lengthChart(contextOf(of, { switches: [shift], measured: measured("done") })).curves.at(-1)!.label).toBe(
      "RoPE, shifted by 100",
    );
  });

  it("leaves out what is switched off, its changes too", () => {
    expect(
      lengthChart(contextOf(of, { switches: [window], hidden: new Set([0]) })).curves.map((curve) => curve.label),
    ).toEqual(["Learned"]);
  });

  it("draws accuracy with the line of a random guess for toy tasks", () => {
    const toy = shown({ task: { type: "needle" }, encodings: [rope] }, [
      run(0, 1, [entry(32, 1, { accuracyAtEnd: 0.5 })]),
    ]);
    const chart = lengthChart(contextOf(toy, { measure: "accuracy" }));
    expect(chart.curves[0]!.points).toEqual([{ x: 32, y: 50 }]);
    expect(chart.horizontals).toEqual([{ y: 12.5, label: english.charts.guess }]);
    expect(positionChart(contextOf(toy)).horizontals[0]!.y).toBeCloseTo(Math.log(8));
  });

  it("is said in words", () => {
    expect(describeCurves(lengthChart(contextOf(of)), english)).toBe(
      "RoPE: 1.50, at 128 3.50; Learned: 2.00, not defined past the trained length",
    );
  });
});

describe("the other charts", () => {
  it("show positions and training of every run that has some", () => {
    expect(positionChart(contextOf(of)).curves.map((curve) => curve.points.length)).toEqual([3, 3]);
    expect(trainingChart(contextOf(of)).xRange).toEqual([0, 976]);
  });
});

describe("the table of numbers", () => {
  it("gives mean and half the range over seeds, the error over windows for one seed, and names what is not defined", () => {
    expect(numberTable(contextOf(of, { switches: [window] })).rows).toEqual([
      { label: "RoPE", cells: ["1.500 ± 0.500", "3.500 ± 0.500"] },
      { label: "RoPE, window 64", cells: ["1.000", "1.500"] },
      { label: "Learned", cells: ["2.000", "not defined"] },
    ]);
    const one = shown({ encodings: [rope], test: { lengths: [64] } }, [
      run(0, 1, [entry(64, 1, { lossAtEndError: 0.1 })]),
    ]);
    expect(numberRows(contextOf(one))[0]!.cells[0]).toEqual({ length: 64, mean: 1, spread: 0.1 });
  });
});

describe("a recording", () => {
  it("is found for the same experiment with other seeds and changes at test time, and for no other", () => {
    const index = [{ file: "a.json", experiment: of.experiment } as RecordedEntry];
    expect(recordingOf(index, { ...of.experiment, seeds: [9], atTest: [] })?.file).toBe("a.json");
    expect(recordingOf(index, { ...of.experiment, training: { ...of.experiment.training, steps: 5 } })).toBeUndefined();
  });
});
