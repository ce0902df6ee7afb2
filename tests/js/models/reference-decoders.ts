// SPDX-License-Identifier: MIT
// Families of decoders, spelled out by hand.

import type { Architecture } from "../../../bindings/js/models/model-description.js";
import type { RopeScaling } from "../../../bindings/js/types.js";
import { columns, type Config, everyBlock, headByHead, type Loader, numberOf, rows } from "./reference-loader.js";

export function llama(config: Config, load: Loader): Architecture {
  const rope = config.rope_parameters as Record<string, number | string>;
  const scaling: RopeScaling | undefined =
    rope.rope_type === "llama3"
      ? {
          ropeType: "llama3",
          factor: Number(rope.factor),
          lowFreqFactor: Number(rope.low_freq_factor),
          highFreqFactor: Number(rope.high_freq_factor),
          originalMaxPositionEmbeddings: Number(rope.original_max_position_embeddings),
        }
      : undefined;
  const tied = config.tie_word_embeddings === true;
  load.put("embedding.weight", "model.embed_tokens.weight");
  everyBlock(numberOf(config, "num_hidden_layers"), (index, block) => {
    const from = `model.layers.${index}`;
    load.norm(`${block}.norm1`, `${from}.input_layernorm`);
    load.norm(`${block}.norm2`, `${from}.post_attention_layernorm`);
    for (const [part, letter] of Object.entries({ query: "q", key: "k", value: "v", output: "o" }))
      load.linear(`${block}.attention.${part}`, `${from}.self_attn.${letter}_proj`);
    for (const [part, word] of Object.entries({ gate: "gate", in: "up", out: "down" }))
      load.linear(`${block}.feedForward.${part}`, `${from}.mlp.${word}_proj`);
  });
  load.norm("norm", "model.norm");
  if (!tied) load.linear("head", "lm_head");
  return {
    dim: numberOf(config, "hidden_size"),
    vocabulary: numberOf(config, "vocab_size"),
    trainedLength: numberOf(config, "max_position_embeddings"),
    decoder: {
      layers: numberOf(config, "num_hidden_layers"),
      heads: numberOf(config, "num_attention_heads"),
      keyValueHeads: numberOf(config, "num_key_value_heads"),
      headDim: numberOf(config, "head_dim"),
      feedForward: numberOf(config, "intermediate_size"),
      causal: true,
      position: { type: "rope", theta: Number(rope.rope_theta), ...(scaling ? { scaling } : {}) },
      norm: { kind: "rms", place: "pre", epsilon: numberOf(config, "rms_norm_eps") },
      activation: "silu",
      gated: true,
    },
    head: { outputs: numberOf(config, "vocab_size"), tied },
  };
}

export function gpt2(config: Config, load: Loader): Architecture {
  const dim = numberOf(config, "n_embd");
  load.put("embedding.weight", "transformer.wte.weight");
  load.put("position.table", "transformer.wpe.weight");
  everyBlock(numberOf(config, "n_layer"), (index, block) => {
    const from = `transformer.h.${index}`;
    load.norm(`${block}.norm1`, `${from}.ln_1`);
    load.norm(`${block}.norm2`, `${from}.ln_2`);
    ["query", "key", "value"].forEach((part, place) => {
      load.put(
        `${block}.attention.${part}.weight`,
        columns(load.get(`${from}.attn.c_attn.weight`), place * dim, dim),
        true,
      );
      load.put(`${block}.attention.${part}.bias`, rows(load.get(`${from}.attn.c_attn.bias`), place * dim, dim));
    });
    load.linear(`${block}.attention.output`, `${from}.attn.c_proj`, true);
    load.linear(`${block}.feedForward.in`, `${from}.mlp.c_fc`, true);
    load.linear(`${block}.feedForward.out`, `${from}.mlp.c_proj`, true);
  });
  load.norm("norm", "transformer.ln_f");
  return {
    dim,
    vocabulary: numberOf(config, "vocab_size"),
    trainedLength: numberOf(config, "n_positions"),
    decoder: {
      layers: numberOf(config, "n_layer"),
      heads: numberOf(config, "n_head"),
      feedForward: 4 * dim,
      causal: true,
      position: { type: "learned", rows: numberOf(config, "n_positions") },
      norm: { kind: "layer", place: "pre", epsilon: numberOf(config, "layer_norm_epsilon") },
      activation: "gelu-tanh",
      bias: true,
    },
    head: { outputs: numberOf(config, "vocab_size"), tied: true },
  };
}

/** Fused query, key and value, head by head. */
function loadFused(load: Loader, block: string, from: string, heads: number): void {
  ["query", "key", "value"].forEach((part, place) => {
    for (const kind of ["weight", "bias"])
      load.put(`${block}.attention.${part}.${kind}`, headByHead(load.get(`${from}.${kind}`), heads, place));
  });
}

export function gptNeox(config: Config, load: Loader): Architecture {
  const dim = numberOf(config, "hidden_size");
  const heads = numberOf(config, "num_attention_heads");
  const rope = config.rope_parameters as Record<string, number>;
  load.put("embedding.weight", "gpt_neox.embed_in.weight");
  everyBlock(numberOf(config, "num_hidden_layers"), (index, block) => {
    const from = `gpt_neox.layers.${index}`;
    load.norm(`${block}.norm1`, `${from}.input_layernorm`);
    load.norm(`${block}.norm2`, `${from}.post_attention_layernorm`);
    loadFused(load, block, `${from}.attention.query_key_value`, heads);
    load.linear(`${block}.attention.output`, `${from}.attention.dense`);
    load.linear(`${block}.feedForward.in`, `${from}.mlp.dense_h_to_4h`);
    load.linear(`${block}.feedForward.out`, `${from}.mlp.dense_4h_to_h`);
  });
  load.norm("norm", "gpt_neox.final_layer_norm");
  load.linear("head", "embed_out");
  const rotaryDim = Math.floor((dim / heads) * rope.partial_rotary_factor!);
  return {
    dim,
    vocabulary: numberOf(config, "vocab_size"),
    trainedLength: numberOf(config, "max_position_embeddings"),
    decoder: {
      layers: numberOf(config, "num_hidden_layers"),
      heads,
      feedForward: numberOf(config, "intermediate_size"),
      causal: true,
      position: { type: "rope", theta: rope.rope_theta!, rotaryDim },
      norm: { kind: "layer", place: "pre", epsilon: numberOf(config, "layer_norm_eps") },
      parallel: config.use_parallel_residual ? "two-norms" : false,
      activation: "gelu-erf",
      bias: true,
    },
    head: { outputs: numberOf(config, "vocab_size"), tied: false },
  };
}

export function bloom(config: Config, load: Loader): Architecture {
  const dim = numberOf(config, "hidden_size");
  const heads = numberOf(config, "n_head");
  load.put("embedding.weight", "transformer.word_embeddings.weight");
  load.norm("embedding.norm", "transformer.word_embeddings_layernorm");
  everyBlock(numberOf(config, "n_layer"), (index, block) => {
    const from = `transformer.h.${index}`;
    load.norm(`${block}.norm1`, `${from}.input_layernorm`);
    load.norm(`${block}.norm2`, `${from}.post_attention_layernorm`);
    loadFused(load, block, `${from}.self_attention.query_key_value`, heads);
    load.linear(`${block}.attention.output`, `${from}.self_attention.dense`);
    load.linear(`${block}.feedForward.in`, `${from}.mlp.dense_h_to_4h`);
    load.linear(`${block}.feedForward.out`, `${from}.mlp.dense_4h_to_h`);
  });
  load.norm("norm", "transformer.ln_f");
  return {
    dim,
    vocabulary: numberOf(config, "vocab_size"),
    trainedLength: 0,
    decoder: {
      layers: numberOf(config, "n_layer"),
      heads,
      feedForward: 4 * dim,
      causal: true,
      position: { type: "alibi" },
      norm: { kind: "layer", place: "pre", epsilon: numberOf(config, "layer_norm_epsilon") },
      embeddingNorm: true,
      activation: "gelu-tanh",
      bias: true,
    },
    head: { outputs: numberOf(config, "vocab_size"), tied: true },
  };
}

export function palm(config: Config, load: Loader): Architecture {
  const dim = numberOf(config, "hidden_size");
  const heads = numberOf(config, "num_attention_heads");
  const headDim = numberOf(config, "head_dim");
  const layers = numberOf(config, "num_hidden_layers");
  const feedForward = numberOf(config, "ff_mult") * dim;
  load.put("embedding.weight", "0.weight");
  everyBlock(layers, (index, block) => {
    const from = `${index + 1}.fn`;
    const fused = load.get(`${from}.fused_attn_ff_proj.weight`);
    load.put(`${block}.norm1.gain`, `${from}.norm.gamma`);
    let row = 0;
    for (const [part, count] of [
      ["attention.query", heads * headDim],
      ["attention.key", headDim],
      ["attention.value", headDim],
      ["feedForward.in", feedForward],
      ["feedForward.gate", feedForward],
    ] as const) {
      load.put(`${block}.${part}.weight`, rows(fused, row, count));
      row += count;
    }
    load.linear(`${block}.attention.output`, `${from}.attn_out`);
    const out = `${from}.ff_out.1.weight`;
    load.put(`${block}.feedForward.out.weight`, out);
  });
  load.put("norm.gain", `${layers + 1}.gamma`);
  return {
    dim,
    vocabulary: numberOf(config, "vocab_size"),
    trainedLength: numberOf(config, "max_position_embeddings"),
    decoder: {
      layers,
      heads,
      keyValueHeads: 1,
      headDim,
      feedForward,
      causal: true,
      position: { type: "rope", theta: numberOf(config, "rope_theta") },
      norm: { kind: "layer", place: "pre", epsilon: numberOf(config, "layer_norm_eps"), bias: false },
      parallel: "one-norm",
      activation: "silu",
      gated: true,
    },
    head: { outputs: numberOf(config, "vocab_size"), tied: true },
  };
}

export function transformerXl(config: Config, load: Loader): Architecture {
  const dim = numberOf(config, "d_model");
  const width = numberOf(config, "n_head") * numberOf(config, "d_head");
  load.put("embedding.weight", "transformer.word_emb.emb_layers.0.weight");
  load.put("head.bias", "crit.out_layers.0.bias");
  everyBlock(numberOf(config, "n_layer"), (index, block) => {
    const from = `transformer.layers.${index}`;
    ["query", "key", "value"].forEach((part, place) =>
      load.put(
        `${block}.attention.${part}.weight`,
        rows(load.get(`${from}.dec_attn.qkv_net.weight`), place * width, width),
      ),
    );
    load.linear(`${block}.attention.output`, `${from}.dec_attn.o_net`);
    load.norm(`${block}.norm1`, `${from}.dec_attn.layer_norm`);
    load.put(`${block}.position.projection`, `${from}.dec_attn.r_net.weight`);
    load.put(`${block}.position.contentBias`, `${from}.dec_attn.r_w_bias`);
    load.put(`${block}.position.positionBias`, `${from}.dec_attn.r_r_bias`);
    load.linear(`${block}.feedForward.in`, `${from}.pos_ff.CoreNet.0`);
    load.linear(`${block}.feedForward.out`, `${from}.pos_ff.CoreNet.3`);
    load.norm(`${block}.norm2`, `${from}.pos_ff.layer_norm`);
  });
  const vocabulary = numberOf(config, "vocab_size");
  return {
    dim,
    vocabulary,
    trainedLength: 0,
    memoryLength: numberOf(config, "mem_len"),
    decoder: {
      layers: numberOf(config, "n_layer"),
      heads: numberOf(config, "n_head"),
      headDim: numberOf(config, "d_head"),
      feedForward: numberOf(config, "d_inner"),
      causal: true,
      position: { type: "transformer-xl", clampLength: numberOf(config, "clamp_len") },
      norm: { kind: "layer", place: "post", epsilon: numberOf(config, "layer_norm_epsilon") },
      embeddingScale: Math.sqrt(dim),
      activation: "relu",
      bias: { in: true, out: true },
    },
    head: { outputs: vocabulary, tied: true, bias: true },
  };
}
