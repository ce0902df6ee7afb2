// SPDX-License-Identifier: MIT
// `poslab model`, `perplexity` and `generate`: what they print, where, and how they end. Their numbers are tested with the
// package (tests/js/models).

import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { llama2cFile } from "../js/models/files.js";
import { sharedFolder } from "../js/shared.js";
import { poslab, temporaryFolder } from "./support.js";

const folder = temporaryFolder();
const file = join(folder, "tiny.bin");
writeFileSync(
  file,
  llama2cFile({ dim: 8, hidden: 12, layers: 2, heads: 2, keyValueHeads: 1, vocabulary: 256, length: 16 }),
);
const text = join(folder, "text.txt");
writeFileSync(text, "to be or not to be, that is the question ".repeat(8));
const models = sharedFolder("data/models");

describe("model", () => {
  test("says what a file is without reading its weights", async () => {
    const { status, stdout, stderr } = await poslab(["model", file]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^model +llama: LLaMA/);
    expect(stdout).toMatch(/\nstack +2 layers, 2 heads \(1 of keys and values\) of 4, feed-forward 12 gated silu/);
    expect(stdout).toMatch(/\npositions +rope, theta 10000, interleaved layout/);
    expect(stdout).toMatch(/\ncaution +there is no tokenizer/);
    const json = JSON.parse((await poslab(["model", file, "--json"])).stdout) as { parameters: number };
    expect(json.parameters).toBeGreaterThan(2000);
  });

  test("describes a model that is too large to open, and refuses to open it before it is read", async () => {
    const place = join(folder, "large");
    const dim = 8192;
    const vocabulary = 200_000;
    const config = { model_type: "llama", hidden_size: dim, vocab_size: vocabulary, intermediate_size: 8 };
    mkdirSync(place);
    writeFileSync(
      join(place, "config.json"),
      JSON.stringify({ ...config, num_attention_heads: 64, num_hidden_layers: 1, max_position_embeddings: 4096 }),
    );
    const block = "model.layers.0.";
    const shapes: Record<string, number[]> = {
      "model.embed_tokens.weight": [vocabulary, dim],
      "model.norm.weight": [dim],
      "lm_head.weight": [vocabulary, dim],
      [`${block}input_layernorm.weight`]: [dim],
      [`${block}post_attention_layernorm.weight`]: [dim],
      ...Object.fromEntries(["q", "k", "v", "o"].map((name) => [`${block}self_attn.${name}_proj.weight`, [dim, dim]])),
      [`${block}mlp.gate_proj.weight`]: [8, dim],
      [`${block}mlp.up_proj.weight`]: [8, dim],
      [`${block}mlp.down_proj.weight`]: [dim, 8],
    };
    let end = 0;
    const entries = Object.entries(shapes).map(([name, shape]) => {
      const begin = end;
      end += 2 * shape.reduce((product, extent) => product * extent, 1);
      return [name, { dtype: "F16", shape, data_offsets: [begin, end] }];
    });
    const header = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
    const weights = join(place, "model.safetensors");
    writeFileSync(weights, new Uint8Array(BigUint64Array.of(BigInt(header.length)).buffer));
    appendFileSync(weights, header);
    truncateSync(weights, 8 + header.length + end); // 7 GB of a hole
    const { status, stdout } = await poslab(["model", place]);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /\nmemory +13\.2 GiB for the weights, .* it cannot be opened: at most 4\.0 GiB can be addressed/,
    );
    const refused = await poslab(["generate", place, "--prompt", "x"]);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toMatch(/the weights would take 13\.2 GiB as float32; 4\.0 GiB can be addressed/);
  });

  test.skipIf(!models)("--check compares with the reference, one line a tensor, and fails with status 1", async () => {
    const llama = join(models!, "llama");
    const good = await poslab(["model", llama, "--config", join(llama, "config.v4.json"), "--check"]);
    expect(good.stdout).toMatch(
      /^pass {2}expected\.logits {2}absolute [^\n]+\n(pass [^\n]+\n){4}5 passed, 0 failed\n$/,
    );
    expect(good.status).toBe(0);
    const config = JSON.parse(readFileSync(join(llama, "config.json"), "utf8")) as { rope_parameters: object };
    const wrong = join(folder, "config.json");
    writeFileSync(wrong, JSON.stringify({ ...config, rope_parameters: { rope_theta: 9000, rope_type: "default" } }));
    const bad = await poslab(["model", llama, "--config", wrong, "--check"]);
    expect(bad.stdout).toMatch(/\nfail {2}long\.logits {2}absolute [^\n]+0\.001 is allowed\n/);
    expect(bad.status).toBe(1);
  });

  test.each([
    [["model", join(folder, "nowhere")], /nowhere cannot be read: there is no such file or folder/],
    [["model", text], /text\.txt is none of a model: neither safetensors, GGUF nor llama2\.c by its first bytes/],
    [["model", file, "--check"], /option '--check': there is no .*reference\.safetensors/],
    [["perplexity", file], /required option '--text <file>' not specified/],
    [["perplexity", file, "--text", text, "--override", "yearn:4"], /option '--override': override: "yearn:4"/],
    [
      ["perplexity", file, "--text", text, "--override", "yarn:0"],
      /option '--override': .*factor: 0 was given; a number/,
    ],
    [["perplexity", file, "--text", text, "--override", "window:-1"], /option '--override': window: -1 was given/],
    [["generate", file, "--override", '{"type":"ropee"}'], /option '--override': .*did you mean "rope"\?/],
    [["generate", file, "--override", "t5"], /option '--override': position\.table is missing/],
    [
      ["perplexity", file, "--text", text, "--lengths", "9999"],
      /option '--lengths': 9999 was given, and the text has 327 tokens/,
    ],
    [["generate", file, "--top-p", "0"], /'--top-p <P>'.*a number larger than 0/],
  ])("%j is refused in one line", async (words, message) => {
    const { status, stdout, stderr } = await poslab([...words, ...(words[0] === "generate" ? ["--quiet"] : [])]);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  });
});

describe("perplexity", () => {
  test("prints a table, and writes loss by position as CSV and SVG", async () => {
    const [csv, svg] = [join(folder, "loss.csv"), join(folder, "loss.svg")];
    const words = ["perplexity", file, "--text", text, "--lengths", "16,64", "--windows", "2", "--quiet"];
    const { status, stdout } = await poslab([
      ...words,
      "--override",
      "linear:4",
      "--override",
      '{"type":"alibi"}',
      "--csv",
      csv,
      "--svg",
      svg,
    ]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/\npositions +L = 16 +64\nas trained +[\d.]+ \(\d+\)/);
    expect(stdout).toMatch(/\nlinear:4 /);
    expect(readFileSync(csv, "utf8").split("\n")).toHaveLength(1 + 3 * (15 + 63) + 1);
    expect(readFileSync(svg, "utf8")).toMatch(/^<svg[^]*linear:4[^]*<\/svg>\s*$/);
    const { results } = JSON.parse((await poslab([...words, "--json"])).stdout) as {
      results: { length: number; loss: number; byPosition: number[] }[];
    };
    expect(results.map(({ length, byPosition }) => [length, byPosition.length])).toEqual([
      [16, 15],
      [64, 63],
    ]);
    const mean = results[1]!.byPosition.reduce((sum, loss) => sum + loss, 0) / 63;
    expect(mean).toBeCloseTo(results[1]!.loss, 9);
  });
});

describe("generate", () => {
  test("writes the text alone to standard output", async () => {
    const words = ["generate", file, "--prompt", "to be", "--tokens", "4"];
    const { status, stdout, stderr } = await poslab(words);
    expect(status).toBe(0);
    expect(stdout.startsWith("to be")).toBe(true);
    expect(stderr).toMatch(/for the weights/);
    expect((await poslab([...words, "--quiet"])).stderr).toBe("");
  });
});
