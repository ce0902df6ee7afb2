// SPDX-License-Identifier: MIT
// Whole architectures against reference results in double: logits and attention weights at normal, long, padded and
// second-segment inputs, and decoding with a cache against the whole pass.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PosLabError } from "../../../bindings/js/errors.js";
import { CoreModel } from "../../../bindings/js/models/core-model.js";
import type { AttentionKind, ModelInput } from "../../../bindings/js/models/model-description.js";
import { type ModelsCore, startModelsCore } from "../../../bindings/js/module.js";
import { sharedFolder } from "../shared.js";
import { referenceModel, type ReferenceModel, referenceShape } from "./reference-models.js";

const logitTolerance = 1e-3;
const attentionTolerance = 1e-4;
const root = sharedFolder("data/models");
let core: ModelsCore;

beforeAll(async () => {
  core = await startModelsCore();
});

/** The largest absolute difference; rows whose mask is 0 are left out. */
function largestDifference(values: Float32Array, expected: Float64Array, mask?: ArrayLike<number>): number {
  expect(values.length).toBe(expected.length);
  const width = mask ? values.length / mask.length : values.length;
  let largest = 0;
  for (let index = 0; index < values.length; index += 1)
    if (!mask || mask[Math.floor(index / width)]) {
      const difference = Math.abs(values[index]! - expected[index]!);
      // NaN must not pass for small.
      if (!(difference <= largest)) largest = difference;
    }
  return largest;
}

function open(reference: ReferenceModel): CoreModel {
  const model = CoreModel.create(core, reference.architecture);
  for (const [name, { data, transposed }] of reference.tensors)
    model.setTensor(name, data, transposed ? { transposed } : {});
  expect(model.missing()).toEqual([]);
  return model;
}

const folders = ["llama", "llama-gqa", "llama-llama3", "gpt2", "gpt-neox", "bloom", "bloom-6-heads", "palm", "bert"];
folders.push("t5", "t5-gated", "marian", "vit", "transformer-xl");

describe.each(folders)("%s", (name) => {
  const folder = root ? join(root, name) : "";
  let reference: ReferenceModel;
  let model: CoreModel;
  beforeAll(() => {
    if (!root) return;
    reference = referenceModel(folder);
    model = open(reference);
  });
  afterAll(() => model?.dispose());

  const input = (kind: string): ModelInput | null => {
    if (reference.architecture.image) {
      const pixels = reference.reference(`${kind}.pixels`);
      return pixels && { pixels: { data: Float32Array.from(pixels), shape: referenceShape(folder, `${kind}.pixels`) } };
    }
    const ids = reference.reference(`${kind}.ids`);
    if (!ids) return null;
    const two = reference.architecture.encoder && reference.architecture.decoder;
    const decoderIds = reference.reference(`${kind}.decoder.ids`) ?? reference.reference("decoder.ids");
    return {
      ids: [...ids],
      ...(two ? { decoderIds: [...decoderIds!] } : {}),
    };
  };
  const close = (given: ModelInput, expected: string, mask?: ArrayLike<number>): void => {
    const values = model.logits(given);
    expect(largestDifference(values.data, reference.reference(expected)!, mask)).toBeLessThan(logitTolerance);
  };

  it.skipIf(!root)("gives the reference's logits", () => {
    close(input("input")!, "expected.logits");
  });

  it.skipIf(!root)("gives the reference's attention weights", () => {
    const kinds: [string, AttentionKind][] =
      reference.architecture.encoder && reference.architecture.decoder
        ? [
            ["attention", "encoder"],
            ["decoderAttention", "decoder"],
            ["crossAttention", "cross"],
          ]
        : [["attention", "self"]];
    for (const [word, kind] of kinds)
      for (let layer = 0; ; layer += 1) {
        const expected = reference.reference(`expected.${word}.${layer}`);
        if (!expected) {
          expect(layer).toBe(2);
          break;
        }
        const weights = model.attention(input("input")!, layer, kind);
        expect(weights.shape).toEqual(referenceShape(folder, `expected.${word}.${layer}`));
        expect(largestDifference(weights.data, expected)).toBeLessThan(attentionTolerance);
      }
  });

  it.skipIf(!root)("goes on past its trained length, or says where it ends", () => {
    const long = input("long");
    if (long) return close(long, "long.logits");
    if (!reference.tensors.has("position.table")) return;
    const tooLong = { ids: Array.from({ length: reference.architecture.trainedLength + 1 }, () => 1) };
    expect(() => model.logits(tooLong)).toThrow(expect.objectContaining({ code: "notDefined" }) as PosLabError);
  });

  it.skipIf(!root)("is not disturbed by padding", () => {
    const padded = input("padded");
    if (!padded) return;
    const mask = reference.reference("padded.mask")!;
    const positions = reference.reference("padded.positions");
    const given = { ...padded, attentionMask: mask, ...(positions ? { positions: [...positions] } : {}) };
    close(given, "padded.logits", padded.decoderIds ? undefined : mask);
  });

  it.skipIf(!root)("carries its memory into a second segment", () => {
    if (!reference.architecture.memoryLength) return;
    model.logits(input("input")!);
    const second = { ...input("memory")!, memory: model.hiddenStates() };
    close(second, "memory.logits");
    for (const layer of [0, 1]) {
      const weights = model.attention(second, layer);
      const expected = reference.reference(`memory.attention.${layer}`)!;
      expect(largestDifference(weights.data, expected)).toBeLessThan(attentionTolerance);
    }
  });

  it.skipIf(!root)("decodes token by token as the whole pass does", () => {
    if (!reference.architecture.decoder) return;
    const given = input("input")!;
    const ids = [...((given.decoderIds ?? given.ids) as number[])];
    const whole = Float64Array.from(model.logits(given).data);
    const outputs = whole.length / ids.length;
    const rowOf = (index: number): Float64Array => whole.subarray(index * outputs, (index + 1) * outputs);
    if (given.decoderIds) model.encode({ ids: given.ids! });
    else model.truncate();
    expect(largestDifference(model.append(ids.slice(0, 3)), rowOf(2))).toBeLessThan(1e-4);
    for (let index = 3; index < ids.length; index += 1)
      expect(largestDifference(model.append([ids[index]!]), rowOf(index))).toBeLessThan(1e-4);
    expect(model.cachedLength).toBe(ids.length);
    model.truncate(5);
    expect(largestDifference(model.append(ids.slice(5, 8)), rowOf(7))).toBeLessThan(1e-4);
  });

  it.skipIf(!root)("scores tokens as its logits do", () => {
    if (!reference.architecture.head || reference.architecture.image) return;
    const given = input("input")!;
    const ids = [...((given.decoderIds ?? given.ids) as number[])];
    const { data } = model.logits(given);
    const outputs = data.length / ids.length;
    const losses = model.losses(given);
    expect(losses.at(-1)).toBeNaN();
    for (let index = 0; index + 1 < ids.length; index += 1) {
      const row = data.subarray(index * outputs, (index + 1) * outputs);
      const sum = row.reduce((total, logit) => total + Math.exp(logit), 0);
      expect(losses[index]).toBeCloseTo(Math.log(sum) - row[ids[index + 1]!]!, 4);
    }
  });
});
