// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { colourRuns, kLevels, surprise } from "./pieces.js";

const generated = { prompt: "ab", promptLength: 2, pieces: [..."cdef"], losses: Float32Array.of(0.1, 0.1, 4.6, 9) };

describe("a written text", () => {
  it("is cut where the colour changes and where the trained length ends", () => {
    expect(colourRuns(generated, 5, "loss").map(({ text, level, mark }) => [text, level, mark])).toEqual([
      ["cd", 0, false],
      ["e", kLevels - 1, false],
      ["f", kLevels - 1, true],
    ]);
  });

  it("loses no symbol, whatever it is coloured by", () => {
    for (const by of ["loss", "position"] as const)
      expect(
        colourRuns(generated, 4, by)
          .map((run) => run.text)
          .join(""),
      ).toBe("cdef");
  });

  it("has a mean surprise before and past the trained length", () => {
    const { before, after } = surprise(generated, 4);
    expect(before).toBeCloseTo(0.1);
    expect(after).toBeCloseTo(6.8);
    expect(surprise(generated, 100).after).toBeNull();
  });
});
