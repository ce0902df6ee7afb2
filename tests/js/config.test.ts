// SPDX-License-Identifier: MIT
// Explaining configs: what transformers computes for well-known models, which key wins, what gets a caution, and what is
// refused under its own name.
import { describe, expect, it } from "vitest";
import { type ConfigExplanation, explainConfig } from "../../bindings/js/config.js";
import type { Rope } from "../../bindings/js/types.js";
import { all, codes, lab, llama, refusal } from "./config-explained.js";
import { configRows } from "./config-rows.js";

describe("frequencies", () => {
  it.each(configRows)(
    "of $name are those of transformers",
    ({ config, kind = "all", rotaryDim, attentionFactor = 1, frequencies }) => {
      const layer = explainConfig(config, { lab }).layers[kind]!;
      expect(layer.rotaryDim).toBe(rotaryDim);
      expect(layer.attentionFactor! / attentionFactor).toBeCloseTo(1, 12);
      for (const [pair, frequency] of Object.entries(frequencies))
        // transformers computes in float32.
        expect(Math.abs(layer.inverseFrequencies![Number(pair)]! / frequency - 1)).toBeLessThan(2e-6);
    },
  );

  it("follow the running length under dynamic scaling, and are exact up to the trained one", () => {
    const config = { ...llama, rope_theta: 10000, rope_scaling: { rope_type: "dynamic", factor: 2 } };
    const base = (length: number): number => all(config, { length }).inverseFrequencies![1]! ** -64;
    for (const length of [0, 1, 512, 2048]) expect(base(length)).toBeCloseTo(10000, 6);
    // field-reports row 1: bases worked out in double precision
    expect(base(2049)).toBeCloseTo(10009.920712, 4);
    expect(base(4096)).toBeCloseTo(30527.73675, 4);
    expect(base(8192)).toBeCloseTo(72195.86009, 4);
  });

  it("take longrope's long list past the original length", () => {
    const config = {
      ...llama,
      head_dim: 4,
      rope_theta: 10000,
      rope_scaling: { type: "su", short_factor: [1, 1], long_factor: [2, 4], original_max_position_embeddings: 64 },
    };
    expect(all(config, { length: 64 }).inverseFrequencies).toEqual([1, 0.01]);
    expect(all(config, { length: 65 }).inverseFrequencies).toEqual([0.5, 0.0025]);
    expect(codes(explainConfig(config))).toContain("old-spelling");
  });

  it("are left out without a lab", () => {
    expect(explainConfig({ ...llama, rope_theta: 5000 }).layers.all).toMatchObject({
      rotaryDim: 128,
      inverseFrequencies: null,
    });
  });
});

describe("theta", () => {
  it.each([
    ["top level", { rope_theta: 1e6, rope_scaling: null }, "rope_theta"],
    ["rope_parameters", { rope_parameters: { rope_type: "default", rope_theta: 1e6 } }, "rope_parameters.rope_theta"],
    ["both, nested first", { rope_theta: 1e4, rope_parameters: { rope_theta: 1e6 } }, "rope_parameters.rope_theta"],
  ])("is found at the %s", (_, keys, source) => {
    const layer = all({ ...llama, ...keys });
    expect((layer.position as Rope).theta).toBe(1e6);
    expect(layer.sources.theta).toBe(source);
    expect(layer.inverseFrequencies![1]).toBeCloseTo(0.805842188, 9);
  });

  it("says so where two keys disagree, and where none is there", () => {
    expect(codes(explainConfig({ ...llama, rope_theta: 1e4, rope_parameters: { rope_theta: 1e6 } }))).toContain(
      "two-keys",
    );
    expect(codes(explainConfig({ ...llama, rope_theta: 1e6, rope_parameters: { rope_theta: 1e6 } }))).not.toContain(
      "two-keys",
    );
    expect(codes(explainConfig(llama))).toContain("theta-by-default");
    expect(codes(explainConfig({ ...llama, rope_theta: 1e4 }))).not.toContain("theta-by-default");
  });
});

describe("kinds of layers", () => {
  it("keep their own rotation: Gemma 3's scaling does not reach its local layers", () => {
    const { layers, layerTypes } = explainConfig(
      {
        model_type: "gemma3",
        text_config: {
          model_type: "gemma3_text",
          num_hidden_layers: 12,
          rope_scaling: { rope_type: "linear", factor: 8.0 },
        },
      },
      { lab },
    );
    // field-reports row 15: angles of pair 0 at p = 8
    expect(8 * layers.full_attention!.inverseFrequencies![0]!).toBe(1);
    expect(8 * layers.sliding_attention!.inverseFrequencies![0]!).toBe(8);
    expect(layers.sliding_attention).toMatchObject({ window: 4096, position: { theta: 10000 } });
    expect(layers.full_attention).toMatchObject({ window: null, softmaxScale: 1 / 16 });
    expect(layerTypes!.map((kind) => (kind === "full_attention" ? "F" : "s")).join("")).toBe("sssssFsssssF");
  });

  it("take nested rope_parameters one by one", () => {
    const { layers } = explainConfig(
      {
        model_type: "gemma3_text",
        num_hidden_layers: 6,
        head_dim: 8,
        rope_parameters: {
          full_attention: { rope_type: "linear", factor: 2, rope_theta: 1e6 },
          sliding_attention: { rope_type: "default", rope_theta: 5e3 },
        },
      },
      { lab },
    );
    expect(layers.full_attention!.position).toMatchObject({ theta: 1e6, scaling: { ropeType: "linear", factor: 2 } });
    expect(layers.sliding_attention!.position).toEqual({ type: "rope", theta: 5e3, layout: "half", rotaryDim: 8 });
    expect(layers.full_attention!.sources.theta).toBe("rope_parameters.full_attention.rope_theta");
  });

  it("of Gemma 4 pair lanes across the whole head where the rotation is proportional", () => {
    const { layers } = explainConfig({ model_type: "gemma4_text", num_hidden_layers: 6 }, { lab });
    const { inverseFrequencies, rotaryDim } = layers.full_attention!;
    expect(rotaryDim).toBe(512);
    expect(inverseFrequencies![1]).toBeCloseTo(0.947463526, 9);
    expect(inverseFrequencies![63]).toBeCloseTo(0.0333762469, 9);
    expect(inverseFrequencies!.slice(64)).toEqual(Array.from({ length: 192 }, () => 0));
    expect(layers.sliding_attention!.rotaryDim).toBe(256);
  });

  it("without positions are told from the others, by list and by interval", () => {
    const smol = {
      model_type: "smollm3",
      hidden_size: 64,
      num_attention_heads: 2,
      num_hidden_layers: 4,
      rope_theta: 1e4,
    };
    expect(explainConfig(smol).layerTypes).toEqual(["all", "all", "all", "no_rope"]);
    expect(explainConfig({ ...smol, no_rope_layers: [0, 1, 1, 0] }).layerTypes).toEqual([
      "no_rope",
      "all",
      "all",
      "no_rope",
    ]);
    const scout = {
      model_type: "llama4_text",
      hidden_size: 64,
      num_attention_heads: 2,
      num_hidden_layers: 4,
      no_rope_layers: [],
    };
    const { layers } = explainConfig(scout);
    expect(layers.no_rope).toMatchObject({
      position: { type: "none" },
      logitTemperature: { type: "floor-log", length: 8192, scale: 0.1, first: 1 },
    });
    expect(layers.all).toMatchObject({ window: 8192, logitTemperature: null });
  });

  it("can be asked for by number and by name", () => {
    const config = { model_type: "gpt_oss", num_hidden_layers: 4 };
    expect(explainConfig(config).layerTypes).toEqual(["sliding_attention", "all", "sliding_attention", "all"]);
    expect(explainConfig(config, { layer: 2 }).layers).toMatchObject({ sliding_attention: { window: 128 } });
    expect(Object.keys(explainConfig(config, { layer: 1 }).layers)).toEqual(["all"]);
    expect(explainConfig(config, { layer: "full_attention" }).layers.all!.window).toBeNull();
    expect(() => explainConfig(config, { layer: 4 })).toThrow(/layer: 4 was given/);
    expect(() => explainConfig(config, { layer: "nothing" })).toThrow(/sliding_attention/);
  });

  it("have windows only where the gate is open", () => {
    const qwen = {
      ...llama,
      model_type: "qwen2",
      rope_theta: 1e6,
      num_hidden_layers: 4,
      sliding_window: 64,
      max_window_layers: 2,
    };
    expect(all({ ...qwen, use_sliding_window: false }).window).toBeNull();
    expect(explainConfig({ ...qwen, use_sliding_window: true }).layerTypes).toEqual([
      "all",
      "all",
      "sliding_attention",
      "sliding_attention",
    ]);
    expect(all({ ...llama, model_type: "mistral", rope_theta: 1e4 }).window).toBe(4096);
    expect(all({ ...llama, model_type: "mistral", rope_theta: 1e4, sliding_window: null }).window).toBeNull();
    expect(refusal({ ...llama, model_type: "mistral", rope_theta: 1e4, sliding_window: 0 }).argument).toBe(
      "sliding_window",
    );
  });
});

describe("scalings", () => {
  const yarn = { rope_type: "yarn", factor: 4, original_max_position_embeddings: 512 };
  const scaled = (scaling: object, keys: object = {}): ConfigExplanation =>
    explainConfig({ ...llama, rope_theta: 1e4, rope_scaling: scaling, ...keys }, { lab });

  it("give a final attention factor, also 0, and say what attn_factor may mean", () => {
    expect(scaled({ ...yarn, attention_factor: 0 }).layers.all!.attentionFactor).toBe(0);
    const ambiguous = scaled({ ...yarn, attn_factor: 0.8782488563 });
    expect(ambiguous.layers.all!.attentionFactor).toBeCloseTo(1.1386294361, 9);
    const { message } = ambiguous.cautions.find(({ code }) => code === "attn-factor")!;
    for (const meaning of ["1.00000", "1.13863", "0.8782488563"]) expect(message).toContain(meaning);
  });

  it("say where a factor is not the ratio of the lengths, and take a missing one from them", () => {
    expect(codes(scaled(yarn))).not.toContain("factor-is-not-the-ratio");
    expect(codes(scaled({ ...yarn, factor: 8 }))).toContain("factor-is-not-the-ratio");
    expect(scaled({ ...yarn, factor: null }).layers.all!.position).toMatchObject({ scaling: { factor: 4 } });
  });

  it("let a top-level original length win", () => {
    const { layers, cautions } = scaled(yarn, { original_max_position_embeddings: 1024 });
    expect(layers.all!.position).toMatchObject({ scaling: { originalMaxPositionEmbeddings: 1024 } });
    expect(cautions.map(({ code }) => code)).toContain("two-keys");
  });

  it("that are not known leave the frequencies as they are, loudly", () => {
    const explanation = scaled({ rope_type: "spiral", factor: 4 });
    expect(codes(explanation)).toContain("unknown-rope-type");
    expect(explanation.layers.all!.inverseFrequencies![1]).toBeCloseTo(0.8659643, 6);
  });

  it("are refused without what they need, by name", () => {
    const argument = (scaling: object): string | undefined =>
      refusal({ ...llama, rope_theta: 1e4, rope_scaling: scaling }).argument;
    expect(argument({ rope_type: "linear" })).toBe("rope_scaling.factor");
    expect(argument({ factor: 4 })).toBe("rope_scaling.rope_type");
    expect(argument({ rope_type: "llama3", factor: 8, original_max_position_embeddings: 8 })).toBe(
      "rope_scaling.low_freq_factor",
    );
    expect(argument({ rope_type: "longrope", short_factor: [1], long_factor: [1] })).toBe("rope_scaling.short_factor");
    expect(argument({ ...yarn, beta_fast: 1, beta_slow: 32 })).toBe("rope_scaling.beta_fast");
  });

  it("remember how a factor was written", () => {
    const text = (factor: string): string =>
      `{"model_type":"llama","hidden_size":256,"num_attention_heads":2,"rope_theta":10000,"rope_scaling":{"rope_type":"linear","factor":${factor}}}`;
    expect(codes(explainConfig(text("8")))).toContain("integer-factor");
    expect(codes(explainConfig(text("8.0")))).not.toContain("integer-factor");
    expect(refusal(text("NaN"))).toMatchObject({
      argument: "rope_scaling.factor",
      message: expect.stringContaining("NaN") as string,
    });
    expect(refusal("{").code).toBe("format");
  });
});
