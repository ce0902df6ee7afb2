// SPDX-License-Identifier: MIT
import { describe, expect, it, vi } from "vitest";
import { loadPosLab } from "poslab";
import { curveBeyond } from "../data/beyond.js";
import { equalTokens, scoreMatrix, scoresByDistance } from "../data/distance.js";
import { acts, attempt } from "../data/subject.js";
import { schemeTypes, subjectOf } from "../data/testing.js";
import { addedToOutput, randomTokens } from "../data/value.js";
import { addedScript, beyondScript, distanceScript, scoresScript } from "./scripts.js";

// Thousands of calls: quick on a free machine, slow on a shared one.
vi.setConfig({ testTimeout: 60_000 });

/** Runs a copied program as it stands, its import aside, and gives its `data`. */
async function dataOf(code: string): Promise<ArrayLike<number>> {
  const body = code.replace('import { loadPosLab } from "poslab";', "");
  expect(body).not.toBe(code);
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  return new AsyncFunction("loadPosLab", `${body}; return data;`)(loadPosLab) as Promise<ArrayLike<number>>;
}
const sizes = { length: 8, heads: 2, headDim: 8, dim: 8 };
/** Sums of a band's draws in another order. */
const kClose = 5;

describe("the copied JavaScript of a picture", () => {
  it("gives the scores of equal tokens, for every scheme that acts on attention", async () => {
    for (const type of await schemeTypes()) {
      const subject = await subjectOf({ type }, sizes);
      if (acts(subject, "embedding")) continue;
      const all = attempt(() => scoreMatrix(subject, 12)).value;
      if (!all || all.fixed) continue;
      const data = await dataOf(scoresScript(subject, equalTokens(subject, 12)));
      expect(Array.from(data), type).toEqual(Array.from(all.data));
    }
  });

  it("gives the mean score by distance", async () => {
    for (const type of ["rope", "cope", "forgetting", "pope", "none"]) {
      for (const content of ["same", "unrelated"] as const) {
        const subject = await subjectOf({ type }, sizes);
        const data = await dataOf(distanceScript(subject, 16, content));
        const { mean } = scoresByDistance(subject, 16, content);
        expect(data).toHaveLength(2 * 17);
        mean.flat().forEach((value, index) => expect(data[index], `${type} ${index}`).toBeCloseTo(value, kClose));
      }
    }
  });

  it("gives what is added to the output", async () => {
    const subject = await subjectOf({ type: "shaw" }, sizes);
    const data = await dataOf(addedScript(subject, randomTokens(subject, 10)));
    expect(Array.from(data)).toEqual(Array.from(addedToOutput(subject, 10).data));
  });

  it("gives the curve far past the trained length, of rows and of biases", async () => {
    for (const type of ["sinusoidal", "learned", "alibi", "rope"]) {
      const subject = await subjectOf({ type }, sizes);
      const curve = curveBeyond(subject);
      const data = await dataOf(beyondScript(subject, curve));
      if (curve.of === "rows")
        curve.points.forEach(({ x, y }) => expect(data[x], `${type} ${x}`).toBeCloseTo(y, kClose));
      else if (curve.of === "scores")
        curve.mean[1]!.forEach((value, distance) => {
          const at = curve.fixed ? 33 + 32 - distance : 33 + distance; // biases: the furthest first
          expect(data[at], `${type} ${distance}`).toBeCloseTo(value, kClose);
        });
    }
  });
});
