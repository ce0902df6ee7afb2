// SPDX-License-Identifier: MIT
// Reading model files: sources of every kind, quantised types, shards, llama2.c's layout. (Damaged files: hostile.test.ts.)

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type FileLike, openSource } from "../../../bindings/js/byte-source.js";
import type { StringArray } from "../../../bindings/js/gguf/cursor.js";
import { inspectModel } from "../../../bindings/js/models.js";
import { readGgufFile } from "../../../bindings/js/models/gguf-file.js";
import { openModelFiles } from "../../../bindings/js/models/model-files.js";
import { readSafetensorsFile } from "../../../bindings/js/models/safetensors-file.js";
import { readStored } from "../../../bindings/js/models/stored-tensor.js";
import { tensorTypes } from "../../../bindings/js/models/tensor-types.js";
import { writeSafetensors } from "../../../bindings/js/safetensors.js";
import type { Position } from "../../../bindings/js/types.js";
import { projectRoot } from "../shared.js";
import { GgufWriter, llama2cFile, readWhole, refusal } from "./files.js";

const folder = mkdtempSync(join(tmpdir(), "poslab-models-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fuzzFolder = join(projectRoot, "tests/fuzz");

describe("sources", () => {
  const bytes = writeSafetensors([["x", { data: Float32Array.of(1, 2, 3), shape: [3] }]]);

  it("give the same tensor from a path, a Blob, a File, an ArrayBuffer, bytes and a range reader", async () => {
    const path = join(folder, "x.safetensors");
    writeFileSync(path, bytes);
    const reads: [number, number][] = [];
    const reader = {
      name: "x.safetensors",
      size: bytes.length,
      read: async (begin: number, end: number) => {
        reads.push([begin, end]);
        return bytes.slice(begin, end);
      },
    };
    const part = bytes as Uint8Array<ArrayBuffer>;
    const files: FileLike[] = [
      path,
      new Blob([part]),
      new File([part], "x.safetensors"),
      part.slice().buffer,
      bytes,
      reader,
    ];
    for (const file of files) {
      const source = await openSource(file);
      const { tensors } = await readSafetensorsFile(source);
      expect([...(await readStored(tensors.get("x")!))]).toEqual([1, 2, 3]);
      await source.close();
    }
    // Only what was asked for: the length, the header, nothing behind the last tensor, the tensor.
    expect(reads.map(([begin, end]) => end - begin)).toEqual([8, bytes.length - 8 - 12, 12]);
  });

  it("say what is wrong with a path, a range reader that lies, and a type that is none", async () => {
    expect(await refusal(openSource(join(folder, "nowhere.gguf")))).toMatch(
      /nowhere\.gguf cannot be read: there is no such/,
    );
    const short = await openSource({ name: "short", size: 100, read: async () => new Uint8Array(3) });
    expect(await refusal(short.read(0, 8))).toBe("short: 3 bytes came where 8 were asked for");
    expect(await refusal(openSource(7 as unknown as FileLike))).toMatch(/files: 7 was given; a path, a File/);
  });

  it("stop reading when a signal has fired", async () => {
    const controller = new AbortController();
    controller.abort();
    const source = await openSource(bytes);
    await expect(readSafetensorsFile(source, controller.signal)).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("GGUF", () => {
  it("widens every quantised type as llama.cpp's own package does", async () => {
    const source = await openSource(readFileSync(join(fuzzFolder, "quantised.gguf")));
    const { tensors } = await readGgufFile(source);
    const names = [...tensors.keys()].filter((name) => !name.endsWith(".expected"));
    expect(names).toHaveLength(10);
    for (const name of names) {
      const tensor = tensors.get(name)!;
      expect(tensor.type).toBe(name);
      const numbers = await readStored(tensor);
      const expected = await readStored(tensors.get(`${name}.expected`)!);
      expect(numbers).toHaveLength(512);
      // There the products are rounded to float32 one by one, here once at the end.
      numbers.forEach((number, index) =>
        expect(Math.abs(number - expected[index]!)).toBeLessThanOrEqual(4e-7 * Math.max(1, Math.abs(expected[index]!))),
      );
    }
  });

  it("knows the size of every type, and refuses the numbers of those that it does not read", async () => {
    const unread = Object.entries(tensorTypes).filter(([, type]) => !("widen" in type));
    expect(unread.length).toBeGreaterThan(10);
    const file = {
      name: "x",
      type: "Q2_K" as const,
      shape: [256],
      source: await openSource(new Uint8Array(84)),
      begin: 0,
      end: 84,
    };
    expect(await refusal(readStored(file))).toMatch(/type Q2_K are not read; F64, F32, .*Q6_K are/);
  });

  it("keeps keys of every kind, texts as bytes until they are asked for", async () => {
    const bytes = new GgufWriter()
      .key("general.architecture", "llama")
      .key("llama.block_count", 2)
      .key("flag", true)
      .key("tokenizer.ggml.tokens", ["<s>", "", "\u2581the"])
      .file({ "a.weight": [2, 3] });
    const { metadata, tensors } = await readWhole(bytes, "gguf");
    expect(metadata.get("llama.block_count")).toBe(2);
    expect(metadata.get("flag")).toBe(true);
    expect([...(metadata.get("tokenizer.ggml.tokens") as StringArray)]).toEqual(["<s>", "", "\u2581the"]);
    expect(tensors.get("a.weight")!.shape).toEqual([2, 3]);
  });

  it("leaves the rotation out of every fourth layer of SmolLM 3, which no key says", async () => {
    const keys = {
      block_count: 4,
      embedding_length: 8,
      context_length: 16,
      feed_forward_length: 12,
      "attention.head_count": 2,
    };
    const writer = new GgufWriter()
      .key("general.architecture", "smollm3")
      .key("tokenizer.ggml.model", "gpt2")
      .key("tokenizer.ggml.tokens", ["a", "b", "c"])
      .key("tokenizer.ggml.merges", []);
    for (const [key, value] of Object.entries(keys)) writer.key(`smollm3.${key}`, value);
    const square = ["attn_q", "attn_k", "attn_v", "attn_output"].map((name) => [name, [8, 8]] as const);
    const layer = [...square, ...["attn_norm", "ffn_norm"].map((name) => [name, [8]] as const)];
    const wide = [
      ["ffn_gate", [12, 8]],
      ["ffn_up", [12, 8]],
      ["ffn_down", [8, 12]],
    ] as const;
    const tensors = [0, 1, 2, 3].flatMap((n) =>
      [...layer, ...wide].map(([name, shape]) => [`blk.${n}.${name}.weight`, shape] as const),
    );
    const file = writer.file({
      "token_embd.weight": [3, 8],
      "output_norm.weight": [8],
      ...Object.fromEntries(tensors),
    });
    const { architecture } = await inspectModel({ name: "smollm3.gguf", data: file });
    expect((architecture.decoder!.position as Position[]).map(({ type }) => type)).toEqual([
      "rope",
      "rope",
      "rope",
      "none",
    ]);
  });

  it("reads headers larger than its first window", async () => {
    const long = Array.from({ length: 3000 }, (_, index) => `${index}`.padStart(1000, "x"));
    const { metadata } = await readWhole(new GgufWriter().key("list", long).file({ x: [1] }), "gguf");
    expect((metadata.get("list") as StringArray).at(2999)).toBe(long[2999]);
  });
});

describe("llama2.c", () => {
  it("finds each tensor where its layout has it, with and without a classifier of its own", async () => {
    const tied = await readWhole(llama2cFile({}), "llama2.c");
    expect(tied.tensors.get("blk.1.attn_k.weight")!.shape).toEqual([4, 8]);
    // The embeddings, two norms, two matrices of queries, one of keys stand before it.
    expect((tied.tensors.get("blk.1.attn_k.weight")!.begin - 28) / 4).toBe(16 * 8 + 2 * 8 + 2 * 64 + 32);
    expect(tied.tensors.has("output.weight")).toBe(false);
    const own = await readWhole(llama2cFile({ vocabulary: -16 }), "llama2.c");
    expect(own.tensors.get("output.weight")!.shape).toEqual([16, 8]);
  });

  it("refuses sizes that do not make the file", async () => {
    expect(await refusal(readWhole(llama2cFile({}).slice(0, -4), "llama2.c"))).toMatch(
      /make a file of 4\d+ bytes, and it has/,
    );
    expect(await refusal(readWhole(llama2cFile({ heads: 3, dim: 9 }), "llama2.c"))).toMatch(/do not fit together/);
  });
});

describe("files of one model", () => {
  const shard = (name: string, value: number): { name: string; data: Uint8Array } => ({
    name: `model-0000${value}-of-00002.safetensors`,
    data: writeSafetensors([[name, { data: Float32Array.of(value), shape: [1] }]]),
  });
  const index = (weightMap: Record<string, string>): { name: string; data: Uint8Array } => ({
    name: "model.safetensors.index.json",
    data: new TextEncoder().encode(JSON.stringify({ weight_map: weightMap })),
  });
  const [first, second] = [shard("a", 1), shard("b", 2)];

  it("are put together from shards", async () => {
    const { weights } = await openModelFiles({ files: [second, first, index({ a: first.name, b: second.name })] });
    expect([...weights.tensors.keys()].sort()).toEqual(["a", "b"]);
  });

  it("are refused when a shard of the index is missing, or a tensor is there twice", async () => {
    const incomplete = openModelFiles({ files: [first, index({ a: first.name, b: second.name })] });
    expect(await refusal(incomplete)).toMatch(
      /names 1 tensors that are not in the files given, from model-00002-of-00002/,
    );
    expect(await refusal(openModelFiles({ files: [first, shard("a", 2)] }))).toMatch(/"a" is in model-00001-of-00002/);
  });

  it("are told apart by their content when they have no names", async () => {
    const config = new TextEncoder().encode('{"model_type":"llama"}');
    const found = await openModelFiles({ files: [config, first.data] });
    expect(found.config).toEqual({ model_type: "llama" });
    expect(found.weights.format).toBe("safetensors");
    expect((await openModelFiles({ files: llama2cFile({}) })).weights.format).toBe("llama2.c");
  });

  it("may have a config with the numbers that JSON has no names for", async () => {
    const config = { name: "config.json", data: new TextEncoder().encode('{ "time_step_limit": [0.0, Infinity] }') };
    expect((await openModelFiles({ files: [config, first.data] })).config).toEqual({ time_step_limit: [0, Infinity] });
  });

  it("are not read when they are PyTorch's own", async () => {
    const pickle = { name: "pytorch_model.bin", data: Uint8Array.of(0x50, 0x4b, 3, 4, 0) };
    expect(await refusal(openModelFiles({ files: pickle }))).toMatch(/save the weights as safetensors/);
  });

  it("must be one model", async () => {
    for (const name of ["a.gguf", "b.gguf"]) writeFileSync(join(folder, name), new GgufWriter().file());
    rmSync(join(folder, "x.safetensors"), { force: true });
    expect(await refusal(openModelFiles({ files: folder }))).toMatch(/has several models: a\.gguf, b\.gguf; name one/);
  });
});
