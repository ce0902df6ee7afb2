// SPDX-License-Identifier: MIT
// Memory grows with the length, not with its square: attention and its gradients at 16,384 places, for every scheme.

import { describe, expect, it } from "vitest";
import { loadPosLab, type Position, type SchemeInfo } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const dim = 16;
/** A millisecond an entry and head is too much for 16,384 places: these are looked at with a quarter of them. */
const slow = ["cope", "dape", "pope"];
const tensor = (...shape: number[]) => ({
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, index) => Math.sin(1.3 * index)),
  shape,
});

/** What a scheme cannot do without, and other fields worth a look. */
const fields: Record<string, object[]> = {
  rope: [{}, { scaling: { ropeType: "yarn", factor: 8, originalMaxPositionEmbeddings: 2048 } }],
  swin: [{ gridHeight: 128, gridWidth: 128 }],
  levit: [{ gridHeight: 128, gridWidth: 128 }],
};

const actsOnAttention = ({ type, hooks }: SchemeInfo): boolean =>
  type === "none" || hooks.some((hook) => hook !== "embedding");
const cases = (await sharedLab()).info.schemes
  .filter(actsOnAttention)
  .flatMap(({ type, gates }) => (fields[type] ?? [{}]).map((more) => ({ type, more, gates })));

describe("attention over many places and its gradients", () => {
  it.each(cases)("take memory for inputs, results and a few tables: $type $more", async ({ type, more, gates }) => {
    const length = slow.includes(type) ? 4096 : 16_384;
    const lab = await loadPosLab(); // memory of its own, which never shrinks
    const bare = { type, ...more } as Position;
    // What a model learns to make gates of is no part of a call.
    const position = gates ? bare : { ...bare, ...lab.startParameters(bare, { heads: 1, headDim: dim, dim, seed: 1 }) };
    const [query, key, value, outputGradient] = [
      tensor(1, length, dim),
      tensor(1, length, dim),
      tensor(1, length, dim),
      tensor(1, length, dim),
    ];
    const start = lab.core.memory.byteLength;
    const result = lab.attentionGradients({
      query,
      key,
      value,
      position: position as Position,
      mask: { causal: true },
      outputGradient,
      ...(gates ? { gates: { data: new Float32Array(length).fill(-0.01), shape: [1, length] } } : {}),
    });
    expect(result.query.shape).toEqual([1, length, dim]);
    expect([result.query, result.key, result.value].every(({ data }) => data.every(Number.isFinite))).toBe(true);

    const table = length * dim * 4;
    // Four inputs; output, log-sum-exp and three gradients; three tables; 2 MiB. Memory grows in steps of a fifth.
    const allowed = 1.2 * (start + (4 + 4 + 3) * table + length * 4 + 2 * 2 ** 20);
    expect(lab.core.memory.byteLength).toBeLessThanOrEqual(allowed);
    // The matrix that is never made would be larger.
    expect(allowed).toBeLessThan(length * length * 4);
  });
});
