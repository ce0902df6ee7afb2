// SPDX-License-Identifier: MIT
// Converting lane layouts: the other rotation of the converted weights gives the same scores, every other tensor stays as
// it was, and there and back is the same file.

import { describe, expect, it } from "vitest";
import { convertLayout, type ConvertOptions, laneOrder } from "../../bindings/js/convert.js";
import {
  PosLabError,
  readSafetensors,
  type Rope,
  type TensorToWrite,
  writeSafetensors,
} from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";
import { at, noise, type Rows, rows } from "./naive.js";

const lab = await sharedLab();

async function convert(
  file: Uint8Array,
  options: Omit<ConvertOptions, "headsOf"> & Partial<ConvertOptions>,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const source = new Blob([file as Uint8Array<ArrayBuffer>]);
  for await (const part of convertLayout(source, {
    headsOf: () => ({ headDim: 8, rotaryDim: 4, heads: 4 }),
    ...options,
  }))
    parts.push(part);
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

const tensor = ({ data, shape }: Rows): TensorToWrite => ({ data: Float32Array.from(data), shape });
const vector = (length: number, seed: number): TensorToWrite => ({
  data: Float32Array.from(noise([length], seed).data),
  shape: [length],
});

describe("lanes", () => {
  it("come from where the other layout has them", () => {
    expect(laneOrder("half", 6)).toEqual([0, 2, 4, 1, 3, 5]);
    expect(laneOrder("interleaved", 6)).toEqual([0, 3, 1, 4, 2, 5]);
    expect(laneOrder("half", 6, 4)).toEqual([0, 2, 1, 3, 4, 5]);
    for (const width of [2, 4, 8, 64]) {
      const back = laneOrder("interleaved", 64, width);
      expect(laneOrder("half", 64, width).map((lane, index) => back.indexOf(index) === lane)).not.toContain(false);
    }
  });

  it.each([
    [3, 3],
    [4, 6],
    [4, 0],
    [4, 3],
    [0, 0],
  ])("of head %i with %i rotated are refused", (headDim, rotaryDim) => {
    expect(() => laneOrder("half", headDim, rotaryDim)).toThrow(PosLabError);
  });
});

// ------------------------------------------------------------------------------------------------ a small model

const kDim = 12;
const kHeadDim = 8;
const kHeads = 4;
const kGroups = 2;
const kLength = 5;

/** Weights of one layer under the names that transformers uses. */
const model: [string, TensorToWrite][] = [
  ["model.layers.0.self_attn.q_proj.weight", tensor(noise([kHeads * kHeadDim, kDim], 1))],
  ["model.layers.0.self_attn.q_proj.bias", vector(kHeads * kHeadDim, 2)],
  ["model.layers.0.self_attn.k_proj.weight", tensor(noise([kGroups * kHeadDim, kDim], 3))],
  ["model.layers.0.self_attn.k_proj.bias", vector(kGroups * kHeadDim, 4)],
  ["model.layers.0.self_attn.v_proj.weight", tensor(noise([kGroups * kHeadDim, kDim], 5))],
  ["model.layers.0.self_attn.q_norm.weight", vector(kHeadDim, 6)],
  ["model.embed_tokens.weight", tensor(noise([7, kDim], 7))],
];
const input = noise([kLength, kDim], 8);

/** Scores q . k of every head, with weights as a file has them and the rotation of a layout. */
function scores(file: Uint8Array, layout: Rope["layout"], rotaryDim: number): number[] {
  const { tensors } = readSafetensors(file);
  const project = (name: string, heads: number, norm: boolean): { data: Float32Array; shape: number[] } => {
    const weight = tensors.get(`model.layers.0.self_attn.${name}.weight`)!;
    const bias = tensors.get(`model.layers.0.self_attn.${name}.bias`)!;
    const scale = tensors.get("model.layers.0.self_attn.q_norm.weight")!;
    const lanes = rows([heads, kLength, kHeadDim], (head, place, lane) => {
      const row = head * kHeadDim + lane;
      let sum = Number(bias.data[row]);
      for (let c = 0; c < kDim; c += 1) sum += Number(weight.data[row * kDim + c]) * at(input, place, c);
      return norm ? sum * Number(scale.data[lane]) : sum;
    });
    return { data: Float32Array.from(lanes.data), shape: lanes.shape };
  };
  const positions = [0, 1, 5, 40, 900];
  const rope: Rope = { type: "rope", layout, rotaryDim };
  const query = lab.rotate(project("q_proj", kHeads, true), rope, { positions });
  const key = lab.rotate(project("k_proj", kGroups, false), rope, { positions });
  const result: number[] = [];
  for (let head = 0; head < kHeads; head += 1)
    for (let i = 0; i < kLength; i += 1)
      for (let j = 0; j < kLength; j += 1) {
        let sum = 0;
        for (let d = 0; d < kHeadDim; d += 1)
          sum +=
            query.data[(head * kLength + i) * kHeadDim + d]! *
            key.data[(Math.floor(head / 2) * kLength + j) * kHeadDim + d]!;
        result.push(sum);
      }
  return result;
}

describe("weights", () => {
  const file = writeSafetensors(model, { format: "pt" });

  it.each([8, 4, 2])("give the same scores under the other rotation, with %i of 8 lanes turning", async (rotaryDim) => {
    const headsOf = () => ({ headDim: kHeadDim, rotaryDim });
    const converted = await convert(file, { to: "interleaved", headsOf });
    const before = scores(file, "half", rotaryDim);
    scores(converted, "interleaved", rotaryDim).forEach((score, index) => expect(score).toBeCloseTo(before[index]!, 6));
    const wrong = scores(converted, "half", rotaryDim);
    // With one pair the layouts are the same.
    if (rotaryDim > 2)
      expect(Math.max(...wrong.map((score, index) => Math.abs(score - before[index]!)))).toBeGreaterThan(0.01);
    expect(await convert(converted, { to: "half", headsOf })).toEqual(file);
  });

  it("leave every other tensor and the header byte for byte", async () => {
    const names: string[] = [];
    const converted = await convert(file, { to: "interleaved", onConverted: (name) => names.push(name) });
    expect(names.sort()).toEqual(
      model
        .map(([name]) => name)
        .filter((name) => /q_|k_/.test(name))
        .sort(),
    );
    const [before, after] = [readSafetensors(file), readSafetensors(converted)];
    expect(after.metadata).toEqual(before.metadata);
    for (const name of ["model.layers.0.self_attn.v_proj.weight", "model.embed_tokens.weight"])
      expect(after.tensors.get(name)).toEqual(before.tensors.get(name));
  });

  it("in one tensor are taken apart: grouped and stacked", async () => {
    const fused = (name: string): Uint8Array => writeSafetensors([[name, tensor(noise([8 * kHeadDim, 3], 9))]]);
    const rowsOf = (bytes: Uint8Array): string[] => {
      const { data } = [...readSafetensors(bytes).tensors.values()][0]!;
      return Array.from({ length: 64 }, (_, row) => Array.from(data.slice(3 * row, 3 * row + 3), String).join());
    };
    const moved = async (name: string): Promise<number[]> => {
      const [before, after] = [rowsOf(fused(name)), rowsOf(await convert(fused(name), { to: "interleaved" }))];
      const heads = Array.from({ length: 8 }, (_, head) => head);
      return heads.filter(
        (head) => before.slice(8 * head, 8 * head + 8).join() !== after.slice(8 * head, 8 * head + 8).join(),
      );
    };
    // 4 query heads and 2 key heads: q q k v, q q k v; or q q q q, k k, v v
    expect(await moved("layers.0.attention.query_key_value.weight")).toEqual([0, 1, 2, 4, 5, 6]);
    expect(await moved("layers.0.self_attn.qkv_proj.weight")).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("of layers without rotation pass as they are", async () => {
    expect(await convert(file, { to: "interleaved", headsOf: () => null })).toEqual(file);
  });

  it("are refused where names or shapes do not fit, and files where they are none", async () => {
    const refused = async (bytes: Uint8Array, options: Partial<ConvertOptions> = {}): Promise<PosLabError> => {
      const error: unknown = await convert(bytes, { to: "half", ...options }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(PosLabError);
      return error as PosLabError;
    };
    const other = writeSafetensors([["wte", tensor(noise([4, 4], 1))]]);
    expect((await refused(other)).code).toBe("missing");
    expect((await refused(file, { headsOf: () => ({ headDim: 7, rotaryDim: 4 }) })).message).toContain("no multiple");
    const fused = writeSafetensors([["a.qkv_proj.weight", tensor(noise([24, 2], 1))]]);
    expect((await refused(fused, { headsOf: () => ({ headDim: 8, rotaryDim: 8 }) })).message).toContain("query heads");
    const scaled = writeSafetensors([...model, ["model.layers.0.self_attn.q_proj.weight_scale_inv", vector(4, 1)]]);
    expect((await refused(scaled)).message).toContain("quantized");
    for (const bytes of [new Uint8Array(3), new Uint8Array(100).fill(255), file.slice(0, file.length - 4)])
      expect((await refused(bytes)).code).toBe("format");
  });
});
