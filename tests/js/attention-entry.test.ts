// SPDX-License-Identifier: MIT
// "poslab/attention": the smaller module gives the bits of the whole one, and says what it has not.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type AttentionLab, loadAttention } from "../../bindings/js/attention.js";
import { loadPosLab, type Position } from "../../bindings/js/index.js";
import { failure, sharedLab } from "./lab.js";

const lab = await sharedLab();
const small = await loadAttention();
const file = new URL("../../bindings/js/wasm/poslab-attention.wasm", import.meta.url);

const [heads, length, headDim] = [2, 37, 8];
const tensor = (seed: number) => ({
  data: Float32Array.from({ length: heads * length * headDim }, (_, n) => Math.sin(seed + 1.7 * n)),
  shape: [heads, length, headDim],
});
const [query, key, value, outputGradient] = [tensor(1), tensor(2), tensor(3), tensor(4)];

describe("the module of attention alone", () => {
  it("has the ten classic schemes", () => {
    expect(small.info.schemes.map(({ type }) => type).sort()).toEqual(
      ["alibi", "kerple", "learned", "none", "rope", "shaw", "sinusoidal", "t5", "transformer-xl", "xpos"].sort(),
    );
    expect(small.info).toMatchObject({ version: lab.info.version, variant: "simd" });
  });

  it.each(small.info.schemes.filter(({ hooks }) => !hooks.includes("embedding")).map(({ type }) => type))(
    "gives attention and gradients under %s to the bit",
    (type) => {
      const plain = { type } as Position;
      const sizes = { heads, headDim, dim: heads * headDim, length };
      expect(small.startParameters(plain, sizes)).toEqual(lab.startParameters(plain, sizes));
      const position = { ...plain, ...lab.startParameters(plain, sizes) } as Position;
      const call = { query, key, value, position, mask: { causal: true } };
      const both = (work: (one: AttentionLab) => unknown) => expect(work(small)).toEqual(work(lab));
      both((one) => one.attention({ ...call, weights: true, logSumExp: true }));
      both((one) => one.attentionGradients({ ...call, outputGradient }));
    },
  );

  it("makes tables, frequencies, turns, slopes, buckets, biases and ids as the whole one does", () => {
    const both = (work: (one: AttentionLab) => unknown) => expect(work(small)).toEqual(work(lab));
    both((one) => one.table({ type: "sinusoidal" }, { length: 9, dim: 7, start: 3 }));
    both((one) => one.frequencies({ type: "rope", theta: 5e5 }, { headDim: 16, length: 9 }));
    both((one) => one.rotate(query, { type: "rope" }, { start: 5 }));
    both((one) => one.slopes({ type: "alibi" }, { heads: 12 }));
    both((one) => one.buckets({ type: "t5", bidirectional: false }, [-200, -1, 0]));
    both((one) => one.bias({ type: "alibi" }, { heads: 3, queryLength: 4, keyLength: 6 }));
    both((one) => one.positions("randomized", { length: 5, maximum: 50, seed: 3 }));
  });

  it("reports precision and exports", async () => {
    const at = { headDim: 8, length: 300 };
    expect(await small.precision({ type: "rope" }, at)).toEqual(await lab.precision({ type: "rope" }, at));
    const how = { program: "onnx", headDim: 8, length: 4 } as const;
    expect(await small.exportRotation({ type: "rope" }, how)).toEqual(await lab.exportRotation({ type: "rope" }, how));
  });

  it("says where the other schemes are, and names what is not known", () => {
    const { message } = failure(() =>
      small.bias({ type: "fire" } as never, { heads: 1, queryLength: 1, keyLength: 1 }),
    );
    expect(message).toMatch(/position\.type: "fire" is not known; one of none, .* \(the classic ones; loadPosLab\(/);
    expect(failure(() => small.slopes({ type: "alibi" }, { heads: NaN })).message).toContain("heads");
  });
});

describe("loading it", () => {
  it("takes bytes, an address and a compiled module", async () => {
    const bytes = new Uint8Array(readFileSync(file));
    for (const wasm of [bytes, file, file.href, await WebAssembly.compile(bytes)]) {
      const loaded = await loadAttention({ wasm });
      expect(loaded.slopes({ type: "alibi" }, { heads: 2 })).toEqual(lab.slopes({ type: "alibi" }, { heads: 2 }));
    }
  });

  it("refuses unknown options and what is no module", async () => {
    await expect(loadAttention({ variant: "relaxed" } as never)).rejects.toThrowError("variant is not known");
    await expect(loadAttention({ wasm: new Uint8Array(4) })).rejects.toThrowError("is not a WebAssembly module");
    await expect(loadAttention({ wasm: 5 as never })).rejects.toThrowError("wasm: 5 was given");
  });

  it("is not what loadPosLab can train with, which says so", async () => {
    await expect(loadPosLab({ wasm: file })).rejects.toThrowError("the module has no training in it");
  });
});
