// SPDX-License-Identifier: MIT
// `poslab convert`: there and back is the same file, the config beside the weights says the heads, and nothing is left
// behind where it fails.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeSafetensors } from "../../bindings/js/safetensors.js";
import { poslab, temporaryFolder } from "./support.js";

const folder = temporaryFolder();
const path = (...names: string[]): string => join(folder, ...names);
mkdirSync(path("model"));
const numbers = (count: number): Float32Array => Float32Array.from({ length: count }, (_, index) => Math.sin(index));
writeFileSync(
  path("model", "model.safetensors"),
  writeSafetensors([
    ["model.layers.0.self_attn.q_proj.weight", { data: numbers(16 * 16), shape: [16, 16] }],
    ["model.layers.0.self_attn.v_proj.weight", { data: numbers(8 * 16), shape: [8, 16] }],
  ]),
);
writeFileSync(
  path("model", "config.json"),
  JSON.stringify({ model_type: "llama", hidden_size: 16, num_attention_heads: 2, rope_theta: 10000 }),
);
const weights = path("model", "model.safetensors");

describe("convert", () => {
  test("there and back is the same file", async () => {
    const there = await poslab(["convert", weights, path("there.safetensors"), "--to", "interleaved"]);
    expect(there).toMatchObject({ status: 0, stderr: "" });
    expect(there.stdout).toContain("1 tensors");
    expect(readFileSync(path("there.safetensors"))).not.toEqual(readFileSync(weights));
    const words = ["convert", path("there.safetensors"), path("back.safetensors"), "--to", "half", "--head-dim", "8"];
    expect((await poslab(words)).status).toBe(0);
    expect(readFileSync(path("back.safetensors"))).toEqual(readFileSync(weights));
  });

  test("says when the config has that layout already", async () => {
    const { status, stderr } = await poslab(["convert", weights, path("half.safetensors"), "--to", "half"]);
    expect(status).toBe(0);
    expect(stderr).toContain("llama has the layout half");
  });

  test("refuses what cannot be done, and leaves no half file", async () => {
    const before = readdirSync(folder);
    writeFileSync(path("broken.safetensors"), "nothing");
    for (const [words, message] of [
      [[weights, weights, "--to", "half"], "another name"],
      [[path("broken.safetensors"), path("out.safetensors"), "--to", "half", "--head-dim", "8"], "safetensors"],
      [[path("there.safetensors"), path("out.safetensors"), "--to", "half"], "config.json"],
      [[weights, path("out.safetensors"), "--to", "half", "--head-dim", "7"], "rotaryDim"],
      [[weights, path("out.safetensors"), "--to", "sideways"], "sideways"],
    ] as const) {
      const { status, stderr } = await poslab(["convert", ...words]);
      expect(status).toBe(2);
      expect(stderr).toContain(message);
    }
    expect(readdirSync(folder).sort()).toEqual([...before, "broken.safetensors"].sort());
  });
});
