// SPDX-License-Identifier: MIT
// Encoder-decoders: the original Transformer as Marian has it (Vaswani et al. 2017; Junczys-Dowmunt et al. 2018) and T5
// (Raffel et al. 2020).

import type { Architecture, Stack } from "../model-description.js";
import { activationNamed, activationOf } from "./activations.js";
import type { Config } from "./config.js";
import { type Family, type FamilyInput, modules, type Place, type Places } from "./family.js";

/** feed_forward_proj: "relu", "gated-gelu" (which means the tanh form), "gated-silu". */
function t5FeedForward(config: Config): Pick<Stack, "activation" | "gated"> {
  const field = "feed_forward_proj";
  const words = config.text("relu", field).split("-");
  const gated = words[0] === "gated";
  const written = words.at(-1)!;
  return { gated, activation: activationNamed(gated && written === "gelu" ? "gelu_new" : written, config, [field]) };
}

function t5({ config, conventions, has }: FamilyInput): Architecture {
  const dim = config.count("d_model");
  const layers = config.count("num_layers");
  const vocabulary = config.count("vocab_size");
  const stack = (count: number, isEncoder: boolean): Stack => ({
    layers: count,
    heads: config.count("num_heads"),
    headDim: config.count("d_kv"),
    feedForward: config.count("d_ff"),
    causal: !isEncoder,
    ...conventions.of(count, isEncoder ? "encoder" : "decoder"),
    scale: 1,
    norm: { kind: "rms", place: "pre", epsilon: config.number(1e-6, "layer_norm_epsilon") },
    ...t5FeedForward(config),
  });
  const tied = config.flag(true, "tie_word_embeddings") || !has("lm_head.weight");
  const scaled = config.flag(tied, "scale_decoder_outputs");
  return {
    dim,
    vocabulary,
    trainedLength: config.optionalCount("n_positions") ?? 0,
    encoder: stack(layers, true),
    decoder: stack(config.optionalCount("num_decoder_layers") ?? layers, false),
    head: { outputs: vocabulary, tied, ...(scaled ? { scale: dim ** -0.5 } : {}) },
  };
}

const t5Side = (side: "encoder" | "decoder", feedForwardLayer: number): Places => {
  const canonical = `${side}.blocks.{n}.`;
  const block = `${side}.block.{n}.layer.`;
  const attention = { query: "q", key: "k", value: "v", output: "o" };
  return {
    [`${side}.position.table`]: `${side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`,
    [`${side}.norm`]: `${side}.final_layer_norm`,
    [`${canonical}norm1`]: `${block}0.layer_norm`,
    ...modules(`${canonical}attention.`, `${block}0.SelfAttention.`, attention),
    [`${canonical}crossNorm`]: `${block}1.layer_norm`,
    ...modules(`${canonical}crossAttention.`, `${block}1.EncDecAttention.`, attention),
    [`${canonical}norm2`]: `${block}${feedForwardLayer}.layer_norm`,
    ...modules(`${canonical}feedForward.`, `${block}${feedForwardLayer}.DenseReluDense.`, {
      gate: "wi_0",
      in: "wi_1",
      out: "wo",
    }),
  };
};

/** Without a gate the first matrix is called wi. */
const t5Plain = (side: "encoder" | "decoder", layer: number): Record<string, Place> => ({
  [`${side}.blocks.{n}.feedForward.in`]: `${side}.block.{n}.layer.${layer}.DenseReluDense.wi`,
});

function marian({ config, conventions }: FamilyInput): Architecture {
  const dim = config.count("d_model");
  const vocabulary = config.count("decoder_vocab_size", "vocab_size");
  const shared = config.flag(true, "share_encoder_decoder_embeddings");
  config.refuse(!shared && config.count("vocab_size") !== vocabulary, "decoder_vocab_size", "the size of vocab_size");
  config.refuse(config.flag(false, "normalize_before"), "normalize_before", "false");
  config.refuse(config.flag(false, "normalize_embedding"), "normalize_embedding", "false");
  const stack = (side: "encoder" | "decoder"): Stack => ({
    layers: config.count(`${side}_layers`),
    heads: config.count(`${side}_attention_heads`),
    feedForward: config.count(`${side}_ffn_dim`),
    causal: side === "decoder",
    ...conventions.of(config.count(`${side}_layers`), side),
    norm: { kind: "layer", place: "post", epsilon: 1e-5 },
    finalNorm: false,
    embeddingScale: config.flag(false, "scale_embedding") ? Math.sqrt(dim) : 1,
    activation: activationOf(config, "gelu", "activation_function"),
    bias: true,
  });
  return {
    dim,
    vocabulary,
    trainedLength: config.optionalCount("max_position_embeddings") ?? 0,
    encoder: stack("encoder"),
    decoder: stack("decoder"),
    separateEmbeddings: !shared,
    head: { outputs: vocabulary, tied: config.flag(true, "tie_word_embeddings"), bias: true },
  };
}

const marianSide = (side: "encoder" | "decoder"): Places => {
  const canonical = `${side}.blocks.{n}.`;
  const block = `model.${side}.layers.{n}.`;
  const attention = { query: "q_proj", key: "k_proj", value: "v_proj", output: "out_proj" };
  return {
    [`${side}.embedding`]: `model.${side}.embed_tokens`,
    ...modules(canonical, block, {
      norm1: "self_attn_layer_norm",
      crossNorm: "encoder_attn_layer_norm",
      norm2: "final_layer_norm",
      "feedForward.in": "fc1",
      "feedForward.out": "fc2",
    }),
    ...modules(`${canonical}attention.`, `${block}self_attn.`, attention),
    ...modules(`${canonical}crossAttention.`, `${block}encoder_attn.`, attention),
  };
};

export const encoderDecoders: readonly Family[] = [
  {
    types: ["t5", "mt5"],
    about: "T5, Flan-T5, mT5 (Raffel et al. 2020): buckets of distances",
    architecture: t5,
    places: ({ config }) => ({
      embedding: "shared",
      head: "lm_head",
      ...t5Side("encoder", 1),
      ...t5Side("decoder", 2),
      ...(t5FeedForward(config).gated ? {} : { ...t5Plain("encoder", 1), ...t5Plain("decoder", 2) }),
    }),
    ignored:
      /^(encoder|decoder)\.embed_tokens\.weight$|^lm_head\.weight$|^decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight$/,
  },
  {
    types: ["marian"],
    about: "Marian, the original Transformer (Vaswani et al. 2017): sinusoidal positions, post-norm",
    architecture: marian,
    places: {
      embedding: "model.shared",
      head: "lm_head",
      "head.bias": "final_logits_bias",
      ...marianSide("encoder"),
      ...marianSide("decoder"),
    },
    ignored: /^model\.(encoder|decoder)\.embed_(tokens|positions)\.weight$|^lm_head\.weight$|^model\.shared\.weight$/,
  },
];
