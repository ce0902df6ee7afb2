// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { loadPosLab, PosLabError, type Position } from "poslab";
import { completeExperiment, errorData } from "../engine/poslab.js";
import { readError, readFailure, sayError } from "./core-errors.js";

const lab = await loadPosLab();
const attention = (position: unknown, width = 8) => {
  const zeros = { data: new Float32Array(2 * 3 * width), shape: [2, 3, width] };
  return lab.attention({ query: zeros, key: zeros, value: zeros, position: position as Position });
};

const checkText = (length: number, tested: number) =>
  lab.checkExperiment(
    completeExperiment({
      task: { type: "text", text: "the sea was calm; ".repeat(40) },
      encodings: [{ type: "none" }],
      training: { length },
      test: { lengths: [tested] },
    }),
  );

/** What a visitor can bring about on the pages. */
const mistakes: Record<string, () => unknown> = {
  "an odd head": () => attention({ type: "rope" }, 7),
  "a head narrower than what turns": () => attention({ type: "rope", rotaryDim: 32 }),
  "a name": () => attention({ type: "ropr" }),
  "a field": () => attention({ type: "rope", thetta: 3 }),
  "a word": () => attention({ type: "rope", layout: "diagonal" }),
  "a number out of range": () => attention({ type: "t5", buckets: 0 }),
  "fewer slopes than heads": () => attention({ type: "alibi", slopes: [1] }),
  "a missing tensor": () => attention({ type: "t5" }),
  "a shape": () => attention({ type: "t5", table: { data: new Float32Array(4), shape: [2, 2] } }),
  "buckets that contradict": () => attention({ type: "deberta", buckets: 64, maxDistance: 8 }),
  "no gates": () => attention({ type: "forgetting" }),
  "a row past the table": () =>
    lab.table({ type: "learned", rows: 4, table: { data: new Float32Array(16), shape: [4, 4] } } as Position, {
      length: 9,
      dim: 4,
    }),
  "a place off the grid": () =>
    lab.table(
      {
        type: "learned-grid",
        gridHeight: 2,
        gridWidth: 2,
        table: { data: new Float32Array(16), shape: [4, 4] },
      } as Position,
      { length: 9, dim: 4 },
    ),
  "rows further apart than the grid is high": () =>
    lab.bias(
      { type: "swin", gridHeight: 1, gridWidth: 4, table: { data: new Float32Array(14), shape: [7, 2] } } as Position,
      { heads: 2, queryLength: 9, keyLength: 9 },
    ),
  "too much memory": () => lab.bias({ type: "alibi" }, { heads: 1e6, queryLength: 1e6, keyLength: 1 }),
  "a text too short to test on": () => checkText(4, 512),
  "a text too short to train on": () => checkText(1024, 1024),
  "an experiment with heads that do not divide": () =>
    completeExperiment({ task: { type: "first" }, encodings: [{ type: "none" }], model: { dim: 30, heads: 4 } }),
};

describe("an error of the package", () => {
  for (const [name, make] of Object.entries(mistakes)) {
    it(`about ${name} is the package's sentence in English, and a Chinese one in Chinese`, () => {
      let caught: unknown;
      try {
        make();
      } catch (error) {
        caught = error;
      }
      const error = structuredClone(readError(caught)); // as it passes between threads
      expect(error.code).toBeDefined();
      expect(sayError("en", error)).toBe((caught as Error).message);
      const chinese = sayError("zh", error);
      expect(chinese).toMatch(/\p{Script=Han}/u);
      expect(chinese, "no phrase is left in English").not.toMatch(/「/);
      expect(chinese).toContain(error.argument!);
      const failure = structuredClone({ ...errorData(caught), step: 3 });
      // A list that was given does not pass between threads; what is allowed does.
      if (typeof (caught as PosLabError).given !== "object") expect(sayError("zh", readFailure(failure))).toBe(chinese);
      expect(sayError("en", readFailure(failure))).toBe((caught as Error).message);
    });
  }

  it("that is one English sentence and nothing else is quoted, instead of made of nothing", () => {
    const error = new PosLabError("state", "the run has failed; rewind it", { argument: "start" });
    expect(sayError("zh", readError(error))).toBe("计算核心的原话：the run has failed; rewind it");
    const unknown = { code: "newer", message: "said by a newer build", step: 0 };
    expect(sayError("zh", readFailure(unknown))).toBe("计算核心的原话：said by a newer build");
  });

  it("of another kind is quoted", () => {
    expect(sayError("zh", readError(new TypeError("x is not a function")))).toBe("计算核心的原话：x is not a function");
  });
});
