// SPDX-License-Identifier: MIT
// Exported caches and biases, used as the programs that they are for use them, against the library's own results.

import { describe, expect, it } from "vitest";
import { type Position, PosLabError, type Tensor } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();
const [length, headDim] = [7, 16];
const x: Tensor = {
  data: Float32Array.from({ length: length * headDim }, (_, n) => Math.sin(n * 1.3)),
  shape: [1, length, headDim],
};
const yarn = { ropeType: "yarn", factor: 4, originalMaxPositionEmbeddings: 64 } as const;
const ropes: [string, Position][] = [
  ["half", { type: "rope" }],
  ["interleaved", { type: "rope", layout: "interleaved" }],
  ["partial", { type: "rope", rotaryDim: 8 }],
  ["scaled", { type: "rope", layout: "interleaved", scaling: yarn }],
];
const near = (one: ArrayLike<number>, two: ArrayLike<number>): void => {
  expect(one).toHaveLength(two.length);
  Array.from(one).forEach((value, n) => expect(Math.abs(value - two[n]!), `at ${n}`).toBeLessThan(2e-6));
};

/** One row turned by a row of cosines and sines: the definition of ONNX's RotaryEmbedding. */
function turn(row: number[], cos: number[], sin: number[], interleaved: boolean): number[] {
  const out = [...row];
  const pairs = cos.length;
  cos.forEach((c, k) => {
    const [a, b] = interleaved ? [2 * k, 2 * k + 1] : [k, k + pairs];
    out[a] = row[a]! * c - row[b]! * sin[k]!;
    out[b] = row[b]! * c + row[a]! * sin[k]!;
  });
  return out;
}
const rowOf = ({ data, shape }: Tensor, row: number): number[] => {
  const width = shape.at(-1)!;
  return Array.from(data.slice(row * width, (row + 1) * width));
};

describe.each(ropes)("a rotation, %s", (_, position) => {
  const interleaved = (position as { layout?: string }).layout === "interleaved";
  const expected = lab.rotate(x, position).data;

  it("in ONNX's and flash-attention's caches", async () => {
    const onnx = await lab.exportRotation(position, { program: "onnx", headDim, length });
    const flash = await lab.exportRotation(position, { program: "flash-attention", headDim, length });
    expect(onnx.attributes.interleaved).toBe(interleaved ? 1 : 0);
    expect(onnx.attributes.rotary_embedding_dim).toBe((position as { rotaryDim?: number }).rotaryDim ?? 0);
    const { cos_cache, sin_cache } = onnx.tensors;
    expect(flash.tensors.cos).toEqual(cos_cache);
    expect(flash.tensors.sin).toEqual(sin_cache);
    const turned = Array.from({ length }, (__, row) =>
      turn(rowOf(x, row), rowOf(cos_cache!, row), rowOf(sin_cache!, row), interleaved),
    );
    near(turned.flat(), expected);
  });

  it("in transformers' doubled tables", async () => {
    const { cos, sin } = (await lab.exportRotation(position, { program: "transformers", headDim, length })).tensors;
    const width = cos!.shape[2]!;
    const half = width / 2;
    const turned = Array.from({ length }, (__, at) => {
      const row = rowOf(x, at);
      const other = row
        .slice(0, width)
        .map((___, lane) =>
          interleaved
            ? lane % 2
              ? row[lane - 1]!
              : -row[lane + 1]!
            : lane < half
              ? -row[lane + half]!
              : row[lane - half]!,
        );
      return row.map((value, lane) =>
        lane < width ? value * rowOf(cos!, at)[lane]! + other[lane]! * rowOf(sin!, at)[lane]! : value,
      );
    });
    near(turned.flat(), expected);
  });

  it("in ggml's numbers", async () => {
    const { tensors, attributes } = await lab.exportRotation(position, { program: "ggml", headDim, length });
    const { mode, n_dims, freq_base, attn_factor } = attributes as Record<string, number>;
    expect(mode).toBe(interleaved ? "NORM" : "NEOX");
    const factors = tensors.freq_factors!.data;
    const turned = Array.from({ length }, (__, at) => {
      const angles = Array.from(factors, (factor, k) => (at * freq_base! ** ((-2 * k) / n_dims!)) / factor);
      return turn(
        rowOf(x, at),
        angles.map((a) => attn_factor! * Math.cos(a)),
        angles.map((a) => attn_factor! * Math.sin(a)),
        interleaved,
      );
    });
    near(turned.flat(), expected);
  });
});

describe("a bias", () => {
  const options = { heads: 3, queryLength: 2, keyLength: 4 };
  const alibi: Position = { type: "alibi" };
  it("is added as it stands, and hides later keys when asked", async () => {
    const plain = lab.bias(alibi, options).data;
    const onnx = (await lab.exportBias(alibi, { ...options, program: "onnx" })).tensors.attn_mask!;
    expect(onnx).toEqual({ data: plain, shape: [1, 3, 2, 4] });
    expect((await lab.exportBias(alibi, { ...options, program: "ggml" })).tensors.kq_bias!.shape).toEqual([3, 2, 4]);
    const causal = (await lab.exportBias(alibi, { ...options, program: "transformers", causal: true })).tensors
      .attention_mask!;
    expect(Array.from(causal.data, (value) => value === -Infinity)).toEqual(
      Array.from({ length: 24 }, (_, n) => n % 8 === 3),
    );
  });

  it("is slopes for flash-attention", async () => {
    const { alibi_slopes } = (await lab.exportBias(alibi, { ...options, program: "flash-attention" })).tensors;
    expect(Array.from(alibi_slopes!.data)).toEqual(Array.from(lab.slopes(alibi, { heads: 3 })));
  });

  it.each<[string, () => Promise<unknown>, string]>([
    [
      "a program that nobody knows",
      () => lab.exportBias(alibi, { ...options, program: "coreml" as "onnx" }),
      "program",
    ],
    [
      "slopes of T5",
      () => lab.exportBias({ type: "t5", table: [[1]] }, { ...options, program: "flash-attention" }),
      "position",
    ],
    [
      "two axes for ggml",
      () => lab.exportRotation({ type: "axial-rope" }, { program: "ggml", headDim, length }),
      "position",
    ],
    ["a bias that rotates", () => lab.exportRotation(alibi, { program: "onnx", headDim, length }), "position"],
  ])("refuses %s", async (_, call, argument) => {
    const error: unknown = await call().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PosLabError);
    expect((error as PosLabError).message).toContain(argument);
  });
});
