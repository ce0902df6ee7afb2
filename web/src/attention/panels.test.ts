// SPDX-License-Identifier: MIT
import { loadPosLab } from "poslab";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Encoding, PosLab } from "../engine/poslab.js";
import { Panel, type Sight } from "./panels.js";
import { drawnTensors, kDrawnRows, RandomSource, Refusal } from "./sources.js";
import { schemeOf } from "./scheme-values.js";
import { tokenise } from "./tokens.js";

// The module starts and trains here: a busy machine takes longer than the usual five seconds.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let lab: PosLab;
beforeAll(async () => {
  lab = await loadPosLab();
});

const { tokens } = tokenise("the cat sat on the mat and the dog sat on the rug", "words");
const causal: Sight = { causal: true, window: null };
/** Scores of a few units differ in their last bits of 2^-23 when angles do; so do weights, which are at most 1. */
const kRounding = 3e-6;
const every = { offset: 0, heads: [0, 1, 2, 3], show: "weights", side: 600 } as const;
const panelOf = (encoding: Encoding, sight = causal, symbols: readonly string[] = tokens) =>
  new Panel(lab, new RandomSource(lab, symbols, 3, 4), encoding, sight);

describe("a panel", () => {
  it("has the weights of one call of the package, and rows that sum to one", () => {
    const source = new RandomSource(lab, tokens, 3, 4);
    const panel = new Panel(lab, source, { type: "alibi" }, causal);
    const { pictures, cells, pool, change } = panel.result(every);
    expect([cells, pool, change]).toEqual([tokens.length, 1, { largest: 0, mean: 0 }]);
    const { query, key } = source.inputs({ type: "none" }, 0);
    const { weights, scores } = lab.attention({
      query,
      key,
      value: key,
      position: { type: "alibi" },
      mask: { causal: true },
      weights: true,
      scores: true,
    });
    const drawn = panel.result({ ...every, show: "scores" }).pictures;
    for (let head = 0; head < 4; head += 1) {
      for (let i = 0; i < cells; i += 1) {
        let sum = 0;
        for (let j = 0; j < cells; j += 1) {
          const at = (head * cells + i) * cells + j;
          const value = pictures[head]![i * cells + j]!;
          if (j > i) expect(value).toBeNaN();
          else {
            expect(value).toBeCloseTo(weights!.data[at]!, 6);
            expect(drawn[head]![i * cells + j]).toBeCloseTo(scores!.data[at]!, 5);
            sum += value;
          }
        }
        expect(sum).toBeCloseTo(1, 5);
      }
    }
  });

  it("moves with its text under absolute encodings, and not under relative ones", () => {
    const relative = ["none", "rope", "alibi", "t5", "shaw", "transformer-xl", "kerple", "xpos"] as const;
    for (const type of relative) {
      const panel = panelOf({ type });
      for (const offset of [1, 1000, 100_000]) {
        const { largest } = panel.result({ ...every, offset }).change;
        expect(largest, `${type} at ${offset}`).toBeLessThan(kRounding);
      }
    }
    for (const type of ["sinusoidal", "learned"] as const) {
      const { largest, mean } = panelOf({ type }).result({ ...every, offset: 100 }).change;
      expect(largest, type).toBeGreaterThan(0.05);
      expect(mean, type).toBeGreaterThan(0.001);
      expect(mean, type).toBeLessThan(largest);
    }
  });

  it("measures the same change whether the start was drawn before or not", () => {
    const [fresh, used] = [panelOf({ type: "sinusoidal" }), panelOf({ type: "sinusoidal" })];
    used.result(every);
    expect(fresh.result({ ...every, offset: 9 }).change).toEqual(used.result({ ...every, offset: 9 }).change);
  });

  it("says that a learned table ends", () => {
    const panel = panelOf({ type: "learned" });
    expect(() => panel.result({ ...every, offset: kDrawnRows - tokens.length })).not.toThrow();
    expect(() => panel.result({ ...every, offset: kDrawnRows })).toThrow(new Refusal("past-table", kDrawnRows));
  });

  it("has a mean weight by distance that the pictures give", () => {
    const { pictures, cells, byDistance } = panelOf({ type: "alibi" }).result({ ...every, heads: [2] });
    expect(byDistance.first).toBe(0);
    for (const distance of [0, 3, cells - 1]) {
      let sum = 0;
      for (let i = distance; i < cells; i += 1) sum += pictures[0]![i * cells + i - distance]!;
      expect(byDistance.mean[distance]).toBeCloseTo(sum / (cells - distance), 6);
    }
  });

  it("sees both ways when it is not causal, and so far as its window reaches when it is", () => {
    const both = panelOf({ type: "rope" }, { causal: false, window: null }).result({ ...every, heads: [0] });
    expect(both.pictures[0]!.every((value) => value >= 0)).toBe(true);
    expect(both.byDistance).toMatchObject({ first: 1 - tokens.length });
    expect(both.byDistance.mean).toHaveLength(2 * tokens.length - 1);
    const near = panelOf({ type: "rope" }, { causal: true, window: 3 }).result({ ...every, heads: [0] });
    const row = near.pictures[0]!.subarray(9 * near.cells, 10 * near.cells);
    expect([...row.keys()].filter((key) => row[key]! >= 0)).toEqual([7, 8, 9]);
    expect(near.byDistance.mean[3]).toBeNaN();
  });

  it("keeps the largest weight when a picture is made smaller, also over the border of a block", () => {
    const long = Array.from({ length: 1000 }, (_, index) => `t${index % 50}`);
    const panel = panelOf({ type: "alibi" }, causal, long);
    const whole = panel.result({ ...every, heads: [1], side: 1000 });
    const small = panel.result({ ...every, heads: [1], side: 300 });
    expect([whole.pool, small.pool, small.cells]).toEqual([1, 4, 250]);
    for (const [row, column] of [
      [0, 0],
      [65, 64],
      [249, 249],
      [130, 3],
    ] as const) {
      let largest = -1;
      for (let i = 4 * row; i < 4 * row + 4; i += 1)
        for (let j = 4 * column; j < 4 * column + 4; j += 1)
          if (j <= i) largest = Math.max(largest, whole.pictures[0]![i * 1000 + j]!);
      expect(small.pictures[0]![row * 250 + column], `${row} ${column}`).toBe(Math.fround(largest));
    }
  });

  it("gives one query's row as the picture has it", () => {
    const panel = panelOf({ type: "t5" });
    const { pictures, cells } = panel.result({ ...every, offset: 40 });
    const { weights, scores, keys } = panel.row(5, 40);
    expect(keys).toBe(6);
    for (let head = 0; head < 4; head += 1) {
      for (let j = 0; j < keys; j += 1) {
        expect(weights[head * keys + j]).toBeCloseTo(pictures[head]![5 * cells + j]!, 6);
        expect(Number.isFinite(scores[head * keys + j])).toBe(true);
      }
    }
  });

  it("of no text has no cells", () => {
    expect(panelOf({ type: "rope" }, causal, []).result(every)).toMatchObject({ cells: 0, change: { largest: 0 } });
  });
});

describe("what a scheme learns", () => {
  it("is drawn for every scheme of the registry, large enough to be seen", () => {
    for (const { type, hooks } of lab.info.schemes) {
      const tensors = drawnTensors(lab, { type } as Encoding, 2, 1);
      const position = schemeOf({ type } as Encoding, tensors);
      if (hooks.includes("embedding")) continue;
      const x = { data: new Float32Array(2 * 3 * 16).fill(0.5), shape: [2, 3, 16] };
      const call = () => lab.attention({ query: x, key: x, value: x, position, weights: true });
      // What a token gives the scheme is no value of the scheme.
      if (type === "forgetting") expect(call).toThrowError(/gate/);
      else expect(call, type).not.toThrow();
    }
    const { table } = drawnTensors(lab, { type: "t5" }, 2, 1);
    expect(Math.sqrt(table!.data.reduce((sum, b) => sum + b * b, 0) / table!.data.length)).toBeCloseTo(1, 5);
  });
});
