// SPDX-License-Identifier: MIT
// Several ids a token as callers write them, and far keys at other distances, through the public calls.

import { describe, expect, it } from "vitest";
import { type Position, type Tensor } from "../../bindings/js/index.js";
import { failure, sharedLab } from "./lab.js";

const lab = await sharedLab();
const tensor = (...shape: number[]): Tensor => ({
  data: Float32Array.from({ length: shape.reduce((product, extent) => product * extent, 1) }, (_, n) =>
    Math.sin(3 + n * 7.13),
  ),
  shape,
});

describe("several ids a token", () => {
  const x = tensor(1, 3, 8);
  const axial: Position = { type: "axial-rope" };
  it("are nested lists, typed rows, or a tensor of ids, and give the same", () => {
    const nested = [
      [0, 1],
      [2, 0],
      [1, 4],
    ];
    const expected = lab.rotate(x, axial, { positions: nested }).data;
    const rows = nested.map((row) => Int32Array.from(row));
    const flat = nested.flat();
    expect(lab.rotate(x, axial, { positions: rows }).data).toEqual(expected);
    expect(lab.rotate(x, axial, { positions: { data: flat, shape: [3, 2] } }).data).toEqual(expected);
    const big = BigInt64Array.from(flat, BigInt);
    expect(lab.rotate(x, axial, { positions: { data: big, shape: [3, 2] } }).data).toEqual(expected);
  });

  it("are refused where their shape or number is wrong", () => {
    expect(failure(() => lab.rotate(x, axial, { positions: [[0, 1], [2, 0], [1]] })).argument).toBe("positions[2]");
    expect(
      failure(() =>
        lab.rotate(x, axial, {
          positions: [
            [0, 1],
            [2, 0],
          ],
        }),
      ).message,
    ).toContain("3 tokens");
    expect(failure(() => lab.rotate(x, axial, { positions: { data: [1, 2, 3], shape: [3, 2] } })).code).toBe("shape");
    expect(
      failure(() =>
        lab.rotate(x, axial, {
          positions: [
            [0, 1, 2],
            [2, 0, 1],
            [1, 4, 0],
          ],
        }),
      ).message,
    ).toContain("or 2");
    expect(
      failure(() =>
        lab.rotate(x, axial, {
          positions: [
            [0, 1.5],
            [2, 0],
            [1, 4],
          ],
        }),
      ).code,
    ).toBe("range");
  });

  it("lie on the grid as one id a token does", () => {
    const position: Position = { type: "swin", gridHeight: 2, gridWidth: 2, table: tensor(9, 3) };
    const ids = [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ];
    const options = { heads: 3, queryLength: 4, keyLength: 4 };
    const plain = lab.bias(position, options);
    expect(lab.bias(position, { ...options, queryPositions: ids, keyPositions: ids })).toEqual(plain);
    const { gridWidth: _, ...inferred } = position;
    expect(lab.bias(inferred, options).shape).toEqual([3, 4, 4]);
    expect(failure(() => lab.bias({ type: "swin" }, options)).argument).toBe("position.gridWidth");
  });
});

describe("far keys at other distances", () => {
  const call = {
    query: tensor(2, 40, 8),
    key: tensor(1, 40, 8),
    value: tensor(1, 40, 8),
    mask: { causal: true },
    weights: true,
  };
  it("change nothing while all keys are near, or groups have one key", () => {
    for (const position of [{ type: "rope" }, { type: "alibi" }] as Position[]) {
      const plain = lab.attention({ ...call, position });
      for (const distances of [
        { policy: "clamped", window: 40 },
        { policy: "grouped", window: 4, group: 1 },
      ] as const) {
        const { output, weights } = lab.attention({ ...call, position, distances });
        output.data.forEach((value, n) => expect(value).toBeCloseTo(plain.output.data[n]!, 5));
        weights!.data.forEach((value, n) => expect(value).toBeCloseTo(plain.weights!.data[n]!, 5));
      }
    }
  });

  it("token by token are one whole pass", () => {
    const distances = { policy: "grouped", window: 6, group: 4 } as const;
    const position: Position = { type: "rope" };
    const whole = lab.attention({ ...call, position, distances }).output;
    for (const at of [0, 5, 6, 17, 39]) {
      const rows = ({ data, shape: [heads = 0, length = 0, dim = 0] }: Tensor, from: number, to: number): Tensor => ({
        data: Float32Array.from({ length: heads * (to - from) * dim }, (_, n) => {
          const [head, rest] = [Math.floor(n / ((to - from) * dim)), n % ((to - from) * dim)];
          return data[(head * length + from) * dim + rest]!;
        }),
        shape: [heads, to - from, dim],
      });
      const one = lab.attention({
        query: rows(call.query, at, at + 1),
        key: rows(call.key, 0, at + 1),
        value: rows(call.value, 0, at + 1),
        position,
        distances,
        mask: call.mask,
      }).output;
      rows(whole, at, at + 1).data.forEach((value, n) => expect(one.data[n]).toBeCloseTo(value, 5));
    }
  });

  it("are refused by name", () => {
    const given = (distances: unknown) => () => lab.attention({ ...call, distances: distances as never });
    expect(failure(given({ policy: "clamp", window: 3 })).argument).toBe("distances.policy");
    expect(failure(given({ policy: "clamped", window: 3, group: 2 })).argument).toBe("distances.group");
    expect(failure(given({ policy: "grouped", window: 3 })).argument).toBe("distances.group");
    expect(failure(given({ policy: "clamped", window: 0 })).argument).toBe("distances.window");
    expect(
      failure(() => lab.attention({ ...call, mask: {}, distances: { policy: "clamped", window: 3 } })).argument,
    ).toBe("distances");
  });
});
