// SPDX-License-Identifier: MIT
// GGUF metadata that programs were reported to misread, with the report: llama.cpp's own reading, computed by hand.

import { describe, expect, it } from "vitest";
import { explainConfig } from "../../bindings/js/config.js";
import { all, codes, lab } from "./config-explained.js";

/** The first letters of the kinds of the layers: a (all), f(ull), s(liding), n(o rope), l(inear). */
const letters = (config: object): string | undefined =>
  explainConfig(config)
    .layerTypes?.map((kind) => kind[0])
    .join("");

describe("GGUF metadata", () => {
  const gguf = (architecture: string, keys: object = {}): object => ({
    "general.architecture": architecture,
    ...Object.fromEntries(
      Object.entries({
        context_length: 32768,
        embedding_length: 1024,
        block_count: 8,
        "attention.head_count": 8,
        "rope.freq_base": 1e6,
        ...keys,
      }).map(([key, value]) => [`${architecture}.${key}`, value]),
    ),
  });
  const yarn = { "rope.scaling.type": "yarn", "rope.scaling.factor": 4, "rope.scaling.original_context_length": 8192 };
  const window = { "attention.sliding_window": 512 };

  it.each<[string, object, string | undefined]>([
    // timtoole02/Camelid #535: SmolLM3 has no key for its layers without positions
    ["smollm3", {}, "aaanaaan"],
    ["llama4", {}, "aaanaaan"],
    ["exaone4", window, "aaafaaaf"],
    ["exaone4", {}, undefined],
    ["cohere2", window, "aaafaaaf"],
    ["gemma3", window, "sssssfss"],
    ["gemma3n", window, "ssssfsss"],
    ["modern-bert", window, "fssfssfs"],
    ["qwen3next", {}, "lllallla"],
    // ggml-org/llama.cpp #17597, #26286: listed layer by layer, or a period
    ["gemma3", { ...window, "attention.sliding_window_pattern": [1, 1, 0, 1, 1, 0, 1, 0] }, "ssfssfsf"],
    ["gemma3", { ...window, "attention.sliding_window_pattern": 3 }, "ssfssfss"],
    ["qwen3", { ...window, "attention.sliding_window_pattern": [true, false] }, "sa"],
  ])("%s %j has these layers", (architecture, keys, kinds) => {
    expect(letters(gguf(architecture, keys))).toBe(kinds);
  });

  it.each<[string, object, object]>([
    // llama_model_rope_type
    ["orion", {}, { position: { layout: "half" } }],
    ["plamo", {}, { position: { layout: "half" } }],
    ["glm4", {}, { position: { layout: "interleaved" } }],
    ["deepseek2-ocr", { "attention.key_length": 128 }, { position: { layout: "half" }, rotaryDim: 128 }],
    ["qwen2vl", { "rope.dimension_sections": [16, 24, 24, 0] }, { position: { sections: [16, 24, 24] } }],
    ["qwen3vl", { "rope.dimension_sections": [24, 20, 20, 0] }, { position: { sectionOrder: "interleaved" } }],
    ["baichuan", {}, { position: { type: "rope" } }],
    ["baichuan", { block_count: 40 }, { position: { type: "alibi" } }],
    ["mpt", { "attention.max_alibi_bias": 0 }, { position: { type: "learned" } }],
    ["kimi-linear", {}, { position: { type: "none" } }],
    ["jais", {}, { softmaxScale: 1 / 128 }],
    ["nomic-bert", {}, { causal: false }],
    // llama.cpp's Phi-4: a window of 0 is none
    ["phi3", { "attention.sliding_window": 0 }, { window: null }],
    // Granite 4: what is named after fine-tuning is the switch of the rotation
    ["granitehybrid", { "rope.scaling.finetuned": false }, { position: { type: "none" } }],
    ["granitehybrid", { "rope.scaling.finetuned": true }, { position: { type: "rope", layout: "interleaved" } }],
    ["granite", { "attention.scale": 0.015625 }, { position: { type: "rope" }, softmaxScale: 0.015625 }],
    ["granite", { "attention.scale": 0 }, { softmaxScale: 1 / Math.sqrt(128) }],
    // oobabooga/textgen #3877: the name of 2023; a factor alone is linear, and 0 is none
    ["llama", { "rope.scale_linear": 4 }, { position: { scaling: { ropeType: "linear", factor: 4 } } }],
    ["llama", { "rope.scaling.factor": 4 }, { position: { scaling: { ropeType: "linear", factor: 4 } } }],
    ["qwen2", yarn, { attentionFactor: 1.138629436111989 }],
    ["qwen2", { ...yarn, "rope.scaling.attn_factor": 0.5 }, { attentionFactor: 0.5693147180559945 }],
    ["qwen2", { ...yarn, "rope.scaling.yarn_attn_factor": 0.5 }, { attentionFactor: 0.5693147180559945 }],
    ["mistral3", { ...yarn, "rope.scaling.yarn_log_multiplier": 1 }, { attentionFactor: 1 }],
  ])("%s %j", (architecture, keys, layer) => {
    expect(all(gguf(architecture, keys))).toMatchObject(layer);
  });

  it.each([
    [{ "rope.scaling.type": "linear", "rope.scaling.factor": 0 }],
    [{ "rope.scaling.type": "none", "rope.scaling.factor": 4 }],
    [{ "rope.scaling.original_context_length": 4096 }],
  ])("%j scales nothing, and nothing of it is old", (keys) => {
    const explanation = explainConfig(gguf("llama", keys));
    expect(explanation.layers.all!.position).not.toHaveProperty("scaling");
    expect(codes(explanation)).toEqual([]);
  });

  it("DeepSeek's heads are the rotated lanes and the rest, whatever the cache holds", () => {
    // ggml-org/llama.cpp #17945: yarn_log_multiplier is 0.1 mscale_all_dim
    const keys = {
      ...{ "rope.dimension_count": 64, "attention.key_length": 192, ...yarn, "rope.scaling.factor": 40 },
      "rope.scaling.yarn_log_multiplier": 0.1,
    };
    for (const more of [{}, { "attention.key_length": 576, "attention.key_length_mla": 192 }])
      expect(all(gguf("deepseek2", { ...keys, ...more }))).toMatchObject({
        rotaryDim: 64,
        headDim: 192,
        attentionFactor: 1,
        softmaxScale: expect.closeTo(0.13523377886, 10) as number,
      });
  });

  it("Gemma's largest scale by the model's width shared out", () => {
    // ggml-org/llama.cpp #13951, antonellof/ferrox #40
    const scale = (architecture: string, keys: object): number =>
      Object.values(
        explainConfig(gguf(architecture, { "attention.head_count": 32, "attention.key_length": 128, ...keys })).layers,
      )[0]!.softmaxScale!;
    expect(scale("gemma3", { block_count: 62, embedding_length: 5376 })).toBeCloseTo(168 ** -0.5, 12);
    expect(scale("gemma2", { block_count: 46, embedding_length: 4608 })).toBeCloseTo(1 / 12, 12);
    expect(scale("gemma3", { block_count: 48, embedding_length: 3840 })).toBeCloseTo(128 ** -0.5, 12);
  });

  it("has the soft cap of scores", () => {
    const cautions = codes(explainConfig(gguf("gemma2", { attn_logit_softcapping: 50 })));
    expect(cautions).toContain("softcap");
    expect(codes(explainConfig(gguf("gemma2", { final_logit_softcapping: 30 })))).not.toContain("softcap");
  });

  it("means what the config of the same model means", () => {
    const config = {
      model_type: "qwen2",
      hidden_size: 1024,
      num_attention_heads: 8,
      rope_theta: 1e6,
      rope_scaling: { rope_type: "linear", factor: 4 },
    };
    const metadata = gguf("qwen2", { "rope.scaling.type": "linear", "rope.scaling.factor": 4 });
    const of = (json: object): number[] => explainConfig(json, { lab }).layers.all!.inverseFrequencies!;
    expect(of(metadata)).toEqual(of(config));
  });
});
