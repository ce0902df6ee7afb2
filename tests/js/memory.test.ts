// SPDX-License-Identifier: MIT
// Memory grows with the length, not with its square, and a wide model takes no more beside its inputs and results than a
// narrow one: attention and its gradients at 16,384 places and with 8 heads of 64, for every scheme.

import { describe, expect, it } from "vitest";
import { loadPosLab, type Position, type SchemeInfo } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

interface Shape {
  heads: number;
  headDim: number;
  length: number;
}

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

/** Runs both directions in memory of its own, which never shrinks, and compares what it has become with the goal. */
async function expectLittleMemory(
  { type, more, gates }: (typeof cases)[number],
  { heads, headDim, length }: Shape,
): Promise<void> {
  const lab = await loadPosLab();
  const bare = { type, ...more } as Position;
  // What a model learns to make gates of is no part of a call.
  const parameters = gates ? {} : lab.startParameters(bare, { heads, headDim, dim: heads * headDim, seed: 1 });
  const [query, key, value, outputGradient] = [
    tensor(heads, length, headDim),
    tensor(heads, length, headDim),
    tensor(heads, length, headDim),
    tensor(heads, length, headDim),
  ];
  const start = lab.core.memory.byteLength;
  const result = lab.attentionGradients({
    query,
    key,
    value,
    position: { ...bare, ...parameters } as Position,
    mask: { causal: true },
    outputGradient,
    ...(gates ? { gates: { data: new Float32Array(heads * length).fill(-0.01), shape: [heads, length] } } : {}),
  });
  expect(result.query.shape).toEqual([heads, length, headDim]);
  expect([result.query, result.key, result.value].every(({ data }) => data.every(Number.isFinite))).toBe(true);

  const table = length * headDim * 4;
  const learned = Object.values(result.position).reduce((sum, { data }) => sum + 4 * data.length, 0);
  // Four inputs; output, log-sum-exp and three gradients; what is learned and its gradients; three tables as large as one
  // head's queries; 2 MiB. Memory grows in steps of a fifth.
  const allowed = 1.2 * (start + (8 * heads + 3) * table + 4 * heads * length + 2 * learned + 2 * 2 ** 20);
  expect(lab.core.memory.byteLength).toBeLessThanOrEqual(allowed);
  // Over many places the matrix that is never made would be larger.
  if (length > 1024) expect(allowed).toBeLessThan(heads * length * length * 4);
}

describe("attention over many places and its gradients", () => {
  it.each(cases)("take memory for inputs, results and a few tables: $type $more", (scheme) =>
    expectLittleMemory(scheme, { heads: 1, headDim: 16, length: slow.includes(scheme.type) ? 4096 : 16_384 }),
  );
});

describe("attention of a wide model and its gradients", () => {
  it.each(cases.filter(({ type }) => !slow.includes(type)))("take no more beside them: $type $more", (scheme) =>
    expectLittleMemory(scheme, { heads: 8, headDim: 64, length: 1024 }),
  );

  it("take no more beside them over many places either, where every distance has a projected row", () =>
    expectLittleMemory({ type: "transformer-xl", more: {}, gates: false }, { heads: 2, headDim: 64, length: 16_384 }));
});
