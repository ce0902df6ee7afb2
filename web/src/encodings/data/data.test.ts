// SPDX-License-Identifier: MIT
import { describe, expect, it, vi } from "vitest";
import { curveBeyond, factsBeyond } from "./beyond.js";
import { biasByDistance, headOf, scoreMatrix, scoresByDistance } from "./distance.js";
import { rowsOf, similarity, wavesShown } from "./embedding.js";
import { handsAt, lanesOf, pairsOf, unfinished } from "./rotation.js";
import { gatesOf } from "./gates.js";
import { attend, rowsAt } from "./scores.js";
import { acts, attempt, counting } from "./subject.js";
import { lab, schemeTypes, subjectOf } from "./testing.js";
import { addedToOutput } from "./value.js";
import { normalVectors, randomSource } from "./vectors.js";

// Thousands of calls: quick on a free machine, slow on a shared one.
vi.setConfig({ testTimeout: 60_000 });

describe("rows", () => {
  it("go twice the trained length, or as far as the table does", async () => {
    const sinusoidal = rowsOf(await subjectOf({ type: "sinusoidal" }));
    expect(sinusoidal.positions).toHaveLength(128);
    expect(sinusoidal.data[5 * 32 + 2]).toBe(Math.fround(Math.sin(5 * 10000 ** (-2 / 32))));
    expect(rowsOf(await subjectOf({ type: "learned" })).positions).toHaveLength(64);
  });

  it("come at any positions, in any order", async () => {
    const subject = await subjectOf({ type: "sinusoidal" }, { dim: 4 });
    const { data } = subject.lab.table(subject.position, { length: 10, dim: 4 });
    const row = (position: number) => Array.from(data.subarray(position * 4, position * 4 + 4));
    expect(Array.from(rowsAt(subject, [3, 4, 9, 0], 4))).toEqual([3, 4, 9, 0].flatMap(row));
  });

  it("are as alike as their inner product says", async () => {
    const subject = await subjectOf({ type: "sinusoidal" });
    const rows = rowsOf(subject);
    const alike = similarity(subject, rows);
    // sin² + cos² of sixteen pairs, and cos of the differences.
    expect(alike[7 * 128 + 7]).toBeCloseTo(16, 4);
    const expected = counting(16).reduce((sum, k) => sum + Math.cos(5 * 10000 ** ((-2 * k) / 32)), 0);
    expect(alike[10 * 128 + 15]).toBeCloseTo(expected, 4);
  });

  it("show a few columns as waves, each once", () => {
    expect(wavesShown(2)).toEqual([0, 1]);
    expect(wavesShown(32)).toEqual([0, 1, 4, 8, 16, 24, 31]);
  });
});

describe("rotations", () => {
  for (const layout of ["half", "interleaved"]) {
    it(`find the two lanes of a pair in the layout ${layout}`, async () => {
      const subject = await subjectOf({ type: "rope", layout, rotaryDim: 16 });
      const { frequencies } = pairsOf(subject, 64);
      const lanes = lanesOf(subject, frequencies.length);
      for (const { pair, x, y } of handsAt(subject, 7, lanes)) {
        expect(x).toBeCloseTo(Math.cos(7 * frequencies[pair]!), 6);
        expect(y).toBeCloseTo(Math.sin(7 * frequencies[pair]!), 6);
      }
    });
  }

  it("know which pairs do not finish a turn", async () => {
    const pairs = pairsOf(await subjectOf({ type: "rope", theta: 100 }, { headDim: 8 }), 64);
    expect(pairs.wavelengths.map(Math.round)).toEqual([6, 20, 63, 199]);
    expect(unfinished(pairs, 64)).toEqual([3]);
    expect(unfinished(pairs, 30)).toEqual([2, 3]);
  });
});

describe("scores", () => {
  it("are the bias itself where content plays no part", async () => {
    const subject = await subjectOf({ type: "alibi" });
    expect(biasByDistance(subject, 3)[1]).toEqual([0, -1, -2, -3].map((step) => step / 16));
    const matrix = scoreMatrix(subject, 8);
    expect(matrix.fixed).toBe(true);
    expect(headOf(matrix, 0)[5 * 8 + 2]).toBe(-0.75);
  });

  it("of a scheme with gates fall by the gates between, which are read off the tokens", async () => {
    const subject = await subjectOf({ type: "forgetting" });
    const tokens = { heads: 4, dim: 32, data: normalVectors(randomSource(7), 4 * 5 * 32), positions: counting(5) };
    const gates = gatesOf(subject, tokens)!;
    expect(gates.shape).toEqual([4, 5]);
    expect(gates.data.every((gate) => gate < 0 && gate > -3)).toBe(true);
    const encoded = attend(subject, tokens, tokens, { causal: true }).scores;
    const bare = attend(subject, tokens, tokens, { causal: true, encoded: false }).scores;
    const at = (scores: Float32Array) => scores[2 * 25 + 4 * 5 + 1]!;
    expect(at(encoded) - at(bare)).toBeCloseTo(gates.data[12]! + gates.data[13]! + gates.data[14]!, 5);
  });

  it("fall with distance for equal tokens under RoPE, and have a band", async () => {
    const { mean, low, high } = scoresByDistance(await subjectOf({ type: "rope" }), 64, "same");
    expect(mean).toHaveLength(4);
    expect(mean[0]![0]).toBeCloseTo(Math.sqrt(32), -0.5);
    expect(mean[0]![0]! - mean[0]![32]!).toBeGreaterThan(1);
    for (const distance of [0, 10, 64]) {
      expect(low[1]![distance]).toBeLessThanOrEqual(mean[1]![distance]!);
      expect(high[1]![distance]).toBeGreaterThanOrEqual(mean[1]![distance]!);
    }
  });

  it("of another random key have a mean near nothing", async () => {
    const { mean } = scoresByDistance(await subjectOf({ type: "rope" }), 16, "unrelated", { draws: 200 });
    expect(Math.abs(mean[0]![8]!)).toBeLessThan(0.4);
  });
});

describe("values", () => {
  it("show what Shaw's encoding adds by itself: the first query sees itself alone", async () => {
    const subject = await subjectOf({ type: "shaw" });
    const { data, dim } = addedToOutput(subject, 4);
    const { values } = subject.position as unknown as { values: { data: Float32Array } };
    expect(Array.from(data.subarray(0, dim))).toEqual(Array.from(values.data.subarray(16 * dim, 17 * dim)));
  });
});

describe("beyond the trained length", () => {
  const kinds = async (type: string) => factsBeyond(await subjectOf({ type })).map(({ kind }) => kind);

  it("each scheme does its own thing", async () => {
    expect(await kinds("learned")).toEqual(["undefined"]);
    expect(await kinds("sinusoidal")).toEqual(["nearestRow"]);
    expect(await kinds("alibi")).toEqual(["lowerScore"]);
    expect(await kinds("rope")).toEqual(["unseenAngles"]);
    expect(await kinds("none")).toEqual(["nothing"]);
    expect(await kinds("shaw")).toEqual(["sameScore"]);
    expect(await kinds("swin")).toEqual(["undefined"]);
  });

  it("says what the core said where a table ends with the grid", async () => {
    for (const type of ["learned", "swin", "levit", "learned-grid"]) {
      const [fact] = factsBeyond(await subjectOf({ type }, { length: 16 }));
      if (fact?.kind !== "undefined") throw new Error(`${type}: ${fact?.kind}`);
      expect(fact.error.code, type).toBe("notDefined");
    }
  });

  it("gives the numbers of the first new distance", async () => {
    const [fact] = factsBeyond(await subjectOf({ type: "alibi" }, { heads: 1 }));
    if (fact?.kind !== "lowerScore") throw new Error(fact?.kind);
    expect(fact.to - fact.from).toBeCloseTo(-1 / 256, 5);
  });

  it("draws a curve to four times as far", async () => {
    const curve = curveBeyond(await subjectOf({ type: "sinusoidal" }, { length: 16 }));
    if (curve.of !== "rows") throw new Error(curve.of);
    expect(curve.points).toHaveLength(64);
    expect(curve.points.every(({ y }) => y <= 1.000001)).toBe(true);
  });
});

describe("every scheme of the registry", () => {
  it("can be opened and shows something of each of its hooks", async () => {
    const { info } = await lab();
    for (const type of await schemeTypes()) {
      const subject = await subjectOf({ type }, { length: 16 });
      expect(subject.hooks, type).toEqual(info.schemes.find((scheme) => scheme.type === type)!.hooks);
      // A scheme may need more than vectors (gates): then the package says so, and the page shows what it says.
      const scores = attempt(() => (acts(subject, "embedding") ? rowsOf(subject) : scoreMatrix(subject, 12)).data);
      if (scores.value)
        expect(
          scores.value.some((value) => Number.isFinite(value) && value !== 0),
          type,
        ).toBe(true);
      else expect(scores.refused?.message, type).not.toBe("");
      // A scheme may turn in a way of its own, which is no list of frequencies (PoPE).
      const pairs = acts(subject, "rotation") ? attempt(() => pairsOf(subject, 16)).value : undefined;
      if (pairs) expect(pairs.frequencies.length, type).toBeGreaterThan(0);
      if (scores.value) expect(factsBeyond(subject).length, type).toBeGreaterThan(0);
    }
  });
});
