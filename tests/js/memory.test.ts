// SPDX-License-Identifier: MIT
// Memory grows with the length, not with its square: attention and its gradients at 16,384 places, for every scheme.

import { describe, expect, it } from "vitest";
import { loadPosLab, type Position } from "../../bindings/js/index.js";

const length = 16_384;
const dim = 16;
const ramp = (count: number, scale = 1): Float32Array =>
  Float32Array.from({ length: count }, (_, index) => scale * Math.sin(1.3 * index));
const tensor = (...shape: number[]) => ({ data: ramp(shape.reduce((a, b) => a * b, 1)), shape });
const positive = { data: new Float32Array([0.5]), shape: [1] };

/** Each scheme that acts on attention, with what it learns. */
const schemes: Position[] = [
  { type: "none" },
  { type: "rope" },
  { type: "rope", scaling: { ropeType: "yarn", factor: 8, originalMaxPositionEmbeddings: 2048 } },
  { type: "alibi" },
  { type: "kerple", r1: positive, r2: positive },
  { type: "t5", table: tensor(32, 1) },
  { type: "shaw", maxDistance: 16, keys: tensor(33, dim), values: tensor(33, dim) },
  {
    type: "transformer-xl",
    projection: tensor(dim, dim),
    contentBias: tensor(1, dim),
    positionBias: tensor(1, dim),
  },
  { type: "xpos" },
];

describe("attention over 16,384 places and its gradients", () => {
  it.each(schemes)("take memory for inputs, results and a few tables: $type", async (position) => {
    const lab = await loadPosLab(); // memory of its own, which never shrinks
    const [query, key, value, outputGradient] = [
      tensor(1, length, dim),
      tensor(1, length, dim),
      tensor(1, length, dim),
      tensor(1, length, dim),
    ];
    const start = lab.core.memory.byteLength;
    const result = lab.attentionGradients({ query, key, value, position, mask: { causal: true }, outputGradient });
    expect(result.query.shape).toEqual([1, length, dim]);
    expect([result.query, result.key, result.value].every(({ data }) => data.every(Number.isFinite))).toBe(true);

    const table = length * dim * 4;
    // Four inputs; output, log-sum-exp and three gradients; three tables; 2 MiB. Memory grows in steps of a fifth.
    const allowed = 1.2 * (start + (4 + 4 + 3) * table + length * 4 + 2 * 2 ** 20);
    expect(lab.core.memory.byteLength).toBeLessThanOrEqual(allowed);
    // The matrix that is never made would be 1 GiB.
    expect(allowed).toBeLessThan(2 ** 26);
  });
});
