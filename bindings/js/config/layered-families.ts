// SPDX-License-Identifier: MIT
// Families of causal language models with windows or with layers of several kinds, one row each. Defaults and rules come
// from where those of decoder-families.ts do.

import type { Family } from "./family.js";
import {
  globalEvery,
  linearOrFull,
  llama4Warming,
  localTheta,
  onlyLocalRotates,
  onlyLocalRotatesIfWindowed,
  slidingOrFull,
} from "./layer-kinds.js";

const kWindowFromLayer = { pattern: { windowFrom: "max_window_layers" }, windowGate: "use_sliding_window" } as const;
const kLinearOrFull = { ...linearOrFull, defaults: { partial_rotary_factor: 0.25, head_dim: 256 } };
/** `otherwise` is what the class says, and files may say something else. */
const kGemmaPattern = (otherwise: number) =>
  globalEvery(otherwise, "sliding_window_pattern", "_sliding_window_pattern");

export const layeredFamilies: readonly Family[] = [
  // ---------------------------------------------------------------------------------------- windows
  { names: ["mistral"], scheme: "rope", window: true, kinds: slidingOrFull, defaults: { sliding_window: 4096 } },
  { names: ["ministral"], scheme: "rope", window: true, kinds: slidingOrFull, defaults: { sliding_window: 4096 } },
  {
    names: ["ministral3"],
    scheme: "rope",
    window: true,
    kinds: slidingOrFull,
    defaults: {
      head_dim: 128,
      max_position_embeddings: 262144,
      rope_parameters: {
        rope_type: "yarn",
        rope_theta: 1000000,
        factor: 16,
        original_max_position_embeddings: 16384,
        beta_fast: 32,
        beta_slow: 1,
        mscale: 1,
        mscale_all_dim: 1,
      },
    },
  },
  { names: ["mixtral"], scheme: "rope", window: true, defaults: { rope_theta: 1000000 } },
  { names: ["starcoder2"], scheme: "rope", window: true },
  {
    names: ["phi3", "phi4mm", "phi4_multimodal"],
    scheme: "rope",
    window: true,
    ropeTypes: { su: "longrope", yarn: "longrope" },
    defaults: { max_position_embeddings: 4096, original_max_position_embeddings: 4096 },
  },
  { names: ["phimoe"], scheme: "rope", window: true, defaults: { rope_theta: 1000000 } },
  {
    names: ["phi3small"],
    scheme: "rope",
    scale: { inverseHead: true },
    cautions: [
      [
        "block-sparse",
        "Phi-3-small alternates dense layers with block-sparse ones (blocksparse_*): those see less than the causal mask",
      ],
    ],
  },
  { names: ["qwen2", "qwen2_moe"], scheme: "rope", kinds: slidingOrFull, ...kWindowFromLayer },
  { names: ["qwen3_moe"], scheme: "rope", window: true, windowGate: "use_sliding_window", kinds: slidingOrFull },
  {
    names: ["qwen3"],
    scheme: "rope",
    kinds: slidingOrFull,
    ...kWindowFromLayer,
    defaults: { head_dim: 128 },
  },
  {
    names: ["qwen2_vl", "qwen2_5_vl", "qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text"],
    scheme: "rope",
    sections: { pairs: [16, 24, 24], order: "contiguous" },
    kinds: slidingOrFull,
    ...kWindowFromLayer,
    defaults: { rope_theta: 1000000 },
  },
  {
    names: ["qwen3_vl", "qwen3_vl_text"],
    scheme: "rope",
    sections: { pairs: [24, 20, 20], order: "interleaved" },
    defaults: { rope_theta: 500000, head_dim: 128 },
  },
  {
    names: ["qwen3_vl_moe", "qwen3_vl_moe_text"],
    scheme: "rope",
    sections: { pairs: [24, 20, 20], order: "interleaved" },
    defaults: { rope_theta: 500000 },
  },
  {
    names: ["qwen3_omni_moe", "qwen3_omni_moe_text"],
    scheme: "rope",
    sections: { pairs: [24, 20, 20], order: "interleaved" },
    defaults: { rope_theta: 1000000 },
  },
  {
    names: ["qwen3_next"],
    scheme: "rope",
    ...kLinearOrFull,
  },
  {
    names: ["qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"],
    scheme: "rope",
    sections: { pairs: [11, 11, 10], order: "interleaved" },
    ...kLinearOrFull,
  },
  {
    names: ["qwen"],
    scheme: "rope",
    temperature: { type: "log-n", length: 2048, scale: 1, first: 1 },
    temperatureKeys: { when: "use_logn_attn", length: "seq_length" },
    cautions: [
      [
        "own-dynamic-scaling",
        "Qwen 1 with use_dynamic_ntk past seq_length recomputes theta by a rule of its own (steps of powers of two); the frequencies here are those up to seq_length",
      ],
    ],
  },
  {
    names: ["gpt_oss"],
    scheme: "rope",
    kinds: slidingOrFull,
    pattern: globalEvery(2),
    defaults: {
      rope_theta: 150000,
      head_dim: 64,
      sliding_window: 128,
      max_position_embeddings: 131072,
      rope_parameters: {
        rope_type: "yarn",
        factor: 32,
        beta_fast: 32,
        beta_slow: 1,
        truncate: false,
        original_max_position_embeddings: 4096,
      },
    },
    cautions: [["sinks", "each head has a learned sink: one more logit in the softmax"]],
  },

  // ---------------------------------------------------------------------------------------- layers of several kinds
  {
    names: ["gemma2", "vaultgemma"],
    scheme: "rope",
    kinds: slidingOrFull,
    pattern: globalEvery(2),
    scale: { inverseSqrt: "query_pre_attn_scalar" },
    defaults: {
      head_dim: 256,
      sliding_window: 4096,
      query_pre_attn_scalar: 256,
      max_position_embeddings: 8192,
      attn_logit_softcapping: 50,
    },
  },
  {
    names: ["gemma3_text", "gemma3"],
    scheme: "rope",
    perKind: true,
    kinds: localTheta(),
    pattern: kGemmaPattern(6),
    scale: { inverseSqrt: "query_pre_attn_scalar" },
    defaults: {
      head_dim: 256,
      num_attention_heads: 8,
      num_hidden_layers: 26,
      sliding_window: 4096,
      query_pre_attn_scalar: 256,
      max_position_embeddings: 131072,
      rope_theta: 1000000,
    },
  },
  {
    names: ["gemma3n_text", "gemma3n"],
    scheme: "rope",
    perKind: true,
    kinds: localTheta(),
    pattern: kGemmaPattern(5),
    scale: { constant: 1 },
    defaults: { head_dim: 256, sliding_window: 512, max_position_embeddings: 32768, rope_theta: 1000000 },
  },
  {
    names: ["gemma4_text", "gemma4", "gemma4_unified_text"],
    scheme: "rope",
    perKind: true,
    kinds: {
      sliding_attention: { window: "sliding", rope: { defaultTheta: 10000 } },
      full_attention: { headDim: "global_head_dim", rope: { defaultTheta: 1000000 } },
    },
    pattern: kGemmaPattern(6),
    scale: { constant: 1 },
    defaults: {
      head_dim: 256,
      global_head_dim: 512,
      sliding_window: 512,
      rope_parameters: {
        sliding_attention: { rope_type: "default", rope_theta: 10000 },
        full_attention: { rope_type: "proportional", partial_rotary_factor: 0.25, rope_theta: 1000000 },
      },
    },
  },
  {
    names: ["olmo3"],
    scheme: "rope",
    perKind: true,
    kinds: { full_attention: {}, sliding_attention: { window: "sliding", rope: { unscaled: true } } },
    pattern: globalEvery(4),
    defaults: { rope_theta: 500000, sliding_window: 4096 },
  },
  {
    names: ["cohere2"],
    scheme: "rope",
    layout: "interleaved",
    kinds: onlyLocalRotates,
    pattern: globalEvery(4, "sliding_window_pattern", "layer_switch"),
    defaults: { sliding_window: 4096, rope_theta: 10000 },
  },
  {
    // Its small models have no window, and rotate in every layer.
    names: ["exaone4", "exaone_moe"],
    scheme: "rope",
    ...onlyLocalRotatesIfWindowed,
    defaults: { sliding_window: 4096 },
  },
  {
    names: ["afmoe"],
    scheme: "rope",
    kinds: onlyLocalRotates,
    pattern: globalEvery(4, "global_attn_every_n_layers"),
    defaults: { sliding_window: 1024, head_dim: 128 },
  },
  {
    names: ["llama4_text", "llama4"],
    scheme: "rope",
    layout: "interleaved",
    noRope: true,
    ...llama4Warming,
    kinds: slidingOrFull,
    defaults: {
      rope_theta: 500000,
      head_dim: 128,
      attention_chunk_size: 8192,
      attn_temperature_tuning: true,
      no_rope_layer_interval: 4,
    },
  },
  {
    names: ["smollm3"],
    scheme: "rope",
    noRope: true,
    layoutKey: "rope_interleaved",
    defaults: { rope_theta: 2000000, no_rope_layer_interval: 4, max_position_embeddings: 32768 },
  },
];
