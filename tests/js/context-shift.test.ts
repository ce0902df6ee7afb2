// SPDX-License-Identifier: MIT
// Turning back and turning anew: a context that is shifted, and a cache of keys under scalings that follow the length.

import { describe, expect, it } from "vitest";
import { type Position, type Tensor } from "../../bindings/js/index.js";
import { failure, sharedLab } from "./lab.js";

const lab = await sharedLab();

describe("turning back", () => {
  const x = { data: Float32Array.from({ length: 2 * 3 * 16 }, (_, n) => Math.sin(n * 1.7)), shape: [2, 3, 16] };
  const positions = [5, 4000, 2];
  const near = (one: Tensor, two: { data: ArrayLike<number> }): void =>
    one.data.forEach((value, n) => expect(Math.abs(value - two.data[n]!)).toBeLessThan(3e-6));
  const yarn = { ropeType: "yarn", factor: 4, originalMaxPositionEmbeddings: 2048 } as const;

  it.each<[string, Position]>([
    ["half", { type: "rope" }],
    ["interleaved, partial", { type: "rope", layout: "interleaved", rotaryDim: 8 }],
    ["with an attention factor", { type: "rope", scaling: yarn }],
    ["in two dimensions", { type: "axial-rope", gridWidth: 64 }],
  ])("undoes a turn: %s", (_, position) => {
    near(lab.rotate(lab.rotate(x, position, { positions }), position, { positions, inverse: true }), x);
  });

  it("moves cached keys when a context is shifted: two turns are one", () => {
    const rope: Position = { type: "rope" };
    const cached = lab.rotate(x, rope, { positions });
    const shifted = lab.rotate(cached, rope, { positions: [2, 2, 2], inverse: true });
    near(shifted, lab.rotate(x, rope, { positions: positions.map((id) => id - 2) }));
  });

  it.each<[string, Position, number, number]>([
    ["dynamic NTK", { type: "rope", maxPositionEmbeddings: 16, scaling: { ropeType: "dynamic", factor: 2 } }, 16, 40],
    [
      "longrope",
      {
        type: "rope",
        scaling: {
          ropeType: "longrope",
          factor: 4,
          originalMaxPositionEmbeddings: 16,
          shortFactor: [1, 1, 1, 1],
          longFactor: [1, 2, 3, 4],
        },
        rotaryDim: 8,
      },
      16,
      17,
    ],
  ])(
    "brings a cache across the switch of %s: re-turned keys score as one whole pass does",
    (_, position, before, after) => {
      const row = (length: number): Tensor => ({
        data: Float32Array.from({ length: length * 16 }, (__, n) => Math.cos(n * 0.37)),
        shape: [1, length, 16],
      });
      const keys = row(before);
      const cached = lab.rotate(keys, position, { length: before });
      const turnedBack = lab.rotate(cached, position, { length: before, inverse: true });
      near(lab.rotate(turnedBack, position, { length: after }), lab.rotate(keys, position, { length: after }));
      // The frequencies did change, and the cache as it was would score wrongly.
      const stale = lab.rotate(keys, position, { length: after }).data;
      expect(Math.max(...stale.map((value, n) => Math.abs(value - cached.data[n]!)))).toBeGreaterThan(0.01);
    },
  );

  it("refuses what cannot be undone, and an inverse that is no truth value", () => {
    const position: Position = { type: "rope", scaling: { ...yarn, attentionFactor: 0 } };
    expect(failure(() => lab.rotate(x, position, { inverse: true })).argument).toBe("position.scaling.attentionFactor");
    expect(failure(() => lab.rotate(x, { type: "rope" }, { inverse: 1 as never })).argument).toBe("inverse");
  });
});

describe("decoding with unturned keys", () => {
  const scalings: [string, Position][] = [
    ["dynamic NTK", { type: "rope", maxPositionEmbeddings: 12, scaling: { ropeType: "dynamic", factor: 2 } }],
    [
      "longrope",
      {
        type: "rope",
        scaling: {
          ropeType: "longrope",
          factor: 4,
          originalMaxPositionEmbeddings: 12,
          shortFactor: [1, 1, 1, 1],
          longFactor: [1, 2, 3, 4],
        },
      },
    ],
  ];
  it.each(scalings)(
    "under %s, token by token, is the last row of a pass of that length, across the switch",
    (_, position) => {
      const numbers = (length: number, seed: number): Tensor => ({
        data: Float32Array.from({ length: length * 8 }, (__, n) => Math.sin(seed + n * 0.73)),
        shape: [1, length, 8],
      });
      for (let length = 10; length < 16; length += 1) {
        const [query, key, value] = [numbers(length, 1), numbers(length, 2), numbers(length, 3)];
        const call = { key, value, position, mask: { causal: true } };
        const whole = lab.attention({ ...call, query }).output.data.slice(-8);
        const last = { data: query.data.slice(-8), shape: [1, 1, 8] };
        const one = lab.attention({ ...call, query: last }).output.data;
        one.forEach((wanted, n) => expect(whole[n]).toBeCloseTo(wanted, 6));
      }
    },
  );
});
