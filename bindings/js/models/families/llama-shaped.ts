// SPDX-License-Identifier: MIT
// Decoders shaped like LLaMA (Touvron et al. 2023): pre-norm, RoPE, grouped key/value heads, mostly gated feed-forward
// parts; and those that differ from it by a switch or two.

import type { Architecture, Stack } from "../model-description.js";
import { activationOf } from "./activations.js";
import { type Family, type FamilyInput, gateThenIn, modules, type Places, queriesKeysValues } from "./family.js";

interface Switches {
  stack?: Partial<Stack>;
  head?: { scale?: number; bias?: boolean };
  /** rms_norm_eps where the config says nothing; default 1e-6 */ epsilon?: number;
  /** tie_word_embeddings where the config says nothing; default false */ tied?: boolean;
}

/** From the fields that these configs share. */
function decoder({ config, conventions, has }: FamilyInput, switches: Switches = {}): Architecture {
  const dim = config.count("hidden_size");
  const layers = config.count("num_hidden_layers");
  const heads = config.count("num_attention_heads");
  const headDim = config.optionalCount("head_dim") ?? Math.floor(dim / heads);
  const vocabulary = config.count("vocab_size");
  const hasHead = has("lm_head.weight");
  const tied = config.flag(switches.tied ?? false, "tie_word_embeddings") || !hasHead;
  return {
    dim,
    vocabulary,
    trainedLength: config.optionalCount("max_position_embeddings") ?? 0,
    decoder: {
      layers,
      heads,
      keyValueHeads: config.optionalCount("num_key_value_heads") ?? heads,
      headDim,
      feedForward: config.count("intermediate_size"),
      causal: true,
      ...conventions.of(layers),
      norm: {
        kind: "rms",
        place: "pre",
        epsilon: config.number(
          switches.epsilon ?? 1e-6,
          "rms_norm_eps",
          "layer_norm_eps",
          "norm_epsilon",
          "layernorm_epsilon",
        ),
      },
      activation: activationOf(config, "silu", "hidden_act", "hidden_activation"),
      gated: true,
      bias: attentionBias(config.flag(false, "attention_bias"), config.flag(false, "mlp_bias")),
      ...switches.stack,
    },
    head: { outputs: vocabulary, tied, ...switches.head },
  };
}

const attentionBias = (attention: boolean, feedForward: boolean): Stack["bias"] => ({
  query: attention,
  key: attention,
  value: attention,
  attentionOutput: attention,
  gate: feedForward,
  in: feedForward,
  out: feedForward,
});
const queryKeyValueBias = { query: true, key: true, value: true };

const block = "model.layers.{n}.";
const outside: Places = { embedding: "model.embed_tokens", norm: "model.norm", head: "lm_head" };
const norms = modules("blocks.{n}.", block, { norm1: "input_layernorm", norm2: "post_attention_layernorm" });
const projections = modules("blocks.{n}.attention.", `${block}self_attn.`, {
  query: "q_proj",
  key: "k_proj",
  value: "v_proj",
  output: "o_proj",
  queryNorm: "q_norm",
  keyNorm: "k_norm",
});
const gatedFeedForward = modules("blocks.{n}.feedForward.", `${block}mlp.`, {
  gate: "gate_proj",
  in: "up_proj",
  out: "down_proj",
});
const llamaPlaces: Places = { ...outside, ...norms, ...projections, ...gatedFeedForward };
/** tied checkpoints may carry the head all the same */
const tiedHead = /^lm_head\.weight$/;

/** Gains stored as differences from 1. */
function plusOne(places: Places, names: readonly string[]): Places {
  return {
    ...places,
    ...Object.fromEntries(names.map((name) => [name, { from: places[name] as string, plusOne: true as const }])),
  };
}

export const llamaShaped: readonly Family[] = [
  {
    types: ["llama", "mistral"],
    about: "LLaMA (Touvron et al. 2023), Mistral with its window (Jiang et al. 2023)",
    architecture: (input) => decoder(input),
    places: llamaPlaces,
    ignored: tiedHead,
  },
  {
    types: ["smollm3"],
    about: "SmolLM 3: LLaMA with layers without positions",
    architecture: (input) => decoder(input, { tied: true }),
    places: llamaPlaces,
    ignored: tiedHead,
  },
  {
    types: ["qwen2"],
    about: "Qwen 2 and 2.5: LLaMA with biases of queries, keys and values",
    architecture: (input) => decoder(input, { stack: { bias: queryKeyValueBias } }),
    places: llamaPlaces,
    ignored: tiedHead,
  },
  {
    types: ["qwen3"],
    about: "Qwen 3: LLaMA with norms of queries and keys",
    architecture: (input) => decoder(input, { stack: { queryKeyNorm: "head" } }),
    places: llamaPlaces,
    ignored: tiedHead,
  },
  {
    types: ["phi3"],
    about: "Phi-3 and Phi-4-mini: LLaMA with fused projections, LongRoPE",
    architecture: (input) => decoder(input, { epsilon: 1e-5 }),
    places: {
      ...outside,
      ...norms,
      ...queriesKeysValues(`${block}self_attn.qkv_proj`),
      ...gateThenIn(`${block}mlp.gate_up_proj`),
      "blocks.{n}.attention.output": `${block}self_attn.o_proj`,
      "blocks.{n}.feedForward.out": `${block}mlp.down_proj`,
    },
    ignored: tiedHead,
  },
  {
    types: ["gemma"],
    about: "Gemma: embeddings times dim^1/2, gains stored as differences from 1",
    architecture: (input) => ({
      ...decoder(input, {
        tied: true,
        stack: {
          embeddingScale: Math.sqrt(input.config.count("hidden_size")),
          // Published configs say "gelu" and mean the tanh form (transformers decides so too).
          activation: "gelu-tanh",
        },
      }),
    }),
    places: plusOne(llamaPlaces, ["norm", "blocks.{n}.norm1", "blocks.{n}.norm2"]),
    ignored: tiedHead,
  },
  {
    types: ["stablelm"],
    about: "StableLM 2 and 3B: a quarter of the lanes rotated, LayerNorm",
    architecture: (input) => {
      const { config } = input;
      config.refuse(config.flag(false, "qk_layernorm"), "qk_layernorm", "false");
      return decoder(input, {
        stack: {
          norm: { kind: "layer", place: "pre", epsilon: config.number(1e-5, "layer_norm_eps") },
          parallel: config.flag(false, "use_parallel_residual") ? "one-norm" : false,
          ...(config.flag(false, "use_qkv_bias") ? { bias: queryKeyValueBias } : { bias: false }),
        },
      });
    },
    places: llamaPlaces,
    ignored: tiedHead,
  },
  {
    types: ["starcoder2"],
    about: "StarCoder 2: LayerNorm, plain feed-forward, a window",
    architecture: (input) => {
      const { config } = input;
      return decoder(input, {
        tied: true,
        stack: {
          norm: { kind: "layer", place: "pre", epsilon: config.number(1e-5, "norm_epsilon") },
          activation: activationOf(config, "gelu_pytorch_tanh", "hidden_act"),
          gated: false,
          bias: config.flag(true, "use_bias"),
        },
      });
    },
    places: {
      ...outside,
      ...norms,
      ...projections,
      "blocks.{n}.feedForward.in": `${block}mlp.c_fc`,
      "blocks.{n}.feedForward.out": `${block}mlp.c_proj`,
    },
    ignored: tiedHead,
  },
  {
    types: ["cohere"],
    about: "Command R: parallel block, LayerNorm without bias, adjacent lanes rotated",
    architecture: (input) => {
      const { config } = input;
      config.refuse(config.flag(false, "use_qk_norm"), "use_qk_norm", "false");
      return decoder(input, {
        tied: true,
        stack: {
          norm: { kind: "layer", place: "pre", epsilon: config.number(1e-5, "layer_norm_eps"), bias: false },
          parallel: "one-norm",
        },
        head: { scale: config.number(0.0625, "logit_scale") },
      });
    },
    places: llamaPlaces,
    ignored: tiedHead,
  },
  {
    types: ["phi"],
    about: "Phi 1.5 and 2: parallel block, half of the lanes rotated, biases everywhere",
    architecture: (input) => {
      const { config } = input;
      config.refuse(config.flag(false, "qk_layernorm"), "qk_layernorm", "false");
      const architecture = decoder(input, {
        stack: {
          norm: { kind: "layer", place: "pre", epsilon: config.number(1e-5, "layer_norm_eps") },
          activation: activationOf(config, "gelu_new", "hidden_act"),
          gated: false,
          bias: true,
          parallel: "one-norm",
        },
        head: { bias: true },
      });
      return input.has("lm_head.weight")
        ? { ...architecture, head: { ...architecture.head!, tied: false } }
        : { ...architecture, head: null };
    },
    places: {
      ...llamaPlaces,
      norm: "model.final_layernorm",
      "blocks.{n}.attention.output": `${block}self_attn.dense`,
      "blocks.{n}.feedForward.in": `${block}mlp.fc1`,
      "blocks.{n}.feedForward.out": `${block}mlp.fc2`,
    },
  },
];
