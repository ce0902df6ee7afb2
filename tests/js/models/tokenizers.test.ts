// SPDX-License-Identifier: MIT
// Tokenizers: vocabularies inside GGUF and llama2.c files against a direct form of what those programs do, bytes, and
// text that comes token by token.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSource } from "../../../bindings/js/byte-source.js";
import type { StringArray } from "../../../bindings/js/gguf/cursor.js";
import { readGgufFile } from "../../../bindings/js/models/gguf-file.js";
import { tokenizerJson } from "../../../bindings/js/models/tokenizers/embedded-vocabulary.js";
import { ggufTokenizer } from "../../../bindings/js/models/tokenizers/gguf-tokenizer.js";
import { llama2cTokenizer } from "../../../bindings/js/models/tokenizers/llama2c-tokenizer.js";
import {
  byteTokenizer,
  type ModelTokenizer,
  symbolTokenizer,
  tokenizerFromJson,
} from "../../../bindings/js/models/tokenizers/tokenizer.js";
import { TextStream } from "../../../bindings/js/models/text-stream.js";
import { sharedFolder } from "../shared.js";

const shared = sharedFolder("data");
const text = "Once upon a time, there was a café 123 times!\n  def f(x): 你好 🙂";

/** llama2.c's encode: characters, bytes for unknown ones, then again and again the best-scored pair, the leftmost first. */
function mergeByScore(given: string, tokens: readonly string[], scores: ArrayLike<number>): number[] {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const list: number[] = [];
  for (const character of ` ${given}`.replaceAll(" ", "\u2581")) {
    const id = ids.get(character);
    if (id !== undefined) list.push(id);
    else for (const byte of new TextEncoder().encode(character)) list.push(byte + 3);
  }
  for (;;) {
    let best = -Infinity,
      at = -1,
      merged = -1;
    for (let index = 0; index + 1 < list.length; index += 1) {
      const id = ids.get(tokens[list[index]!]! + tokens[list[index + 1]!]!);
      if (id !== undefined && scores[id]! > best) [best, at, merged] = [scores[id]!, index, id];
    }
    if (at < 0) return list;
    list.splice(at, 2, merged);
  }
}

const sample = shared ? readFileSync(join(shared, "text/tinystories-v1-first50.txt"), "utf8").slice(0, 6000) : "";

describe.skipIf(!shared)("vocabularies of real models", () => {
  it.each(shared ? readdirSync(join(shared, "gguf")) : [])("%s gives a text back", async (name) => {
    const source = await openSource(join(shared!, "gguf", name));
    const { metadata } = await readGgufFile(source);
    await source.close();
    const { tokenizer } = ggufTokenizer(metadata);
    const back = tokenizer!.decode(tokenizer!.encode(text));
    // WordPiece loses case, accents and spaces.
    if (name.includes("bert")) expect(back).toMatch(/^once upon a time, there was a cafe 123 times!/);
    else expect(back).toBe(text);
  });

  it("encode as llama.cpp does: ids known from its own tests", async () => {
    const source = await openSource(join(shared!, "gguf/ggml-vocab-llama-spm.gguf"));
    const { metadata } = await readGgufFile(source);
    await source.close();
    const { tokenizer } = ggufTokenizer(metadata);
    expect([...tokenizer!.encode("Once upon a time")]).toEqual([1, 9038, 2501, 263, 931]);
    expect([...tokenizer!.encode("Hello world", { special: false })]).toEqual([15043, 3186]);
    const tokens = [...(metadata.get("tokenizer.ggml.tokens") as StringArray)];
    const direct = mergeByScore(sample.slice(0, 2000), tokens, metadata.get("tokenizer.ggml.scores") as Float32Array);
    expect([...tokenizer!.encode(sample.slice(0, 2000), { special: false })]).toEqual(direct);
  });

  it("of llama2.c agree with its own way of merging", () => {
    const bytes = readFileSync(join(shared!, "stories260K/tok512.bin"));
    const tokenizer = llama2cTokenizer(bytes, 512);
    const tokens = Array.from({ length: 512 }, (_, id) => tokenizer.token(id));
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const scores: number[] = [];
    for (let at = 4; at < bytes.length; at += 8 + view.getInt32(at + 4, true)) scores.push(view.getFloat32(at, true));
    expect([...tokenizer.encode(sample)]).toEqual([1, ...mergeByScore(sample, tokens, scores)]);
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    expect(() => llama2cTokenizer(bytes, 511)).toThrow(/it has 512 pieces, and the model 511 ids/);
    expect(() => llama2cTokenizer(bytes.subarray(0, 1000), 512)).toThrow(/llama2\.c tokenizer: (piece|the file)/);
  });
});

/** Bytes, letters, and a few merges. */
function small(): ModelTokenizer {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  const tokens = ["<unk>", "<s>", "</s>", ...bytes, "\u2581", "a", "b", "\u2581a", "ab", "\u2581ab"];
  const scores = tokens.map((_, id) => -id);
  const types = tokens.map((_, id) => (id === 1 || id === 2 ? 3 : 1));
  const { json } = tokenizerJson({ kind: "llama", tokens, scores, types, bos: 1, eos: 2, unknown: 0, addBos: true });
  return tokenizerFromJson(json, {}, { source: "test", bos: 1, eos: [2] });
}

describe("tokens to text", () => {
  it("merge the piece with the higher score first", () => {
    const tokenizer = small();
    // "\u2581a" (262) comes before "ab" (263): then "\u2581a" and "b" make "\u2581ab" (264).
    expect([...tokenizer.encode("ab")]).toEqual([1, 264]);
    expect([...tokenizer.encode("bab", { special: false })]).toEqual([259, 261, 263]);
    expect([...tokenizer.encode("é", { special: false })]).toEqual([259, 3 + 0xc3, 3 + 0xa9]);
    expect(tokenizer.ends).toEqual([2, 1]);
  });

  it("come piece by piece, a character only when all its bytes are there", () => {
    const tokenizer = small();
    const stream = new TextStream(tokenizer, Int32Array.of(1));
    const pieces = [...tokenizer.encode("ab é a", { special: false })].map((id) => stream.push(id));
    expect(pieces).toEqual(["ab", " ", "", "é", " a"]);
    expect(stream.text).toBe("ab é a");
    expect(stream.push(3 + 0xc3)).toBe("");
    expect(stream.end()).toBe("\ufffd");
  });

  it("are bytes where there is no tokenizer, and symbols of an experiment", () => {
    const bytes = byteTokenizer(256);
    expect(bytes.decode(bytes.encode("né"))).toBe("né");
    expect(bytes.cautions).toHaveLength(1);
    expect(() => byteTokenizer(96).encode("né")).toThrow(/text: "the byte 110 at 0" was given; a byte below 96/);
    const symbols = symbolTokenizer(["a", "b"], "characters", 3);
    expect([...symbols.encode("abc")]).toEqual([0, 1, 2]);
    expect(symbols.decode([1, 0, 2])).toBe("ba\ufffd");
    const task = symbolTokenizer(["a", "b"], "characters", 2);
    expect(task.vocabulary).toBe(2);
    expect([...task.encode("ab")]).toEqual([0, 1]);
    expect(() => task.encode("abc")).toThrow(/text: "c" was given; one of ab/);
  });

  it("of a damaged tokenizer.json are refused with its name", () => {
    expect(() => tokenizerFromJson({ model: { type: "Nonsense" } }, {}, { source: "tokenizer.json" })).toThrow(
      /tokenizer\.json: the tokenizer cannot be used/,
    );
  });
});
