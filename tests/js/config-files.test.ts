// SPDX-License-Identifier: MIT
// Files that hold a config: GGUF headers and llama2.c checkpoints made here byte by byte, JSON, and what is none of them.

import { describe, expect, it } from "vitest";
import { explainConfig, readConfigFile } from "../../bindings/js/config.js";
import { PosLabError } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();

class Bytes {
  readonly #parts: Uint8Array[] = [];
  #put(size: number, set: (view: DataView) => void): this {
    const part = new Uint8Array(size);
    set(new DataView(part.buffer));
    this.#parts.push(part);
    return this;
  }
  u32 = (value: number): this => this.#put(4, (view) => view.setUint32(0, value, true));
  i32 = (value: number): this => this.#put(4, (view) => view.setInt32(0, value, true));
  u64 = (value: number | bigint): this => this.#put(8, (view) => view.setBigUint64(0, BigInt(value), true));
  f32 = (value: number): this => this.#put(4, (view) => view.setFloat32(0, value, true));
  raw(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    return this;
  }
  text(text: string): this {
    const bytes = new TextEncoder().encode(text);
    return this.u64(bytes.length).raw(bytes);
  }
  done(): Uint8Array {
    return Uint8Array.from(this.#parts.flatMap((part) => [...part]));
  }
}

type Value = string | { u32: number } | { f32: number };

/** A GGUF file of version 3 with these metadata and these (empty-handed) tensors. */
function gguf(metadata: Record<string, Value>, tensors: readonly string[] = []): Uint8Array {
  const file = new Bytes().raw(new TextEncoder().encode("GGUF")).u32(3).u64(tensors.length);
  file.u64(Object.keys(metadata).length);
  for (const [key, value] of Object.entries(metadata)) {
    file.text(key);
    if (typeof value === "string") file.u32(8).text(value);
    else if ("u32" in value) file.u32(4).u32(value.u32);
    else file.u32(6).f32(value.f32);
  }
  for (const name of tensors) file.text(name).u32(1).u64(8).u32(0).u64(0);
  return file.raw(new Uint8Array(256)).done();
}

const kSizes = {
  "llama.embedding_length": { u32: 64 },
  "llama.attention.head_count": { u32: 4 },
  "llama.block_count": { u32: 2 },
  "llama.context_length": { u32: 512 },
};
const llama = { "general.architecture": "llama", ...kSizes };

const explain = async (bytes: Uint8Array) => explainConfig(await readConfigFile(bytes), { lab });
const refusal = async (bytes: Uint8Array): Promise<PosLabError> => {
  try {
    await explain(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(PosLabError);
    return error as PosLabError;
  }
  throw new Error("the file was accepted");
};

describe("GGUF", () => {
  it("gives adjacent pairs for llama, and the file's own keys as sources", async () => {
    const { modelType, layers, usableLength } = await explain(
      gguf({ ...llama, "llama.rope.freq_base": { f32: 5000 }, "llama.rope.dimension_count": { u32: 16 } }),
    );
    expect(modelType).toBe("llama");
    expect(usableLength).toBe(512);
    expect(layers.all!.position).toEqual({ type: "rope", theta: 5000, layout: "interleaved", rotaryDim: 16 });
    expect(layers.all!.sources).toMatchObject({
      theta: "llama.rope.freq_base",
      rotaryDim: "llama.rope.dimension_count",
    });
    expect(layers.all!.inverseFrequencies![1]).toBeCloseTo(5000 ** (-2 / 16), 12);
  });

  it("reads linear and yarn scaling", async () => {
    const scaled = { ...llama, "llama.rope.freq_base": { f32: 10000 }, "llama.rope.scaling.factor": { f32: 4 } };
    const linear = await explain(gguf({ ...scaled, "llama.rope.scaling.type": "linear" }));
    expect(linear.layers.all!.inverseFrequencies![0]).toBe(0.25);
    const yarn = await explain(
      gguf({
        ...scaled,
        "llama.rope.scaling.type": "yarn",
        "llama.rope.scaling.original_context_length": { u32: 128 },
      }),
    );
    expect(yarn.layers.all!.position).toMatchObject({
      scaling: { ropeType: "yarn", factor: 4, originalMaxPositionEmbeddings: 128 },
    });
  });

  it("pairs halves in other architectures, and knows slopes and tables", async () => {
    const renamed = (name: string): Record<string, Value> => ({
      "general.architecture": name,
      ...Object.fromEntries(Object.entries(kSizes).map(([key, value]) => [key.replace("llama", name), value])),
    });
    expect((await explain(gguf(renamed("qwen2")))).layers.all!.position).toMatchObject({
      type: "rope",
      layout: "half",
    });
    const mpt = await explain(gguf({ ...renamed("mpt"), "mpt.attention.max_alibi_bias": { f32: 16 } }));
    expect(mpt.layers.all!.position).toEqual({ type: "alibi", slopes: [2 ** -4, 2 ** -8, 2 ** -12, 2 ** -16] });
    expect((await explain(gguf(renamed("gpt2")))).layers.all!.position).toEqual({ type: "learned", rows: 512 });
  });

  it("says where frequencies are in tensors", async () => {
    const { cautions } = await explain(gguf(llama, ["rope_freqs.weight"]));
    expect(cautions.map(({ code }) => code)).toContain("factors-in-tensors");
    const longrope = gguf({ ...llama, "llama.rope.scaling.type": "longrope", "llama.rope.scaling.factor": { f32: 4 } });
    expect((await refusal(longrope)).message).toContain("rope_factors_long");
  });

  it("is enough as a header alone: what it says of tensors is checked, and none is read", async () => {
    const whole = gguf(llama, ["token_embd.weight"]);
    const header = whole.subarray(0, whole.length - 256);
    expect(await explain(header)).toEqual(await explain(whole));
    expect((await refusal(gguf(llama, ["a", "a"]))).message).toMatch(/^GGUF: the tensor "a" is there twice/);
  });

  it("refuses headers that are cut off, unnamed, hostile or not numbers", async () => {
    const whole = gguf(llama);
    for (let length = 4; length < whole.length - 256; length += 7)
      expect((await refusal(whole.slice(0, length))).code, `${length} bytes`).toBe("format");
    expect((await refusal(gguf({}))).message).toContain("general.architecture");
    const huge = new Bytes()
      .raw(new TextEncoder().encode("GGUF"))
      .u32(3)
      .u64(0)
      .u64(1)
      .text("a")
      .u32(9)
      .u32(8)
      .u64(2n ** 62n);
    expect((await refusal(huge.done())).code).toBe("format");
    expect((await refusal(gguf({ ...llama, "llama.rope.freq_base": { f32: NaN } }))).argument).toBe(
      "llama.rope.freq_base",
    );
    expect((await refusal(gguf({ ...llama, "llama.rope.freq_base": "10000" }))).argument).toBe("llama.rope.freq_base");
  });
});

describe("llama2.c", () => {
  const header = [64, 172, 5, 8, 4, 8, 512];
  const checkpoint = (numbers: readonly number[], first: readonly number[] = []): Uint8Array => {
    const file = new Bytes();
    for (const value of [...first, ...numbers]) file.i32(value);
    return file.raw(new Uint8Array(4 * 8 * 64)).done();
  };

  it.each([
    ["version 0", checkpoint(header)],
    ["version 0, untied", checkpoint([64, 172, 5, 8, 4, -8, 512])],
    ["version 1", checkpoint(header, [0x616b3432, 1])],
  ])("%s", async (_, bytes) => {
    const { modelType, layers, usableLength } = await explain(bytes);
    expect(modelType).toBe("llama2.c");
    expect(usableLength).toBe(512);
    expect(layers.all!.position).toEqual({ type: "rope", theta: 10000, layout: "interleaved", rotaryDim: 8 });
  });

  it("is refused with numbers that make no model", async () => {
    for (const wrong of [
      [0, 1, 1, 1, 1, 1, 1],
      [64, 172, 5, 7, 4, 8, 512],
      [64, 172, 5, 8, 3, 8, 512],
      [64, 172, 5, 8, 4, 2 ** 30, 512],
    ]) {
      expect((await refusal(checkpoint(wrong))).code).toBe("format");
      expect((await refusal(checkpoint(wrong, [0x616b3432, 1]))).code).toBe("format");
    }
    expect((await refusal(checkpoint(header, [0x616b3432, 9]))).message).toContain("version 9");
  });
});

describe("other files", () => {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

  it("are JSON, with or without spaces and a byte order mark before it", async () => {
    const text = '{"model_type": "llama", "head_dim": 8, "rope_theta": 100}';
    for (const before of ["", "\n  ", "\uFEFF"]) {
      const { layers } = await explain(encode(before + text));
      expect(layers.all!.inverseFrequencies![1]).toBeCloseTo(100 ** -0.25, 12);
    }
  });

  it("are refused when they are nothing of the kind", async () => {
    for (const bytes of [
      new Uint8Array(),
      encode("hello"),
      encode("[1]"),
      encode("{"),
      new Uint8Array([123, 255, 254]),
    ])
      expect((await refusal(bytes)).code).toBe("format");
  });

  it("reach the explanation through lab.fromConfig, as bytes, text or object", async () => {
    const json = { model_type: "llama", head_dim: 8, rope_theta: 100 };
    const expected = explainConfig(json, { lab });
    expect(await lab.fromConfig(json)).toEqual(expected);
    expect(await lab.fromConfig(JSON.stringify(json))).toEqual(expected);
    expect(await lab.fromConfig(encode(JSON.stringify(json)))).toEqual(expected);
    await expect(lab.fromConfig({})).rejects.toThrow(PosLabError);
  });
});
