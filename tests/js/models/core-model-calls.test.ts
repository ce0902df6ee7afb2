// SPDX-License-Identifier: MIT
// What the typed layer of loaded models does itself: defaults, pieces, changes of positions, refusals, memory.

import { beforeAll, describe, expect, it } from "vitest";
import type { PosLabError } from "../../../bindings/js/errors.js";
import { CoreModel } from "../../../bindings/js/models/core-model.js";
import type { Architecture } from "../../../bindings/js/models/model-description.js";
import { type ModelsCore, startModelsCore } from "../../../bindings/js/module.js";

let core: ModelsCore;
beforeAll(async () => {
  core = await startModelsCore();
});

const small: Architecture = {
  dim: 8,
  vocabulary: 13,
  trainedLength: 32,
  decoder: {
    layers: 2,
    heads: 2,
    feedForward: 12,
    causal: true,
    position: { type: "rope" },
    norm: { kind: "rms", place: "pre", epsilon: 1e-6 },
    activation: "silu",
    gated: true,
  },
  head: { outputs: 13, tied: true },
};
const ids = [1, 5, 2, 9, 12, 0, 7];

/** Numbers that look random and are the same every time. */
function numbers(count: number, seed: number): Float32Array {
  return Float32Array.from({ length: count }, (_, index) => Math.sin(12.9898 * (index + 1) + 78.233 * seed));
}

function filled(architecture: Architecture): CoreModel {
  const model = CoreModel.create(core, architecture);
  model.tensors.forEach(({ name, shape }, seed) =>
    model.setTensor(
      name,
      numbers(
        shape.reduce((a, b) => a * b, 1),
        seed,
      ),
    ),
  );
  return model;
}

const code = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return `${(error as PosLabError).code}: ${(error as PosLabError).message}`;
  }
  return "no error";
};

describe("tensors", () => {
  it("are named and shaped, and missing until their last number is there", () => {
    const model = CoreModel.create(core, small);
    expect(model.tensors).toContainEqual({ name: "blocks.1.feedForward.gate.weight", shape: [12, 8] });
    expect(model.tensors.map(({ name }) => name)).not.toContain("head.weight");
    expect(model.missing()).toHaveLength(model.tensors.length);
    const table = numbers(13 * 8, 0);
    model.setTensor("embedding.weight", table.subarray(0, 50));
    expect(model.missing()).toContain("embedding.weight");
    model.setTensor("embedding.weight", table.subarray(50), { from: 50 });
    expect(model.missing()).not.toContain("embedding.weight");
    expect(code(() => model.logits({ ids }))).toMatch(/^state: /);
    expect(code(() => model.setTensor("norm.gian", table))).toMatch(/^unknownName: .*norm\.gain/);
    expect(code(() => model.setTensor("norm.gain", table))).toMatch(/^shape: norm\.gain/);
    model.dispose();
  });

  it("may come as [in, out]", () => {
    const model = filled(small);
    const before = model.logits({ ids }).data;
    const [height, width] = [12, 8];
    const name = "blocks.0.feedForward.in.weight";
    const seed = model.tensors.findIndex((tensor) => tensor.name === name);
    const matrix = numbers(height * width, seed);
    const turned = Float32Array.from(
      matrix,
      (_, index) => matrix[(index % height) * width + Math.floor(index / height)]!,
    );
    model.setTensor(name, turned, { transposed: true });
    expect(model.logits({ ids }).data).toEqual(before);
    model.dispose();
  });

  it("take the memory that was estimated", () => {
    const estimate = CoreModel.estimate(core, small, 100);
    const floats = CoreModel.create(core, small).tensors.reduce(
      (sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1),
      0,
    );
    expect(estimate.weights).toBeGreaterThanOrEqual(4 * floats);
    expect(estimate.weights).toBeLessThan(1.5 * 4 * floats);
    expect(estimate.cachePerToken).toBe(4 * 2 * 2 * 8);
  });
});

describe("positions otherwise than trained", () => {
  it("are those of a model that was made so, and go back", () => {
    const model = filled(small);
    const before = model.logits({ ids }).data;
    for (const position of [
      { type: "none" },
      { type: "alibi" },
      { type: "rope", theta: 500 },
      { type: "rope", layout: "interleaved" },
      { type: "rope", scaling: { ropeType: "linear", factor: 4 } },
    ] as const) {
      const other = filled({ ...small, decoder: { ...small.decoder!, position } });
      model.change({ position });
      expect(model.logits({ ids }).data).toEqual(other.logits({ ids }).data);
      expect(model.logits({ ids }).data).not.toEqual(before);
      other.dispose();
    }
    const windowed = filled({ ...small, decoder: { ...small.decoder!, window: [3, 3] } });
    model.change({ window: 3 });
    expect(model.logits({ ids }).data).toEqual(windowed.logits({ ids }).data);
    model.change({ position: { type: "t5", buckets: 4, maxDistance: 8, table: numbersAsRows(4, 2) } });
    expect(model.logits({ ids }).data).not.toEqual(before);
    model.change(null);
    expect(model.logits({ ids }).data).toEqual(before);
    expect(code(() => model.change({ position: { type: "t5" } }))).toMatch(/^missing: position\.table/);
    expect(code(() => model.change({ positoin: { type: "none" } } as never))).toMatch(/^unknownName: .*position/);
    expect(model.logits({ ids }).data).toEqual(before);
    windowed.dispose();
    model.dispose();
  });
});

function numbersAsRows(height: number, width: number): number[][] {
  const flat = numbers(height * width, 3);
  return Array.from({ length: height }, (_, row) => [...flat.subarray(row * width, (row + 1) * width)]);
}

describe("refusals", () => {
  it("name the field of a description", () => {
    const make = (change: object, decoder: object = {}) =>
      code(() => CoreModel.create(core, { ...small, ...change, decoder: { ...small.decoder!, ...decoder } }));
    expect(make({ dmi: 8 })).toMatch(/^unknownName: architecture\.dmi.*"dim"/);
    expect(make({}, { heads: 3 })).toMatch(/^range: architecture\.decoder\.heads/);
    expect(make({}, { keyValueHeads: 3 })).toMatch(/^range: architecture\.decoder\.keyValueHeads/);
    expect(make({}, { activation: "tanh" })).toMatch(/^unknownName: architecture\.decoder\.activation/);
    expect(make({}, { window: [1] })).toMatch(/^shape: architecture\.decoder\.window/);
    expect(make({}, { position: { type: "rpoe" } })).toMatch(/^unknownName: .*rope/);
    expect(make({}, { position: { type: "learned" }, causal: false })).toMatch(/^contradiction: architecture\.decoder/);
    expect(make({ head: undefined })).toMatch(/^missing: architecture\.head/);
  });

  it("say that a tensor has no room when it is to be filled: what is too large can be described all the same", () => {
    const large = { ...small, dim: 1 << 20, vocabulary: 1 << 24, head: { outputs: 13, tied: false } };
    const model = CoreModel.create(core, large);
    expect(CoreModel.estimate(core, large, 1).weights).toBeGreaterThan(2 ** 46);
    expect(() => model.setTensor("embedding.weight", new Float32Array(8))).toThrow(
      /^embedding\.weight: .*wasm32 has 4/,
    );
    model.dispose();
  });

  it("name what is wrong with a sequence, and the model goes on", () => {
    const model = filled(small);
    const before = model.logits({ ids }).data;
    expect(code(() => model.logits({ ids: [1.5] }))).toMatch(/^range: ids\[0\]/);
    expect(code(() => model.logits({ ids: [13] }))).toMatch(/^range: ids/);
    expect(code(() => model.logits({ ids, decoderIds: [1] }))).toMatch(/^contradiction: decoderIds/);
    expect(code(() => model.logits({ ids, attentionMask: [1] }))).toMatch(/^shape: attentionMask/);
    expect(code(() => model.logits({ ids, positions: [1] }))).toMatch(/^shape: positions/);
    expect(code(() => model.losses({ ids }, [1, 2]))).toMatch(/^shape: targets/);
    expect(code(() => model.attention({ ids }, 2))).toMatch(/^range: layer/);
    expect(code(() => model.encode({ ids }))).toMatch(/^contradiction: encode/);
    expect(code(() => model.hiddenStates())).toMatch(/^contradiction: hiddenStates/);
    expect(model.logits({ ids: [] }).shape).toEqual([0, 13]);
    expect(model.logits({ ids: [3] }).shape).toEqual([1, 13]);
    expect(model.logits({ ids }).data).toEqual(before);
    model.dispose();
    expect(code(() => model.logits({ ids }))).toMatch(/^disposed: /);
  });
});
