// SPDX-License-Identifier: MIT
// Families of encoders and encoder-decoders, spelled out by hand.

import type { Architecture, Stack } from "../../../bindings/js/models/model-description.js";
import type { Position } from "../../../bindings/js/types.js";
import { type Config, everyBlock, type Loader, numberOf } from "./reference-loader.js";

export function bert(config: Config, load: Loader): Architecture {
  load.put("embedding.weight", "bert.embeddings.word_embeddings.weight");
  load.put("position.table", "bert.embeddings.position_embeddings.weight");
  load.put("embedding.type", "bert.embeddings.token_type_embeddings.weight");
  load.norm("embedding.norm", "bert.embeddings.LayerNorm");
  everyBlock(numberOf(config, "num_hidden_layers"), (index, block) => {
    const from = `bert.encoder.layer.${index}`;
    for (const part of ["query", "key", "value"])
      load.linear(`${block}.attention.${part}`, `${from}.attention.self.${part}`);
    load.linear(`${block}.attention.output`, `${from}.attention.output.dense`);
    load.norm(`${block}.norm1`, `${from}.attention.output.LayerNorm`);
    load.linear(`${block}.feedForward.in`, `${from}.intermediate.dense`);
    load.linear(`${block}.feedForward.out`, `${from}.output.dense`);
    load.norm(`${block}.norm2`, `${from}.output.LayerNorm`);
  });
  load.linear("head.transform", "cls.predictions.transform.dense");
  load.norm("head.norm", "cls.predictions.transform.LayerNorm");
  load.put("head.bias", "cls.predictions.bias");
  return {
    dim: numberOf(config, "hidden_size"),
    vocabulary: numberOf(config, "vocab_size"),
    trainedLength: numberOf(config, "max_position_embeddings"),
    tokenTypes: numberOf(config, "type_vocab_size"),
    encoder: {
      layers: numberOf(config, "num_hidden_layers"),
      heads: numberOf(config, "num_attention_heads"),
      feedForward: numberOf(config, "intermediate_size"),
      causal: false,
      position: { type: "learned", rows: numberOf(config, "max_position_embeddings") },
      norm: { kind: "layer", place: "post", epsilon: numberOf(config, "layer_norm_eps") },
      embeddingNorm: true,
      activation: "gelu-erf",
      bias: true,
    },
    head: { outputs: numberOf(config, "vocab_size"), tied: true, bias: true, transform: "gelu-erf" },
  };
}

export function t5(config: Config, load: Loader): Architecture {
  const dim = numberOf(config, "d_model");
  const gated = config.is_gated_act === true;
  const tied = config.tie_word_embeddings === true;
  load.put("embedding.weight", "shared.weight");
  const stack = (name: "encoder" | "decoder", layers: number): Stack => {
    const place = `${name}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`;
    load.put(`${name}.position.table`, place);
    everyBlock(layers, (index, suffix) => {
      const block = `${name}.${suffix}`;
      const from = `${name}.block.${index}.layer`;
      const last = name === "decoder" ? 2 : 1;
      const parts = { query: "q", key: "k", value: "v", output: "o" };
      for (const [part, letter] of Object.entries(parts)) {
        load.linear(`${block}.attention.${part}`, `${from}.0.SelfAttention.${letter}`);
        if (last === 2) load.linear(`${block}.crossAttention.${part}`, `${from}.1.EncDecAttention.${letter}`);
      }
      load.norm(`${block}.norm1`, `${from}.0.layer_norm`);
      if (last === 2) load.norm(`${block}.crossNorm`, `${from}.1.layer_norm`);
      load.norm(`${block}.norm2`, `${from}.${last}.layer_norm`);
      load.linear(`${block}.feedForward.in`, `${from}.${last}.DenseReluDense.${gated ? "wi_1" : "wi"}`);
      if (gated) load.linear(`${block}.feedForward.gate`, `${from}.${last}.DenseReluDense.wi_0`);
      load.linear(`${block}.feedForward.out`, `${from}.${last}.DenseReluDense.wo`);
    });
    load.norm(`${name}.norm`, `${name}.final_layer_norm`);
    const position: Position = {
      type: "t5",
      buckets: numberOf(config, "relative_attention_num_buckets"),
      maxDistance: numberOf(config, "relative_attention_max_distance"),
      bidirectional: name === "encoder",
    };
    return {
      layers,
      heads: numberOf(config, "num_heads"),
      headDim: numberOf(config, "d_kv"),
      feedForward: numberOf(config, "d_ff"),
      causal: name === "decoder",
      position,
      scale: 1,
      norm: { kind: "rms", place: "pre", epsilon: numberOf(config, "layer_norm_epsilon") },
      activation: gated ? "gelu-tanh" : "relu",
      gated,
    };
  };
  const encoder = stack("encoder", numberOf(config, "num_layers"));
  const decoder = stack("decoder", numberOf(config, "num_decoder_layers"));
  if (!tied) load.linear("head", "lm_head");
  const vocabulary = numberOf(config, "vocab_size");
  return {
    dim,
    vocabulary,
    trainedLength: 0,
    encoder,
    decoder,
    head: { outputs: vocabulary, tied, scale: config.scale_decoder_outputs ? dim ** -0.5 : 1 },
  };
}

export function marian(config: Config, load: Loader): Architecture {
  const dim = numberOf(config, "d_model");
  load.put("embedding.weight", "model.shared.weight");
  load.put("head.bias", "final_logits_bias");
  const stack = (name: "encoder" | "decoder"): Stack => {
    const layers = numberOf(config, `${name}_layers`);
    everyBlock(layers, (index, suffix) => {
      const block = `${name}.${suffix}`;
      const from = `model.${name}.layers.${index}`;
      const parts = { query: "q_proj", key: "k_proj", value: "v_proj", output: "out_proj" };
      for (const [part, word] of Object.entries(parts)) {
        load.linear(`${block}.attention.${part}`, `${from}.self_attn.${word}`);
        if (name === "decoder") load.linear(`${block}.crossAttention.${part}`, `${from}.encoder_attn.${word}`);
      }
      load.norm(`${block}.norm1`, `${from}.self_attn_layer_norm`);
      if (name === "decoder") load.norm(`${block}.crossNorm`, `${from}.encoder_attn_layer_norm`);
      load.norm(`${block}.norm2`, `${from}.final_layer_norm`);
      load.linear(`${block}.feedForward.in`, `${from}.fc1`);
      load.linear(`${block}.feedForward.out`, `${from}.fc2`);
    });
    return {
      layers,
      heads: numberOf(config, `${name}_attention_heads`),
      feedForward: numberOf(config, `${name}_ffn_dim`),
      causal: name === "decoder",
      position: { type: "sinusoidal", layout: "concatenated" },
      norm: { kind: "layer", place: "post", epsilon: 1e-5 },
      embeddingScale: Math.sqrt(dim),
      activation: "relu",
      bias: true,
    };
  };
  const vocabulary = numberOf(config, "vocab_size");
  return {
    dim,
    vocabulary,
    trainedLength: numberOf(config, "max_position_embeddings"),
    encoder: stack("encoder"),
    decoder: stack("decoder"),
    head: { outputs: vocabulary, tied: true, bias: true },
  };
}

export function vit(config: Config, load: Loader): Architecture {
  load.linear("patch", "vit.embeddings.patch_embeddings.projection");
  load.put("classToken", "vit.embeddings.cls_token");
  load.put("position.table", "vit.embeddings.position_embeddings");
  everyBlock(numberOf(config, "num_hidden_layers"), (index, block) => {
    const from = `vit.encoder.layer.${index}`;
    load.norm(`${block}.norm1`, `${from}.layernorm_before`);
    load.norm(`${block}.norm2`, `${from}.layernorm_after`);
    for (const part of ["query", "key", "value"])
      load.linear(`${block}.attention.${part}`, `${from}.attention.attention.${part}`);
    load.linear(`${block}.attention.output`, `${from}.attention.output.dense`);
    load.linear(`${block}.feedForward.in`, `${from}.intermediate.dense`);
    load.linear(`${block}.feedForward.out`, `${from}.output.dense`);
  });
  load.norm("norm", "vit.layernorm");
  load.linear("head", "classifier");
  const size = numberOf(config, "image_size");
  const patch = numberOf(config, "patch_size");
  return {
    dim: numberOf(config, "hidden_size"),
    vocabulary: 0,
    trainedLength: 0,
    image: { channels: numberOf(config, "num_channels"), patch, height: size, width: size },
    encoder: {
      layers: numberOf(config, "num_hidden_layers"),
      heads: numberOf(config, "num_attention_heads"),
      feedForward: numberOf(config, "intermediate_size"),
      causal: false,
      position: { type: "learned", rows: 1 + (size / patch) ** 2 },
      norm: { kind: "layer", place: "pre", epsilon: numberOf(config, "layer_norm_eps") },
      activation: "gelu-erf",
      bias: true,
    },
    head: { outputs: load.get("classifier.bias").data.length, tied: false, bias: true, pooling: "first" },
  };
}
