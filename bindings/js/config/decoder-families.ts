// SPDX-License-Identifier: MIT
// Families of causal language models, one row each (layered-families.ts has those with windows and with layers of several
// kinds). Defaults and rules are those of the model classes of transformers 5.24 (configuration_*.py and modeling_*.py
// read for each), or of the model's own code where transformers has none.

import type { Family } from "./family.js";
import { llama4Warming } from "./layer-kinds.js";
import { layeredFamilies } from "./layered-families.js";
import { kIsLatent, kParams } from "./params.js";

export const decoderFamilies: readonly Family[] = [
  // ---------------------------------------------------------------------------------------- one rotation everywhere
  { names: ["llama"], scheme: "rope", defaults: { max_position_embeddings: 2048 } },
  // run.c: adjacent lanes, and theta 10000 built in.
  { names: ["llama2.c"], scheme: "rope", layout: "interleaved", defaults: { rope_theta: 10000 } },
  // Meta's and Mistral's own files: adjacent lanes.
  {
    names: [kParams],
    when: { [kIsLatent]: true },
    scheme: "rope",
    layout: "interleaved",
    scale: { latent: true },
    defaults: { rope_theta: 10000 },
  },
  {
    names: [kParams],
    scheme: "rope",
    layout: "interleaved",
    window: true,
    ...llama4Warming,
    defaults: { rope_theta: 10000 },
  },
  { names: ["olmo", "olmo2", "olmoe"], scheme: "rope" },
  { names: ["xverse", "orion", "internlm2", "internlm3", "yi", "deepseek", "aquila", "arcee"], scheme: "rope" },
  { names: ["minicpm"], scheme: "rope" },
  { names: ["dbrx"], scheme: "rope", defaults: { max_seq_len: 2048 } },
  { names: ["gemma"], scheme: "rope", defaults: { head_dim: 256, max_position_embeddings: 8192 } },
  { names: ["cohere"], scheme: "rope", layout: "interleaved", defaults: { rope_theta: 500000 } },
  {
    names: ["ernie4_5"],
    scheme: "rope",
    layout: "interleaved",
    defaults: { rope_theta: 500000, head_dim: 128, max_position_embeddings: 131072 },
  },
  { names: ["ernie4_5_moe"], scheme: "rope", layout: "interleaved", defaults: { rope_theta: 500000 } },
  { names: ["helium"], scheme: "rope", layout: "interleaved", defaults: { rope_theta: 100000, head_dim: 128 } },
  { names: ["seed_oss"], scheme: "rope", defaults: { head_dim: 128, max_position_embeddings: 524288 } },
  {
    names: ["apertus"],
    scheme: "rope",
    defaults: {
      max_position_embeddings: 65536,
      rope_theta: 12000000,
      rope_parameters: {
        rope_type: "llama3",
        rope_theta: 12000000,
        factor: 8,
        original_max_position_embeddings: 8192,
        low_freq_factor: 1,
        high_freq_factor: 4,
      },
    },
  },
  { names: ["dots1"], scheme: "rope", defaults: { max_position_embeddings: 2048 } },
  { names: ["chameleon", "aria_text", "hunyuan", "hunyuan_v1_dense", "hunyuan_v1_moe"], scheme: "rope" },
  { names: ["flex_olmo", "mllama_text_model", "csm"], scheme: "rope", defaults: { rope_theta: 500000 } },
  { names: ["exaone"], scheme: "rope", defaults: { max_position_embeddings: 2048 } },
  { names: ["emu3_text_model"], scheme: "rope", defaults: { rope_theta: 1000000 } },
  { names: ["solar_open"], scheme: "rope", defaults: { rope_theta: 1000000, head_dim: 128 } },
  { names: ["granite", "granitemoe", "granitemoeshared"], scheme: "rope", scale: { key: "attention_multiplier" } },
  {
    names: ["granitemoehybrid"],
    when: { position_embedding_type: "nope" },
    scheme: "none",
    scale: { key: "attention_multiplier" },
  },
  { names: ["granitemoehybrid"], scheme: "rope", scale: { key: "attention_multiplier" } },
  { names: ["hyperclovax"], scheme: "rope", scale: { key: "attention_multiplier" } },
  { names: ["bitnet"], scheme: "rope", defaults: { rope_theta: 500000 } },

  // ---------------------------------------------------------------------------------------- a part of the head rotates
  {
    names: ["gpt_neox"],
    scheme: "rope",
    defaults: { rotary_pct: 0.25, max_position_embeddings: 2048 },
  },
  { names: ["gpt_neox_japanese"], scheme: "rope", defaults: { max_position_embeddings: 2048 } },
  {
    names: ["gptj", "codegen"],
    scheme: "rope",
    layout: "interleaved",
    defaults: { rotary_dim: 64, n_positions: 2048 },
  },
  { names: ["phi"], scheme: "rope", defaults: { partial_rotary_factor: 0.5, max_position_embeddings: 2048 } },
  { names: ["phi-msft", "mixformer-sequential"], scheme: "rope", defaults: { rotary_dim: 32 } },
  { names: ["persimmon"], scheme: "rope", defaults: { partial_rotary_factor: 0.5, max_position_embeddings: 16384 } },
  { names: ["fuyu"], scheme: "rope", defaults: { partial_rotary_factor: 0.5, rope_theta: 25000 } },
  { names: ["stablelm", "stablelm_epoch"], scheme: "rope", defaults: { partial_rotary_factor: 0.25 } },
  { names: ["nemotron"], scheme: "rope", defaults: { partial_rotary_factor: 0.5 } },
  {
    names: ["glm", "glm4"],
    scheme: "rope",
    layout: "interleaved",
    defaults: { partial_rotary_factor: 0.5, head_dim: 128 },
  },
  { names: ["glm4_moe"], scheme: "rope", defaults: { partial_rotary_factor: 0.5, head_dim: 128 } },
  {
    names: ["glm4v_text", "glm_ocr_text"],
    scheme: "rope",
    layout: "interleaved",
    sections: { pairs: [8, 12, 12], order: "contiguous" },
    defaults: { partial_rotary_factor: 0.5 },
  },
  {
    names: ["glm4v_moe_text"],
    scheme: "rope",
    sections: { pairs: [8, 12, 12], order: "contiguous" },
    defaults: { partial_rotary_factor: 0.5 },
  },
  { names: ["minimax_m2"], scheme: "rope", defaults: { rotary_dim: 64, head_dim: 128, rope_theta: 5000000 } },
  {
    names: ["moonshine"],
    scheme: "rope",
    layout: "interleaved",
    parts: {
      decoder: { scheme: "rope", layout: "interleaved", defaults: { partial_rotary_factor: 0.9 } },
      encoder: { scheme: "rope", layout: "interleaved", causal: false, defaults: { partial_rotary_factor: 0.9 } },
    },
  },
  {
    names: ["chatglm"],
    scheme: "rope",
    layout: "interleaved",
    thetaTimes: "rope_ratio",
    defaults: { partial_rotary_factor: 0.5 },
    cautions: [
      [
        "half-the-head",
        "ChatGLM rotates the first half of each head (its code builds the table for kv_channels / 2); no key says so",
      ],
    ],
  },

  ...layeredFamilies,

  // ---------------------------------------------------------------------------------------- latent attention
  {
    names: ["deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "youtu"],
    scheme: "rope",
    layout: "interleaved",
    layoutKey: "rope_interleave",
    scale: { latent: true },
    defaults: { qk_rope_head_dim: 64, qk_nope_head_dim: 128 },
  },
  {
    names: ["glm4_moe_lite", "glm_moe_dsa"],
    scheme: "rope",
    layout: "interleaved",
    layoutKey: "rope_interleave",
    scale: { latent: true },
    defaults: { qk_rope_head_dim: 64, qk_nope_head_dim: 192 },
  },
  {
    names: ["longcat_flash"],
    scheme: "rope",
    layout: "interleaved",
    scale: { latent: true },
    defaults: { qk_rope_head_dim: 64, qk_nope_head_dim: 128, rope_theta: 10000000 },
  },
  { names: ["kimi_linear"], when: { mla_use_nope: true }, scheme: "none", scale: { latent: true } },
  { names: ["minicpm3"], scheme: "rope", scale: { latent: true } },

  // ---------------------------------------------------------------------------------------- linear biases
  { names: ["bloom"], scheme: "alibi", ids: { policy: "mask", offset: 0 } },
  {
    names: ["falcon", "RefinedWeb", "RefinedWebModel"],
    when: { alibi: true },
    scheme: "alibi",
    options: { slopesTimesScale: true },
    ids: { policy: "mask", offset: 0 },
  },
  { names: ["falcon", "RefinedWeb", "RefinedWebModel"], scheme: "rope", defaults: { max_position_embeddings: 2048 } },
  { names: ["mpt"], when: { "attn_config.alibi": true }, scheme: "alibi", scale: { key: "attn_config.softmax_scale" } },
  { names: ["mpt"], when: { "attn_config.rope": true }, scheme: "rope" },
  {
    names: ["mpt"],
    when: { attn_config: null },
    scheme: "alibi",
    cautions: [["alibi-by-default", "no attn_config: the class of MPT takes ALiBi"]],
  },
  { names: ["mpt"], scheme: "learned", defaults: { max_seq_len: 2048 } },
  // The 7B model rotates and the 13B model has slopes; nothing but the sizes tells them apart.
  {
    names: ["baichuan"],
    when: { num_hidden_layers: 40 },
    scheme: "alibi",
    cautions: [["told-by-size", "Baichuan with 40 layers (13B) has ALiBi, with 32 (7B) a rotation; no key says which"]],
  },
  {
    names: ["baichuan"],
    scheme: "rope",
    cautions: [["told-by-size", "Baichuan with 40 layers (13B) has ALiBi, with 32 (7B) a rotation; no key says which"]],
  },
  { names: ["btlm", "jais"], scheme: "alibi", scale: { inverseHead: true } },

  // ---------------------------------------------------------------------------------------- learned tables
  {
    names: ["gpt2", "gpt_bigcode"],
    when: { scale_attn_weights: false },
    scheme: "learned",
    scale: { constant: 1 },
    ids: { policy: "mask", offset: 0 },
  },
  { names: ["openai-gpt"], scheme: "learned", defaults: { n_positions: 512 } },
  {
    names: ["gpt2", "gpt_bigcode"],
    scheme: "learned",
    defaults: { n_positions: 1024 },
    ids: { policy: "mask", offset: 0 },
  },
  {
    names: ["gpt_neo"],
    scheme: "learned",
    scale: { constant: 1 },
    defaults: { max_position_embeddings: 2048, window_size: 256 },
    windowKeys: ["window_size"],
    kinds: { global: {}, local: { window: "sliding" } },
    pattern: { every: [], otherwise: 2, special: "local", rest: "global" },
  },
  {
    names: ["opt"],
    scheme: "learned",
    rowsBeyond: 2,
    ids: { policy: "mask", offset: 2, paddingRow: 1 },
    defaults: { max_position_embeddings: 2048 },
  },
  {
    names: ["biogpt"],
    scheme: "learned",
    rowsBeyond: 2,
    ids: { policy: "mask", offset: 2, paddingRow: 1 },
    defaults: { max_position_embeddings: 1024 },
  },

  // ---------------------------------------------------------------------------------------- sinusoids
  { names: ["ctrl"], scheme: "sinusoidal", options: { layout: "concatenated" }, defaults: { n_positions: 256 } },
  {
    names: ["xglm"],
    scheme: "sinusoidal",
    options: { layout: "concatenated", denominator: "half-dim-minus-one" },
    ids: { policy: "plain", offset: 2 },
    defaults: { max_position_embeddings: 2048 },
  },
];
