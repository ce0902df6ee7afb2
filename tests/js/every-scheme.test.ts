// SPDX-License-Identifier: MIT
// What holds for every registered scheme: it runs in a race, and at the edges of all sizes it is right or says what is
// wrong; nothing crashes, and no number that is not finite comes out without a word.

import { describe, expect, it } from "vitest";
import { type AttentionOptions, type Position, PosLabError, type Tensor } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();
const types = lab.info.schemes.map(({ type }) => type);
const acts = (type: string): boolean =>
  !lab.info.schemes.find((scheme) => scheme.type === type)!.hooks.includes("embedding");

function numbers(size: number, seed = 1): Float32Array {
  return Float32Array.from({ length: size }, (_, n) => Math.sin(seed * 12.9898 + n * 78.233));
}
const tensor = (...shape: number[]): Tensor => ({
  data: numbers(shape.reduce((product, extent) => product * extent, 1)),
  shape,
});

/** The value, or the library's own error. */
function outcome<T>(call: () => T): T | PosLabError {
  try {
    return call();
  } catch (error) {
    expect(error).toBeInstanceOf(PosLabError);
    expect((error as PosLabError).argument, (error as PosLabError).message).not.toBe("");
    return error as PosLabError;
  }
}

/** The scheme with the tensors that training would start from. */
function complete(position: Position, heads: number, headDim: number, length: number): Position | PosLabError {
  return outcome(() => {
    const sizes = { heads, headDim, dim: heads * headDim, length: Math.max(1, length) };
    const { gateWeight: _, gateBias: __, ...tensors } = lab.startParameters(position, sizes);
    return { ...position, ...tensors } as Position;
  });
}

/** What forget gates need beside the scheme: a row of logarithms a head. */
const extras = (type: string, heads: number, keys: number): Partial<AttentionOptions> =>
  type === "forgetting"
    ? { gates: { data: Float32Array.from(numbers(heads * keys), (x) => -Math.abs(x)), shape: [heads, keys] } }
    : {};

function attend(
  type: string,
  position: Position,
  heads: number,
  length: number,
  dim: number,
  mask: AttentionOptions["mask"],
) {
  const [query, key, value] = [tensor(heads, length, dim), tensor(heads, length, dim), tensor(heads, length, dim)];
  return outcome(() =>
    lab.attention({ query, key, value, position, mask, weights: true, ...extras(type, heads, length) }),
  );
}

function expectFinite(values: ArrayLike<number>, what: string): void {
  expect(
    Array.from(values).findIndex((value) => !Number.isFinite(value)),
    what,
  ).toBe(-1);
}

describe.each(types)("%s", (type) => {
  it("runs in a race, and says of a longer test what it is", async () => {
    const { runs } = await lab.experiment({
      task: { type: "position-modulo" },
      model: { dim: 16, heads: 2, layers: 2, feedForward: 8 },
      training: { length: 8, batch: 2, steps: 4, warmup: 1 },
      encodings: [{ type }],
      test: { lengths: [8, 12], windows: 2 },
    });
    const [own, longer] = runs[0]!.byLength;
    expect(runs[0]!.stopped).toBeUndefined();
    expect(own!.reason).toBeUndefined();
    expect(own!.loss).toBeGreaterThan(0);
    if (longer!.reason === undefined) expect(longer!.loss).toBeGreaterThan(0);
    else expect(longer!.reason).toMatch(/position/);
  });

  it.runIf(acts(type))("is right or refuses at the edges of lengths, windows, heads and widths", () => {
    for (const heads of [1, 2, 3, 12, 14, 40, 112]) {
      for (const dim of [1, 2, 3, 5, 64]) {
        if (heads > 14 && dim > 5) continue;
        for (const length of [0, 1, 2, 3]) {
          const what = `${type}, ${heads} heads of ${dim}, length ${length}`;
          const position = complete({ type } as Position, heads, dim, length);
          if (position instanceof PosLabError) {
            expect(position.message, what).toMatch(/^dim|headDim|position\./);
            continue;
          }
          const causal = attend(type, position, heads, length, dim, { causal: true });
          if (causal instanceof PosLabError) throw new Error(`${what}: ${causal.message}`);
          expectFinite(causal.output.data, what);
          const { data } = causal.weights!;
          for (let row = 0; row < heads * length; row += 1) {
            const sum = data.slice(row * length, (row + 1) * length).reduce((total, weight) => total + weight, 0);
            expect(sum, `${what}, row ${row}`).toBeCloseTo(1, 4);
          }
          expect(attend(type, position, heads, length, dim, { causal: true, window: 0 })).toBeInstanceOf(PosLabError);
          for (const window of [1, length, length + 1].filter((size) => size > 0)) {
            const windowed = attend(type, position, heads, length, dim, { causal: true, window });
            if (windowed instanceof PosLabError) throw new Error(`${what}, window ${window}: ${windowed.message}`);
            expectFinite(windowed.output.data, `${what}, window ${window}`);
            if (window >= length) expect(windowed.output.data, `${what}, window ${window}`).toEqual(causal.output.data);
          }
        }
      }
    }
  });

  it.runIf(acts(type))("takes ids unsorted, repeated and far apart, or refuses them", () => {
    const position = complete({ type } as Position, 2, 8, 4) as Position;
    for (const ids of [
      [3, 1, 2, 0],
      [2, 2, 2, 2],
      [0, 5, 5, 1],
      [0, 1_000_000, 3, 2_000_000_000],
    ]) {
      const [query, key, value] = [tensor(2, 4, 8), tensor(2, 4, 8), tensor(2, 4, 8)];
      const call = { query, key, value, position, mask: { causal: true }, queryPositions: ids, keyPositions: ids };
      const result = outcome(() => lab.attention({ ...call, ...extras(type, 2, 4) }));
      if (result instanceof PosLabError) expect(result.message, `${type} ${ids}`).toMatch(/position/i);
      else expectFinite(result.output.data, `${type} ${ids}`);
    }
  });

  it("refuses several ids a token, or has a use for them", () => {
    const pairs = [
      [0, 0],
      [0, 1],
      [1, 0],
    ];
    if (!acts(type)) return;
    const position = complete({ type, gridHeight: 2, gridWidth: 2 } as unknown as Position, 2, 8, 4);
    const plain = complete({ type } as Position, 2, 8, 4) as Position;
    const [query, key, value] = [tensor(2, 3, 8), tensor(2, 3, 8), tensor(2, 3, 8)];
    const call = { query, key, value, queryPositions: pairs, keyPositions: pairs, ...extras(type, 2, 3) };
    const result = outcome(() =>
      lab.attention({ ...call, position: position instanceof PosLabError ? plain : position }),
    );
    if (result instanceof PosLabError) expect(result.message).toContain("one id a token");
    else expectFinite(result.output.data, type);
  });
});

describe("numbers at the ends of what a scheme takes", () => {
  const rotating = ["rope", "xpos", "pope", "axial-rope"];
  const x = tensor(1, 4, 8);
  it.each(rotating)("theta of %s", (type) => {
    for (const theta of [1, 0.5, 1e-30, 1e30, Infinity, NaN, 0, -1]) {
      const position = complete({ type, theta } as Position, 1, 8, 4);
      const result =
        position instanceof PosLabError
          ? position
          : outcome(() => lab.attention({ query: x, key: x, value: x, position, mask: { causal: true } }));
      if (result instanceof PosLabError) expect(result.message, `theta ${theta}`).toContain("theta");
      else expectFinite(result.output.data, `theta ${theta}`);
      if (!(theta > 0 && theta < Infinity)) expect(result, `theta ${theta}`).toBeInstanceOf(PosLabError);
    }
  });

  it.each(["sinusoidal", "sinusoidal-2d", "sandwich", "transformer-xl"])("base of %s", (type) => {
    for (const base of [1, 0.5, 1e-30, 1e30, Infinity, NaN, 0, -1]) {
      const position = complete({ type, base } as Position, 1, 8, 4);
      const result =
        position instanceof PosLabError
          ? position
          : outcome(() =>
              acts(type)
                ? lab.attention({ query: x, key: x, value: x, position, mask: { causal: true } }).output
                : lab.table(position, { length: 4, dim: 8 }),
            );
      if (result instanceof PosLabError) expect(result.message, `base ${base}`).toContain("base");
      else expectFinite(result.data, `base ${base}`);
      if (!(base > 0 && base < Infinity)) expect(result, `base ${base}`).toBeInstanceOf(PosLabError);
    }
  });

  it("scalings of two rotary lanes", () => {
    for (const ropeType of ["ntk", "dynamic", "yarn", "linear"] as const) {
      const scaling = { ropeType, factor: 2, ...(ropeType === "yarn" ? { originalMaxPositionEmbeddings: 16 } : {}) };
      const position: Position = { type: "rope", rotaryDim: 2, scaling, maxPositionEmbeddings: 16 };
      const result = outcome(() => lab.frequencies(position, { headDim: 8, length: 64 }));
      if (result instanceof PosLabError) expect(result.message, ropeType).toMatch(/rotaryDim|scaling|headDim/);
      else expectFinite(result.inverseFrequencies, ropeType);
    }
  });

  it.each<[string, Position, string]>([
    ["slopes", { type: "alibi", slopes: [0.5] }, "slopes"],
    ["sections", { type: "rope", sections: [1, 1] }, "sections"],
    [
      "short factors",
      {
        type: "rope",
        scaling: {
          ropeType: "longrope",
          shortFactor: [1, 2],
          longFactor: [1, 2, 3, 4],
          originalMaxPositionEmbeddings: 8,
          factor: 2,
        },
      },
      "shortFactor",
    ],
    ["a table", { type: "t5", table: [[1, 2]] }, "table"],
    ["r1", { type: "kerple", r1: [1, 2, 3], r2: [1, 2, 3] }, "r1"],
  ])("lists that do not fit: %s", (_, position, argument) => {
    const result = outcome(() =>
      lab.attention({ query: tensor(2, 4, 8), key: tensor(2, 4, 8), value: tensor(2, 4, 8), position }),
    );
    expect(result).toBeInstanceOf(PosLabError);
    expect((result as PosLabError).message).toContain(argument);
  });
});
