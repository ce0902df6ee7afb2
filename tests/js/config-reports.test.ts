// SPDX-License-Identifier: MIT
// Configs that other programs were reported to misread, with the report: what each means, computed in double by hand.

import { describe, expect, it } from "vitest";
import { explainConfig } from "../../bindings/js/config.js";
import { all, codes, llama, refusal } from "./config-explained.js";

const sizes = {
  hidden_size: 1024,
  num_attention_heads: 8,
  num_hidden_layers: 8,
  max_position_embeddings: 32768,
  rope_theta: 1e4,
};
/** The first letters of the kinds of the layers: a (all), f(ull), s(liding), n(o rope), l(inear). */
const letters = (config: object): string | undefined =>
  explainConfig(config)
    .layerTypes?.map((kind) => kind[0])
    .join("");

describe("layers", () => {
  const exaone = { ...sizes, model_type: "exaone4", sliding_window: 4096 };
  it.each<[string, object, string | undefined]>([
    // huggingface/transformers #39696: a pattern in letters, and its last layer always global
    ["EXAONE 4, a number", { ...exaone, sliding_window_pattern: 4 }, "aaafaaaf"],
    ["EXAONE 4, letters", { ...exaone, sliding_window_pattern: "LLLG" }, "aaafaaaf"],
    ["EXAONE 4, letters that do not fit", { ...exaone, sliding_window_pattern: "LLG" }, "aafaafaf"],
    // the same: without a window there is one kind of layer, and it rotates
    ["EXAONE 4 1.2B", { ...exaone, sliding_window: null, sliding_window_pattern: null }, undefined],
    ["Trinity", { ...sizes, model_type: "afmoe" }, "aaafaaaf"],
    ["Command R7B, the name of 2024", { ...sizes, model_type: "cohere2", layer_switch: 2 }, "afafafaf"],
  ])("%s", (_, config, kinds) => {
    expect(letters(config)).toBe(kinds);
    const { layers } = explainConfig(config);
    expect(layers.all!.position.type).toBe("rope");
    if (kinds) expect(layers.full_attention).toMatchObject({ position: { type: "none" }, window: null });
  });

  it("EXAONE 4 with other letters is refused by name", () => {
    expect(refusal({ ...exaone, sliding_window_pattern: "LLXG" }).argument).toBe("sliding_window_pattern");
    expect(all({ ...exaone, sliding_window: null, layer_types: Array(8).fill("full_attention") }).rotaryDim).toBe(128);
  });

  it("a window that reaches no layer is a caution", () => {
    // huggingface/transformers #40126: Qwen has a switch that is off by default, and a first layer that is 28
    const qwen = { ...sizes, model_type: "qwen3", sliding_window: 2048 };
    const said = (config: object): boolean => codes(explainConfig(config)).includes("window-without-effect");
    expect(said(qwen)).toBe(true);
    expect(said({ ...qwen, use_sliding_window: true })).toBe(true);
    expect(said({ ...qwen, use_sliding_window: true, max_window_layers: 4 })).toBe(false);
    expect(said({ ...qwen, use_sliding_window: false })).toBe(false);
  });
});

describe("windows", () => {
  it("are those of the layers that are listed as local", () => {
    // vllm-project/vllm #21863: a window that was of every layer, as of a model without such a list
    const listed = ["full_attention", "sliding_attention", "sliding_attention"];
    const ministral = { ...sizes, num_hidden_layers: 3, model_type: "ministral", sliding_window: 64 };
    expect(explainConfig({ ...ministral, layer_types: listed }).layers).toMatchObject({
      all: { window: null },
      sliding_attention: { window: 64 },
    });
    expect(all(ministral).window).toBe(64);
  });
});

describe("tables", () => {
  const places = (modelType: string, keys: object = {}) => {
    const { layers } = explainConfig({ hidden_size: 64, num_attention_heads: 2, model_type: modelType, ...keys });
    const { position, positionIds, causal, window } = layers.encoder ?? layers.sliding_attention ?? layers.all!;
    return { ...position, offset: positionIds.offset, policy: positionIds.policy, causal, window };
  };
  // huggingface/transformers #19240, #13481: BART's two rows before the first are not those of its followers
  it.each<[string, object, object]>([
    ["bart", { max_position_embeddings: 1024 }, { rows: 1026, offset: 2, policy: "plain" }],
    ["plbart", { max_position_embeddings: 1024 }, { rows: 1026, offset: 2, policy: "plain" }],
    ["blenderbot", {}, { rows: 128, offset: 0 }],
    ["blenderbot-small", { max_position_embeddings: 256 }, { rows: 256, offset: 0 }],
    ["blenderbot-small", {}, { rows: 512, offset: 0 }],
    ["bigbird_pegasus", {}, { rows: 4096, offset: 0 }],
    ["led", { attention_window: [1024, 1024] }, { rows: 16384, offset: 0, window: 1024, causal: false }],
    ["pegasus_x", {}, { type: "sinusoidal", denominator: "half-dim-minus-one", offset: 0 }],
    ["biogpt", {}, { rows: 1026, offset: 2, policy: "mask" }],
    ["lilt", { max_position_embeddings: 514 }, { rows: 514, offset: 2, policy: "mask" }],
    ["xglm", {}, { type: "sinusoidal", denominator: "half-dim-minus-one", offset: 2, causal: true }],
    ["ctrl", {}, { type: "sinusoidal", layout: "concatenated", offset: 0 }],
    ["openai-gpt", {}, { rows: 512 }],
    ["modernbert-decoder", {}, { type: "rope", causal: true, window: 64 }],
  ])("of %s %j", (modelType, keys, expected) => {
    expect(places(modelType, keys)).toMatchObject(expected);
  });
});

describe("rotations", () => {
  const rope = (config: object): object => all({ ...sizes, ...config }).position;

  it("of the weights as Meta and Mistral give them pair neighbours", () => {
    // jzhang38/TinyLlama #24, huggingface/nanotron #427: no key says so, and conversions reorder the rows
    const params = { dim: 2048, n_layers: 16, n_heads: 32, n_kv_heads: 8, norm_eps: 1e-5, rope_theta: 5e5 };
    expect(all(params).position).toEqual({ type: "rope", theta: 5e5, layout: "interleaved", rotaryDim: 64 });
    const scaled = explainConfig({ ...params, use_scaled_rope: true });
    expect(scaled.layers.all!.position).toMatchObject({
      scaling: { ropeType: "llama3", factor: 8, highFreqFactor: 4 },
    });
    expect(codes(scaled)).toEqual(["factor-built-in"]);
    const yarn = { factor: 16, original_max_position_embeddings: 16384, beta: 32, alpha: 1, apply_scale: false };
    expect(all({ ...params, head_dim: 128, yarn })).toMatchObject({
      position: { scaling: { ropeType: "yarn", factor: 16, betaFast: 32, betaSlow: 1 } },
      attentionFactor: 1,
    });
    expect(refusal({ ...params, yarn: { ...yarn, factor: "16" } }).argument).toBe("yarn.factor");
    // DistilBERT's files of 2019 have the same three sizes, and no model_type either
    const { norm_eps: _, rope_theta: __, ...sizesAlone } = params;
    const distilbert = { ...sizesAlone, architectures: ["DistilBertForMaskedLM"], max_position_embeddings: 512 };
    expect(all(distilbert)).toMatchObject({ position: { type: "learned", rows: 512 }, causal: false });
  });

  it("of params.json leave out the layers that it says, and its windows are those of its list", () => {
    const params = { dim: 1024, n_layers: 8, n_heads: 8, norm_eps: 1e-5, rope_theta: 5e5 };
    // Llama 4 Scout: every fourth layer sees everything, without positions, and is warmed up
    const scout = { ...params, nope_layer_interval: 4, attention_chunk_size: 8192, attn_temperature_tuning: true };
    expect(letters(scout)).toBe("aaanaaan");
    expect(explainConfig(scout).layers).toMatchObject({
      all: { position: { type: "rope" }, window: 8192, logitTemperature: null },
      no_rope: { position: { type: "none" }, window: null, logitTemperature: { length: 8192, first: 1 } },
    });
    expect(letters({ ...params, nope_layer_interval: null })).toBeUndefined();
    // vllm-project/vllm: the list is repeated, and null is no window
    const windows = { ...params, sliding_window: [null, 32768, 32768, 32768] };
    expect(letters(windows)).toBe("asssasss");
    expect(explainConfig(windows).layers).toMatchObject({
      all: { window: null },
      sliding_attention: { window: 32768, position: { layout: "interleaved" } },
    });
    expect(all({ ...params, sliding_window: [4096] }).window).toBe(4096);
    expect(all({ ...params, sliding_window: [null] }).window).toBeNull();
    expect(refusal({ ...params, sliding_window: [4096, 64] }).argument).toBe("sliding_window");
  });

  it("of a params.json with latent attention turn a part of the head", () => {
    // Mistral Large 3: no magnitude, and queries that are warmed up
    const large = {
      ...{ dim: 7168, n_layers: 4, n_heads: 128, head_dim: 128, norm_eps: 1e-6, rope_theta: 1e4 },
      ...{ qk_rope_head_dim: 64, qk_nope_head_dim: 128 },
      yarn: { original_max_position_embeddings: 8192, factor: 36, apply_scale: false, beta: 32, alpha: 1 },
      llama_4_scaling: { original_max_position_embeddings: 8192, beta: 0.1 },
    };
    expect(all(large)).toMatchObject({
      ...{ headDim: 192, rotaryDim: 64, attentionFactor: 1, softmaxScale: 192 ** -0.5 },
      logitTemperature: { type: "floor-log", length: 8192, scale: 0.1 },
    });
    const applied = all({ ...large, yarn: { ...large.yarn, apply_scale: true } });
    expect(applied).toMatchObject({ attentionFactor: 1 });
    expect(applied.softmaxScale).toBeCloseTo((1 + 0.1 * Math.log(36)) ** 2 / 192 ** 0.5, 12);
    expect(refusal({ ...large, llama_4_scaling: { ...large.llama_4_scaling, beta: "0.1" } }).argument).toBe(
      "llama_4_scaling.beta",
    );
  });

  it("Llama 4's llama3 scaling with equal factors is a step", () => {
    // Llama-4-Scout-17B-16E-Instruct's config.json: a division by zero in programs that blend (ggml-org/llama.cpp #8676 asserts on it)
    const scaling = { rope_type: "llama3", factor: 16, low_freq_factor: 1, high_freq_factor: 1 };
    const config = {
      ...{ ...sizes, model_type: "llama4_text", head_dim: 128, rope_theta: 5e5 },
      rope_scaling: { ...scaling, original_max_position_embeddings: 8192 },
    };
    const { inverseFrequencies } = all(config);
    expect(inverseFrequencies![34]).toBeCloseTo(9.384738703573802e-4, 14);
    expect(inverseFrequencies![35]).toBeCloseTo(4.7781061769823416e-5, 15);
    expect(inverseFrequencies![63]).toBeCloseTo(1.5344629944572555e-7, 17);
  });

  it("HunYuan's dynamic scaling with alpha is one theta for every length", () => {
    // vllm-project/vllm: DynamicNTKAlphaRotaryEmbedding; theta 1000^(128 / 126)
    const config = {
      ...{ ...sizes, model_type: "hunyuan_v1_dense", head_dim: 128 },
      rope_scaling: { type: "dynamic", alpha: 1000, factor: 1 },
    };
    for (const length of [0, 100_000]) {
      const { position, inverseFrequencies, sources } = all(config, { length });
      expect(position).toMatchObject({ theta: expect.closeTo(11158839.92507748, 6) as number });
      expect(position).not.toHaveProperty("scaling");
      expect(Object.keys(sources).filter((field) => field.startsWith("scaling."))).toEqual([]);
      expect(inverseFrequencies![1]).toBeCloseTo(0.7760343630469744, 12);
    }
  });

  it("ntk is the fixed form of vLLM and GTE", () => {
    // huggingface/transformers #48416: theta times the factor, and all frequencies divided by factor^(2 / r)
    const gte = { model_type: "new", hidden_size: 768, num_attention_heads: 12, max_position_embeddings: 8192 };
    const config = { ...gte, rope_theta: 20000, rope_scaling: { type: "ntk", factor: 8 } };
    const { inverseFrequencies, position } = all(config);
    for (const pair of [0, 1, 16, 31])
      expect(inverseFrequencies![pair]! / (160000 ** (-pair / 32) / 8 ** (1 / 32))).toBeCloseTo(1, 12);
    // the last is interpolated like all of position interpolation's
    expect(inverseFrequencies![31]! / 20000 ** (-31 / 32)).toBeCloseTo(1 / 8, 12);
    expect(position).toMatchObject({ theta: 160000 });
    const explanation = explainConfig(config);
    expect(explanation.usableLength).toBe(8192);
    // llama.cpp's converter passes it over, though it stands as linear here
    expect(explanation.differences).toContainEqual(expect.objectContaining({ software: "llama.cpp" }));
    expect(codes(explanation)).toEqual(["not-in-transformers", "old-spelling"].reverse());
  });

  it("Nomic's scaling stands beside the other keys, and follows the length", () => {
    // vllm-project/vllm #41236, #52665: one base for all lengths, and NaN below the trained one
    const nomic = {
      ...{ model_type: "nomic_bert", n_embd: 768, n_head: 12, n_layer: 12, n_positions: 8192 },
      ...{ rotary_emb_base: 1000, rotary_emb_fraction: 1.0, rotary_scaling_factor: 2, max_trained_positions: 2048 },
    };
    const second = (length: number): number => all(nomic, { length }).inverseFrequencies![1]!;
    for (const length of [0, 512, 2048]) expect(second(length)).toBeCloseTo(1000 ** (-1 / 32), 14);
    expect(second(8192)).toBeCloseTo((1000 * 7 ** (64 / 62)) ** (-1 / 32), 14);
    expect(explainConfig(nomic).usableLength).toBe(8192);
    expect(all({ ...nomic, rotary_scaling_factor: null }).position).not.toHaveProperty("scaling");
  });

  it.each<[string, object, object]>([
    // alibaba/MNN #4133, HabanaAI/vllm-fork #2117: Qwen3-VL interleaves its sections, whether a key says so or not
    ["qwen3_vl_text", { head_dim: 128, rope_scaling: { rope_type: "default", mrope_section: [24, 20, 20] } }, {}],
    ["qwen3_vl_text", { head_dim: 128 }, { sections: [24, 20, 20], sectionOrder: "interleaved" }],
    ["qwen3_omni_moe_text", { head_dim: 128 }, { sections: [24, 20, 20], sectionOrder: "interleaved" }],
    ["qwen3_5_text", {}, { sections: [11, 11, 10], sectionOrder: "interleaved", rotaryDim: 64 }],
    // Blaizzy/mlx-vlm #576: its forerunners do not
    ["qwen2_5_vl_text", {}, { sections: [16, 24, 24], sectionOrder: "contiguous" }],
    ["glm4v_text", {}, { sections: [8, 12, 12], sectionOrder: "contiguous", layout: "interleaved", rotaryDim: 64 }],
  ])("%s has the sections of its class: %j", (modelType, keys, position) => {
    expect(rope({ model_type: modelType, ...keys })).toMatchObject({
      ...(modelType.startsWith("qwen3") ? { sectionOrder: "interleaved" } : {}),
      ...position,
    });
  });

  it("a class that does not read the order of sections keeps its own, and says so", () => {
    // vllm-project/vllm-ascend #12765: for GLM the key was about lanes
    const glm = { ...sizes, model_type: "glm_ocr_text", rope_parameters: { mrope_interleaved: true } };
    expect(rope(glm)).toMatchObject({ sectionOrder: "contiguous", layout: "interleaved" });
    expect(codes(explainConfig(glm))).toContain("mrope-order");
  });

  it("sections that do not fill a small head are not made up", () => {
    expect(rope({ model_type: "qwen3_vl_text", head_dim: 32 })).not.toHaveProperty("sections");
  });

  it("latent heads follow rope_interleave, and scale only under a scaling", () => {
    const deepseek = { ...sizes, model_type: "deepseek_v3" };
    expect(all(deepseek).position).toMatchObject({ layout: "interleaved", rotaryDim: 64 });
    expect(all({ ...deepseek, rope_interleave: false }).position).toMatchObject({ layout: "half" });
    const keys = { factor: 40, mscale_all_dim: 1, original_max_position_embeddings: 4096 };
    expect(all({ ...deepseek, rope_parameters: { rope_type: "default", ...keys } }).softmaxScale).toBe(192 ** -0.5);
    // sqliteai/warp #27: Kimi Linear has the widths of a rotation, and none
    expect(all({ ...deepseek, model_type: "kimi_linear", mla_use_nope: true }).position).toEqual({ type: "none" });
  });

  it("MPT's scaling is among what it has for attention", () => {
    const mpt = (scaling: object): object =>
      rope({ model_type: "mpt", d_model: 1024, n_heads: 8, attn_config: { rope: true, rope_hf_config: scaling } });
    expect(mpt({ type: "linear", factor: 2 })).toMatchObject({ scaling: { ropeType: "linear", factor: 2 } });
    expect(mpt({ type: "no_scaling", factor: 1 })).not.toHaveProperty("scaling");
  });

  it("parts of heads, by each way of saying it", () => {
    // huggingface/transformers #48630; MiniMax M2's rotary_dim; Moonshine's 0.9 of 36 lanes, rounded down to 32
    expect(rope({ model_type: "gpt_neox_japanese", rotary_pct: 0.25 })).toMatchObject({ rotaryDim: 32 });
    expect(rope({ model_type: "minimax_m2" })).toMatchObject({ rotaryDim: 64 });
    // EXAONE 3's own class has the usual theta
    expect(rope({ model_type: "exaone", rope_theta: undefined })).toMatchObject({ theta: 10000 });
    const moonshine = { model_type: "moonshine", hidden_size: 288, decoder_num_attention_heads: 8 };
    const { layers } = explainConfig({ ...moonshine, encoder_num_attention_heads: 8 });
    expect(layers.encoder).toMatchObject({ position: { rotaryDim: 32, layout: "interleaved" }, causal: false });
    expect(layers.decoder).toMatchObject({ position: { rotaryDim: 32 }, causal: true });
    // OpenELM's name of theta
    expect(all({ model_type: "openelm", head_dim: 64, rope_freq_constant: 5000 }).position).toMatchObject({
      theta: 5000,
    });
  });
});

describe("texts", () => {
  // huggingface/transformers #42959, ai-dynamo/dynamo #3043: Python writes the limits of Mamba's steps in its own way
  const text = (more: string): string =>
    `{ "model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "rope_theta": 5000, ${more} }`;

  it("may say Infinity and NaN where nobody looks", () => {
    const config = text('"time_step_limit": [0.0, Infinity, -Infinity, NaN], "_name": "NaN \\" Infinity"');
    expect(explainConfig(config).layers.all!.position).toMatchObject({ theta: 5000 });
  });

  it.each(["Infinity", "-Infinity", "NaN"])("%s is refused by the key where it matters", (value) => {
    const { argument, message } = refusal(text(`"rope_scaling": { "rope_type": "linear", "factor": ${value} }`));
    expect([argument, message]).toEqual(["rope_scaling.factor", expect.stringContaining(`${value} was given`)]);
  });

  it("that are no JSON are refused as before", () => {
    const beside = ["Infinitys", "Infinity5", "5Infinity", "0.Infinity", "--Infinity", "-NaN"];
    for (const wrong of [
      ...beside.map((value) => text(`"a": ${value}`)),
      "{",
      text("Infinity"),
      text('"a": +Infinity'),
      text('"a": nan'),
    ])
      expect(refusal(wrong).code, wrong).toBe("format");
  });
});

describe("scales of scores", () => {
  it("hold without positions too", () => {
    const granite = { ...sizes, model_type: "granitemoehybrid", attention_multiplier: 0.0078125 };
    expect(all({ ...granite, position_embedding_type: "nope" })).toMatchObject({
      position: { type: "none" },
      softmaxScale: 0.0078125,
    });
  });

  it("of models that are not known are read from the keys of others", () => {
    const unknown = { ...sizes, model_type: "never-seen" };
    expect(all({ ...unknown, query_pre_attn_scalar: 224 }).softmaxScale).toBeCloseTo(224 ** -0.5, 12);
    expect(all({ ...unknown, attention_multiplier: 0.25 }).softmaxScale).toBe(0.25);
  });

  it("a divisor by layer is a caution", () => {
    // stanford-crfm/mistral #77
    const gpt2 = { ...sizes, model_type: "gpt2", scale_attn_by_inverse_layer_idx: true };
    expect(codes(explainConfig(gpt2))).toContain("scale-by-layer");
    expect(codes(explainConfig({ ...gpt2, scale_attn_by_inverse_layer_idx: false }))).not.toContain("scale-by-layer");
  });

  it("a soft cap is a caution: no scheme object has it", () => {
    // vllm-project/vllm-metal #665, kekzl/imp #688: dropped without a word
    const gemma2 = { ...sizes, model_type: "gemma2" };
    expect(codes(explainConfig(gemma2))).toContain("softcap");
    expect(codes(explainConfig({ ...gemma2, attn_logit_softcapping: null }))).not.toContain("softcap");
    expect(codes(explainConfig(llama))).not.toContain("softcap");
  });
});
