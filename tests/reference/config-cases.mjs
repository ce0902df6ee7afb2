// SPDX-License-Identifier: MIT
// Makes the cases tests/cases/config-*.safetensors: position keys of real configs, with the frequencies that transformers
// 5.24 computes for them in float32 (hence the tolerance), as they stand in the shared data/configs/expected.json.
//
//   node tests/reference/config-cases.mjs ../shared/data/configs

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeSafetensors } from "../../dist/js/index.js";

const keys = [
  "model_type",
  "hidden_size",
  "num_attention_heads",
  "num_hidden_layers",
  "head_dim",
  "max_position_embeddings",
  "original_max_position_embeddings",
  "rope_theta",
  "rope_local_base_freq",
  "rope_scaling",
  "rotary_pct",
  "rotary_emb_base",
  "partial_rotary_factor",
  "qk_nope_head_dim",
  "qk_rope_head_dim",
  "sliding_window",
  "sliding_window_pattern",
];
const rows = [
  ["gpt-neox-20b"],
  ["pythia-410m"],
  ["stablelm-3b"],
  ["minicpm3-4b"],
  ["gpt-oss-20b"],
  ["deepseek-v3"],
  ["qwen2.5-7b-yarn-131k"],
  ["llama-3.2-1b"],
  ["gemma-3-1b", "full_attention"],
  ["gemma-3-1b", "sliding_attention"],
];

const folder = process.argv[2];
const expected = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
for (const [name, layerType] of rows) {
  const whole = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
  const config = Object.fromEntries(keys.filter((key) => key in whole).map((key) => [key, whole[key]]));
  const { inverseFrequencies, attentionFactor } = expected[`${name}.json`].layers[layerType ?? "all"];
  const full = `config-${name}${layerType ? `-${layerType.split("_")[0]}` : ""}`;
  const description = {
    name: full,
    op: "config",
    source: "transformers 5.24",
    config,
    ...(layerType ? { layerType } : {}),
    tolerance: { absolute: 0, relative: 2e-6 },
  };
  const tensor = (numbers) => ({ data: Float64Array.from(numbers), shape: [numbers.length] });
  const tensors = [
    ["expected.inverseFrequencies", tensor(inverseFrequencies)],
    ["expected.attentionFactor", tensor([attentionFactor])],
  ];
  const file = new URL(`../cases/${full}.safetensors`, import.meta.url);
  writeFileSync(file, writeSafetensors(tensors, { case: JSON.stringify(description) }));
}
