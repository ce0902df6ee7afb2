// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { lengthPoints, positionPoints, TrainingLosses, trainingPoints, valueOf } from "./curves.js";
import { entry, run } from "./testing.js";

describe("points by length", () => {
  it("are means over seeds with the lowest and highest as a band, and skip what is not defined", () => {
    const lists = [
      [entry(64, 2), entry(128, null, { reason: "past the table" })],
      [entry(64, 3), entry(128, null)],
    ];
    expect(lengthPoints(lists, "end")).toEqual([{ x: 64, y: 2.5, low: 2, high: 3 }]);
    expect(lengthPoints([[entry(64, 2)]], "whole")).toEqual([{ x: 64, y: 2.5 }]);
  });

  it("give accuracy as per cent, and nothing where there is none", () => {
    expect(valueOf(entry(64, 1, { accuracyAtEnd: 0.25 }), "accuracy")).toBe(25);
    expect(valueOf(entry(64, 1), "accuracy")).toBeNull();
  });
});

describe("points by position", () => {
  it("stand in the middle of their bins and leave out empty ones", () => {
    expect(positionPoints([run(0, 1, [])])).toEqual([
      { x: 2, y: 3 },
      { x: 6, y: 2 },
      { x: 14, y: 1 },
    ]);
    expect(positionPoints([])).toEqual([]);
  });
});

describe("training losses", () => {
  it("are gathered into means of equal stretches, however they arrive", () => {
    const losses = new TrainingLosses(2);
    losses.add([4, 2, 8], 0);
    losses.add([6], 3);
    expect(losses.entries).toEqual([
      [2, 3],
      [4, 7],
    ]);
  });

  it("ignore steps that were said before", () => {
    const losses = new TrainingLosses(2);
    losses.add([4, 2], 0);
    losses.add([9, 9, 5, 7], 0);
    expect(losses.entries).toEqual([
      [2, 3],
      [4, 6],
    ]);
  });

  it("of several seeds are averaged step by step", () => {
    expect(
      trainingPoints([
        run(0, 1, []),
        run(0, 2, [], {
          training: [
            [50, 5],
            [100, NaN],
          ],
        }),
      ]),
    ).toEqual([
      { x: 50, y: 4, low: 3, high: 5 },
      { x: 100, y: 2 },
    ]);
  });
});
