// SPDX-License-Identifier: MIT
// Every family against transformers: the checkpoints of tests/models (tests/reference/tiny_models.py makes them) with
// their reference logits and attention weights, from both spellings of their configs.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compareAll } from "../../../bindings/cli/model-check.js";
import { inspectModel, openModel, parseOverride, type PositionOverride } from "../../../bindings/js/models.js";
import { readSafetensors } from "../../../bindings/js/safetensors.js";

type Json = Record<string, unknown>;

const folder = join(import.meta.dirname, "../../models");
const names = readdirSync(folder).sort();
const configOf = (name: string): Json => JSON.parse(readFileSync(join(folder, name, "config.json"), "utf8")) as Json;

/** As transformers 4 spells it, which most published checkpoints have. */
function inOldSpelling({ rope_parameters: rope, dtype, ...config }: Json): Json {
  const { rope_theta, rope_type, partial_rotary_factor, ...scaling } = rope as Json;
  const isNeox = config.model_type === "gpt_neox";
  return {
    ...config,
    torch_dtype: dtype,
    [isNeox ? "rotary_emb_base" : "rope_theta"]: rope_theta,
    ...(partial_rotary_factor === undefined
      ? {}
      : { [isNeox ? "rotary_pct" : "partial_rotary_factor"]: partial_rotary_factor }),
    rope_scaling: rope_type === "default" ? null : { type: rope_type, ...scaling },
  };
}

async function check(name: string, config: Json): Promise<void> {
  const model = await openModel(join(folder, name), { config });
  const reference = readSafetensors(readFileSync(join(folder, name, "reference.safetensors")));
  const lines = [...compareAll(model, reference)];
  model.dispose();
  const wanted = [...reference.tensors.keys()].filter((tensor) => /logits$|ttention\.\d+$/.test(tensor));
  expect(lines.map((line) => line.name).sort()).toEqual(wanted.sort());
  for (const line of lines) expect(line).toMatchObject({ passed: true });
}

describe("families", () => {
  it.each(names)("%s has the logits and attention weights of its reference", (name) => check(name, configOf(name)));

  it.each(names.filter((name) => "rope_parameters" in configOf(name)))("%s has them in the old spelling too", (name) =>
    check(name, inOldSpelling(configOf(name))),
  );

  it("say what is not supported by its name", async () => {
    const config = { ...configOf("phi"), model_type: "phimoe" };
    await expect(inspectModel(join(folder, "phi"), { config })).rejects.toThrow(
      /the model type "phimoe" is not supported; the nearest that is: "phi/,
    );
    const switches: [string, Json, RegExp][] = [
      ["cohere", { use_qk_norm: true }, /use_qk_norm is true; false is allowed/],
      ["stablelm", { qk_layernorm: true }, /qk_layernorm is true; false is allowed/],
      ["opt", { do_layer_norm_before: false }, /do_layer_norm_before is false; true is allowed/],
      ["qwen3", { hidden_act: "swoosh" }, /hidden_act/],
      ["mistral", { hidden_size: 1e300 }, /hidden_size is 1e\+300; a whole number, 1 or larger, is allowed/],
      ["mistral", { num_hidden_layers: -2 }, /num_hidden_layers: -2 was given/],
      ["mistral", { num_attention_heads: 2 ** 31 }, /num_attention_heads|heads/],
      ["mistral", { vocab_size: "24" }, /vocab_size is "24"/],
      ["mistral", { vocab_size: null }, /vocab_size is missing/],
    ];
    for (const [name, change, message] of switches)
      await expect(inspectModel(join(folder, name), { config: { ...configOf(name), ...change } })).rejects.toThrow(
        message,
      );
  });
});

// A checkpoint whose config says so from the beginning is what an override must give.
describe("an override gives the logits of the config that says the same", () => {
  const ids = Array.from({ length: 24 }, (_, place) => (7 * place + 3) % 24);
  const rope = (more: Json): Json => ({ rope_parameters: { rope_theta: 10000, rope_type: "default", ...more } });
  const yarn = { rope_type: "yarn", factor: 4, original_max_position_embeddings: 16 };
  const llama3 = { rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4 };
  const rows: [string, PositionOverride, Json][] = [
    ["mistral", parseOverride("theta:500"), rope({ rope_theta: 500 })],
    ["mistral", parseOverride("window:3"), { sliding_window: 3 }],
    ["mistral", parseOverride("window:0"), { sliding_window: null }],
    ["qwen2", parseOverride("linear:4"), rope({ rope_type: "linear", factor: 4 })],
    ["qwen2", parseOverride("dynamic:2"), rope({ rope_type: "dynamic", factor: 2 })],
    ["qwen2", parseOverride("yarn:4"), rope(yarn)],
    ["qwen2", parseOverride("llama3:8"), rope({ ...llama3, original_max_position_embeddings: 16 })],
    ["qwen2", parseOverride("theta:90+linear:3"), rope({ rope_theta: 90, rope_type: "linear", factor: 3 })],
    ["llama-yarn", parseOverride('{"scaling":null}'), rope({ rope_theta: 100 })],
    ["smollm3", parseOverride("theta:300"), rope({ rope_theta: 300 })],
    ["smollm3", parseOverride("none"), { no_rope_layers: [0, 0, 0, 0] }],
    ["qwen2-windows", parseOverride("theta:300"), rope({ rope_theta: 300 })],
    // Falcon scales its biases with the logits, by 1/2 here.
    ["falcon-7b", { position: { type: "alibi", slopes: [1, 2, 3, 4].map((head) => 4 ** -head / 2) } }, { alibi: true }],
  ];

  it.each(rows)("%s under %j", async (name, override, change) => {
    const [model, other] = [
      await openModel(join(folder, name)),
      await openModel(join(folder, name), { config: { ...configOf(name), ...change } }),
    ];
    const own = model.logits(ids).data;
    const got = model.logits(ids, { override }).data;
    const wanted = other.logits(ids).data;
    const apart = (a: Float32Array, b: Float32Array): number =>
      a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - b[index]!)), 0);
    expect(apart(got, wanted)).toBeLessThan(1e-5);
    expect(apart(got, own)).toBeGreaterThan(1e-3);
    expect(model.logits(ids).data).toEqual(own);
    model.dispose();
    other.dispose();
  });

  it("and changes of layout, slopes and ids as they are defined", async () => {
    const bloom = await openModel(join(folder, "mpt"));
    const short = ids.slice(0, 12);
    const own = bloom.logits(short).data;
    expect(bloom.logits(short, { override: { slopes: "standard" } }).data).toEqual(own);
    expect(bloom.logits(short, { override: { slopes: [0, 0, 0] } }).data).toEqual(
      bloom.logits(short, { override: { position: { type: "none" } } }).data,
    );
    bloom.dispose();
    // Only distances count for a rotation; a learned table is read further down.
    const gpt2 = await openModel(join(folder, "gpt2-untied"));
    const shifted = gpt2.logits(short, { override: { shift: 2 } }).data;
    expect(shifted).toEqual(gpt2.logits(short, { positions: short.map((_, place) => place + 2) }).data);
    expect(shifted).not.toEqual(gpt2.logits(short).data);
    expect(() => gpt2.logits(short, { override: { shift: 5 } })).toThrow(/16/);
    gpt2.dispose();
    const phi = await openModel(join(folder, "phi"));
    const turned = phi.logits(short, { override: { layout: "interleaved" } }).data;
    expect(turned).not.toEqual(phi.logits(short).data);
    expect(phi.logits(short, { override: { layout: "half" } }).data).toEqual(phi.logits(short).data);
    phi.dispose();
  });
});
