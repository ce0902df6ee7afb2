// SPDX-License-Identifier: MIT
// Explaining configs of every family, and configs that are wrong: numbers in other clothes, odd keys, anything at all.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { explainConfig } from "../../bindings/js/config.js";
import { PosLabError, type Position } from "../../bindings/js/index.js";
import { all, codes, lab, llama, refusal } from "./config-explained.js";

describe("families", () => {
  it.each([
    ["bert", { max_position_embeddings: 512 }, { type: "learned", rows: 512 }, 512],
    ["roberta", { max_position_embeddings: 514, pad_token_id: 1 }, { type: "learned", rows: 514, offset: 2 }, 512],
    ["xlm-roberta", { max_position_embeddings: 514, pad_token_id: 3 }, { type: "learned", rows: 514, offset: 4 }, 510],
    ["opt", { max_position_embeddings: 2048, pad_token_id: 1 }, { type: "learned", rows: 2050, offset: 2 }, 2048],
    ["gpt2", { n_positions: 1024 }, { type: "learned", rows: 1024 }, 1024],
    ["bloom", { n_head: 12 }, { type: "alibi", slopes: "standard" }, null],
    [
      "mpt",
      { n_heads: 12, attn_config: { alibi: true, alibi_bias_max: 8 } },
      { type: "alibi", slopes: "standard" },
      null,
    ],
    [
      "gptj",
      { rotary_dim: 64, hidden_size: 4096, num_attention_heads: 16 },
      { type: "rope", layout: "interleaved", rotaryDim: 64 },
      2048,
    ],
    ["vit", { image_size: 224, patch_size: 16 }, { type: "learned", rows: 197 }, 197],
    ["dinov2", { image_size: 518, patch_size: 14 }, { type: "learned", rows: 1370 }, 1370],
    ["transfo-xl", { clamp_len: 1000 }, { type: "transformer-xl", clampLength: 1000 }, null],
    [
      "mpnet",
      { max_position_embeddings: 514, relative_attention_num_buckets: 32 },
      { type: "t5", buckets: 32, maxDistance: 128, bidirectional: true },
      null,
    ],
    ["baichuan", { num_hidden_layers: 32, max_position_embeddings: 4096 }, { type: "rope", theta: 10000 }, 4096],
    ["baichuan", { num_hidden_layers: 40 }, { type: "alibi", slopes: "standard" }, null],
    ["nomic_bert", { rotary_emb_base: 1000, n_positions: 8192 }, { type: "rope", theta: 1000, rotaryDim: 32 }, 8192],
  ])("%s", (modelType, keys, position, usable) => {
    const explanation = explainConfig(
      { model_type: modelType, hidden_size: 64, num_attention_heads: 2, ...keys },
      { lab },
    );
    expect(explanation.layers.all!.position).toMatchObject(position);
    expect(explanation.usableLength).toBe(usable);
  });

  it("of encoders with decoders have both parts", () => {
    const { layers, usableLength } = explainConfig({ model_type: "t5", d_model: 512, num_heads: 8 });
    expect(layers.encoder).toMatchObject({
      position: { type: "t5", bidirectional: true },
      causal: false,
      softmaxScale: 1,
    });
    expect(layers.decoder).toMatchObject({ position: { type: "t5", bidirectional: false }, causal: true });
    expect(usableLength).toBeNull();
    const whisper = explainConfig({ model_type: "whisper", d_model: 384, decoder_attention_heads: 6 });
    expect(whisper.layers.encoder!.position).toEqual({
      type: "sinusoidal",
      layout: "concatenated",
      denominator: "half-dim-minus-one",
    });
    expect(whisper.usableLength).toBe(448);
    const clip = explainConfig({
      model_type: "clip",
      text_config: {},
      vision_config: { patch_size: 32, image_size: 224 },
    });
    expect(clip.layers.text!.position).toEqual({ type: "learned", rows: 77 });
    expect(clip.layers.vision!.position).toEqual({ type: "learned", rows: 50 });
  });

  it("with several terms a logit have the scale that attention takes by default", () => {
    const { position, softmaxScale } = all({
      model_type: "deberta-v2",
      relative_attention: true,
      pos_att_type: ["p2c", "c2p"],
      hidden_size: 8,
      num_attention_heads: 2,
      max_position_embeddings: 4,
    });
    expect(softmaxScale).toBeCloseTo((3 * 4) ** -0.5, 12);
    const rows = { data: Float32Array.from({ length: 24 }, (_, n) => Math.sin(n)), shape: [2, 3, 4] };
    const learned = { ...position, ...lab.startParameters(position, { heads: 2, headDim: 4, dim: 8 }) } as Position;
    const scores = (scale: object): number[] =>
      Array.from(
        lab.attention({ query: rows, key: rows, value: rows, position: learned, scores: true, ...scale }).scores!.data,
      );
    expect(scores({ scale: softmaxScale! })).toEqual(scores({}));
  });

  it("scale queries in their own ways", () => {
    const scale = (config: object): number => all({ ...llama, rope_theta: 1e4, ...config }).softmaxScale!;
    expect(scale({})).toBe(128 ** -0.5);
    expect(scale({ model_type: "granite", attention_multiplier: 0.015625 })).toBe(0.015625);
    expect(all({ model_type: "falcon", alibi: true, hidden_size: 64, num_attention_heads: 1 }).position).toEqual({
      type: "alibi",
      slopes: [2 ** -8 / 8],
    });
    // field-reports row 4: yarn's second magnitude of latent attention
    const deepseek = (mscale: number): number =>
      all({
        model_type: "deepseek_v2",
        qk_nope_head_dim: 128,
        qk_rope_head_dim: 64,
        rope_theta: 1e4,
        rope_scaling: {
          type: "yarn",
          factor: 40,
          mscale,
          mscale_all_dim: mscale,
          original_max_position_embeddings: 4096,
        },
        max_position_embeddings: 163840,
      }).softmaxScale! *
      192 ** 0.5;
    expect(deepseek(0.707)).toBeCloseTo(1.5896261651, 9);
    expect(deepseek(1)).toBeCloseTo(1.8738542071, 9);
  });

  it("that are not known are read by their keys, with a caution", () => {
    const config = { model_type: "never-seen", hidden_size: 64, num_attention_heads: 2, rope_theta: 5000 };
    expect(all(config).position).toMatchObject({ type: "rope", theta: 5000, rotaryDim: 32 });
    expect(codes(explainConfig(config))).toContain("unknown-model-type");
    expect(all({ architectures: ["GPTNeoXForCausalLM"], hidden_size: 64, num_attention_heads: 2 }).rotaryDim).toBe(8);
  });

  it.each([
    [{}],
    [{ model_type: "never-seen" }],
    [{ model_type: "never-seen", max_position_embeddings: 512, hidden_size: 8 }],
  ])("are refused where no key says anything about positions: %j", (config) =>
    expect(refusal(config).argument).toBe("config"),
  );
});

describe("numbers", () => {
  const keys = [
    ["rope_theta", { ...llama }],
    ["hidden_size", { ...llama, rope_theta: 1e4 }],
    ["num_attention_heads", { ...llama, rope_theta: 1e4 }],
    ["max_position_embeddings", { ...llama, rope_theta: 1e4 }],
    ["head_dim", { ...llama, rope_theta: 1e4 }],
    ["partial_rotary_factor", { ...llama, rope_theta: 1e4 }],
    ["sliding_window", { ...llama, model_type: "mistral", rope_theta: 1e4 }],
  ] as const;

  it.each(keys)("%s refuses texts, true, NaN, infinity and negative numbers under its own name", (key, config) => {
    for (const wrong of ["10000", true, NaN, Infinity, -1, -4.0, [4], {}])
      expect(refusal({ ...config, [key]: wrong }).argument).toBe(key);
  });

  it("of scalings too", () => {
    for (const wrong of ["4", true, NaN, -4, 0]) {
      const config = { ...llama, rope_theta: 1e4, rope_scaling: { rope_type: "linear", factor: wrong } };
      expect(refusal(config).argument).toBe("rope_scaling.factor");
    }
  });

  it("are taken with and without a decimal point", () => {
    const from = (factor: string, length: string): unknown =>
      all(
        `{"model_type":"llama","hidden_size":256.0,"num_attention_heads":2,"max_position_embeddings":${length},"rope_theta":1e4,"rope_scaling":{"rope_type":"dynamic","factor":${factor}}}`,
        { length: 10000 },
      ).inverseFrequencies;
    expect(from("4.0", "8192.0")).toEqual(from("4", "8192"));
  });

  it("that must be whole refuse others", () => {
    expect(refusal({ ...llama, rope_theta: 1e4, num_attention_heads: 2.5 }).argument).toBe("num_attention_heads");
    expect(refusal({ ...llama, rope_theta: 1e4, hidden_size: 255 }).argument).toBe("hidden_size");
    expect(refusal({ ...llama, rope_theta: 1e4, partial_rotary_factor: 0.01 }).argument).toBe("partial_rotary_factor");
    expect(refusal({ ...llama, rope_theta: 1e4, partial_rotary_factor: 1.5 }).argument).toBe("partial_rotary_factor");
  });
});

describe("whatever comes", () => {
  const value = fc.oneof(
    fc.constantFrom(
      null,
      true,
      "4",
      "yarn",
      "rope",
      "absolute",
      0,
      1,
      2,
      4.0,
      64,
      8192,
      -1,
      1e30,
      1e-30,
      NaN,
      Infinity,
    ),
    fc.jsonValue({ maxDepth: 2 }),
    fc.array(fc.integer({ min: -1, max: 4 }), { maxLength: 5 }),
  );
  const scaling = fc.dictionary(
    fc.constantFrom(
      "rope_type",
      "type",
      "factor",
      "rope_theta",
      "original_max_position_embeddings",
      "attention_factor",
      "short_factor",
      "long_factor",
      "mscale",
      "mscale_all_dim",
      "beta_fast",
      "truncate",
      "low_freq_factor",
      "high_freq_factor",
      "partial_rotary_factor",
      "full_attention",
      "mrope_section",
    ),
    fc.oneof(value, fc.constantFrom("linear", "dynamic", "yarn", "longrope", "llama3", "proportional", "su", "mrope")),
    { maxKeys: 8 },
  );
  const config = fc.record(
    {
      model_type: fc.oneof(
        fc.constantFrom(
          "llama",
          "gemma3_text",
          "gemma4_text",
          "gpt_oss",
          "deepseek_v3",
          "t5",
          "bloom",
          "falcon",
          "mpt",
          "llama4_text",
          "smollm3",
          "roberta",
          "vit",
          "clip",
          "deberta-v2",
          "qwen2",
          "modernbert",
          "whisper",
          "xlnet",
          "never-seen",
        ),
        value,
      ),
      hidden_size: value,
      num_attention_heads: value,
      num_hidden_layers: value,
      head_dim: value,
      max_position_embeddings: value,
      rope_theta: value,
      partial_rotary_factor: value,
      rotary_dim: value,
      rope_scaling: fc.oneof(value, scaling),
      rope_parameters: fc.oneof(value, scaling),
      layer_types: value,
      no_rope_layers: value,
      sliding_window: value,
      text_config: fc.oneof(value, fc.dictionary(fc.constantFrom("rope_theta", "model_type", "head_dim"), value)),
      position_embedding_type: value,
      alibi: value,
      attn_config: value,
      image_size: value,
      patch_size: value,
      pad_token_id: value,
      architectures: value,
      ["general.architecture"]: fc.constantFrom(undefined, undefined, undefined, "llama", "mpt", "phi3", 7),
    },
    { requiredKeys: [] },
  );

  it("is explained or refused with an error of the library", () => {
    fc.assert(
      fc.property(config, (json) => {
        try {
          const { layers, cautions } = explainConfig(json, { lab, length: 100 });
          expect(Object.keys(layers).length).toBeGreaterThan(0);
          for (const { softmaxScale, inverseFrequencies } of Object.values(layers)) {
            if (softmaxScale !== null) expect(softmaxScale).toBeGreaterThan(0);
            for (const frequency of inverseFrequencies ?? []) expect(frequency).not.toBeNaN();
          }
          for (const { code, message } of cautions) expect(`${code}${message}`).not.toContain("undefined");
        } catch (error) {
          if (!(error instanceof PosLabError)) throw error;
          expect(error.message).not.toContain("undefined");
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("of JSON of any shape too", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (json) => {
        for (const given of [json, JSON.stringify(json), { model_type: "llama", ...Object(json) }]) {
          try {
            explainConfig(given, { lab });
          } catch (error) {
            if (!(error instanceof PosLabError)) throw error;
          }
        }
      }),
      { numRuns: 400 },
    );
  });
});
