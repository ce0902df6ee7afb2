// SPDX-License-Identifier: MIT
// Every family against transformers: the checkpoints of tests/models (tests/reference/tiny_models.py makes them) with
// their reference logits and attention weights, from both spellings of their configs.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compareAll } from "../../../bindings/cli/model-check.js";
import { inspectModel, openModel } from "../../../bindings/js/models.js";
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
