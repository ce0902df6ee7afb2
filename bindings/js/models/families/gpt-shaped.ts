// SPDX-License-Identifier: MIT
// Decoders shaped like GPT-2 (Radford et al. 2019): LayerNorm, plain feed-forward parts, biases, and positions of every
// kind: learned (GPT-2, OPT), RoPE (GPT-J, GPT-NeoX, Falcon), ALiBi (BLOOM, MPT, Falcon-RW).

import type { Architecture, Stack } from "../model-description.js";
import { activationOf } from "./activations.js";
import type { Config } from "./config.js";
import { type Family, type FamilyInput, headByHead, modules, type Places, queriesKeysValues } from "./family.js";

interface Sizes {
  dim: number;
  layers: number;
  heads: number;
  headDim: number;
}

function sizesOf(config: Config): Sizes {
  const dim = config.count("n_embd", "hidden_size", "d_model");
  const heads = config.count("n_head", "num_attention_heads", "n_heads");
  return {
    dim,
    heads,
    layers: config.count("n_layer", "num_hidden_layers", "n_layers"),
    headDim: Math.floor(dim / heads),
  };
}

interface Description {
  feedForward: number;
  epsilon: number;
  trainedLength?: number;
  tied?: boolean;
  headBias?: boolean;
  stack?: Partial<Stack>;
}

/** Pre-LayerNorm, biases everywhere, tied output unless the config and the file have another. */
function decoder({ config, conventions, has }: FamilyInput, description: Description): Architecture {
  const { dim, layers, heads, headDim } = sizesOf(config);
  const vocabulary = config.count("vocab_size");
  return {
    dim,
    vocabulary,
    trainedLength: description.trainedLength ?? 0,
    decoder: {
      layers,
      heads,
      headDim,
      feedForward: description.feedForward,
      causal: true,
      ...conventions.of(layers),
      norm: { kind: "layer", place: "pre", epsilon: description.epsilon },
      activation: "gelu-tanh",
      bias: true,
      ...description.stack,
    },
    head: {
      outputs: vocabulary,
      tied: description.tied ?? (config.flag(true, "tie_word_embeddings") || !has("lm_head.weight")),
      ...(description.headBias ? { bias: true } : {}),
    },
  };
}

/** Falcon-7B (one key/value head, one norm), Falcon-40B (groups, two norms), Falcon-RW (ALiBi, in sequence). */
function falcon(input: FamilyInput): Architecture {
  const { config } = input;
  const { dim, heads } = sizesOf(config);
  const grouped = config.flag(false, "new_decoder_architecture");
  const keyValueHeads = grouped ? config.count("num_kv_heads") : config.flag(true, "multi_query") ? 1 : heads;
  const parallel = grouped || config.flag(true, "parallel_attn");
  const twoNorms = grouped && config.number(2, "num_ln_in_parallel_attn") === 2;
  const trainedLength = config.optionalCount("max_position_embeddings") ?? 2048;
  return decoder(input, {
    feedForward: config.optionalCount("ffn_hidden_size") ?? 4 * dim,
    epsilon: config.number(1e-5, "layer_norm_epsilon"),
    trainedLength,
    tied: config.flag(true, "tie_word_embeddings"),
    stack: {
      keyValueHeads,
      activation: activationOf(config, "gelu", "activation"),
      bias: config.flag(false, "bias"),
      parallel: parallel ? (twoNorms ? "two-norms" : "one-norm") : false,
    },
  });
}

const falconBlock = "transformer.h.{n}.";

/** Each of GPT-2's modules inside a block. */
const gpt2Block = modules("blocks.{n}.", "h.{n}.", { norm1: "ln_1", norm2: "ln_2" });
const gpt2Outside: Places = { embedding: "wte", "position.table": "wpe.weight", norm: "ln_f", head: "lm_head" };
const transposed = (from: string): { from: string; transposed: true } => ({ from, transposed: true });

const bloomModules = (block: string, attention: string): Places => ({
  ...modules("blocks.{n}.", block, { norm1: "input_layernorm", norm2: "post_attention_layernorm" }),
  ...headByHead(`${block}${attention}.query_key_value`),
  "blocks.{n}.attention.output": `${block}${attention}.dense`,
  "blocks.{n}.feedForward.in": `${block}mlp.dense_h_to_4h`,
  "blocks.{n}.feedForward.out": `${block}mlp.dense_4h_to_h`,
});

export const gptShaped: readonly Family[] = [
  {
    types: ["gpt2"],
    about: "GPT-2 (Radford et al. 2019): learned positions",
    prefix: "transformer.",
    architecture: (input) => {
      const { config } = input;
      config.refuse(!config.flag(true, "scale_attn_weights"), "scale_attn_weights", "true");
      config.refuse(config.flag(false, "scale_attn_by_inverse_layer_idx"), "scale_attn_by_inverse_layer_idx", "false");
      const rows = config.count("n_positions", "n_ctx");
      return decoder(input, {
        feedForward: config.optionalCount("n_inner") ?? 4 * sizesOf(config).dim,
        epsilon: config.number(1e-5, "layer_norm_epsilon"),
        trainedLength: rows,
        stack: { activation: activationOf(config, "gelu_new", "activation_function") },
      });
    },
    places: {
      ...gpt2Outside,
      ...gpt2Block,
      ...queriesKeysValues("h.{n}.attn.c_attn", { transposed: true }),
      "blocks.{n}.attention.output": transposed("h.{n}.attn.c_proj"),
      "blocks.{n}.feedForward.in": transposed("h.{n}.mlp.c_fc"),
      "blocks.{n}.feedForward.out": transposed("h.{n}.mlp.c_proj"),
    },
    ignored: /^lm_head\.weight$/,
  },
  {
    types: ["gpt_bigcode"],
    about: "SantaCoder, StarCoder: GPT-2 with one key/value head",
    prefix: "transformer.",
    architecture: (input) => {
      const { config } = input;
      const rows = config.count("n_positions");
      return decoder(input, {
        feedForward: config.optionalCount("n_inner") ?? 4 * sizesOf(config).dim,
        epsilon: config.number(1e-5, "layer_norm_epsilon"),
        trainedLength: rows,
        stack: {
          keyValueHeads: config.flag(true, "multi_query") ? 1 : sizesOf(config).heads,
          activation: activationOf(config, "gelu_pytorch_tanh", "activation_function"),
        },
      });
    },
    // With one key/value head "head by head" is queries, key, value; without it is that for every head.
    places: {
      ...gpt2Outside,
      ...gpt2Block,
      ...headByHead("h.{n}.attn.c_attn"),
      "blocks.{n}.attention.output": "h.{n}.attn.c_proj",
      "blocks.{n}.feedForward.in": "h.{n}.mlp.c_fc",
      "blocks.{n}.feedForward.out": "h.{n}.mlp.c_proj",
    },
    ignored: /^lm_head\.weight$/,
  },
  {
    types: ["gptj"],
    about: "GPT-J: parallel block, adjacent lanes rotated",
    architecture: (input) => {
      const { config } = input;
      const { dim } = sizesOf(config);
      return decoder(input, {
        feedForward: config.optionalCount("n_inner") ?? 4 * dim,
        epsilon: config.number(1e-5, "layer_norm_epsilon"),
        trainedLength: config.count("n_positions"),
        tied: false,
        headBias: true,
        stack: {
          activation: activationOf(config, "gelu_new", "activation_function"),
          bias: { in: true, out: true },
          parallel: "one-norm",
        },
      });
    },
    places: {
      embedding: "transformer.wte",
      norm: "transformer.ln_f",
      head: "lm_head",
      "blocks.{n}.norm1": "transformer.h.{n}.ln_1",
      ...modules("blocks.{n}.attention.", "transformer.h.{n}.attn.", {
        query: "q_proj",
        key: "k_proj",
        value: "v_proj",
        output: "out_proj",
      }),
      ...modules("blocks.{n}.feedForward.", "transformer.h.{n}.mlp.", { in: "fc_in", out: "fc_out" }),
    },
  },
  {
    types: ["gpt_neox"],
    about: "GPT-NeoX, Pythia (Black et al. 2022): a quarter of the lanes rotated, parallel block with two norms",
    architecture: (input) => {
      const { config } = input;
      const attention = config.flag(true, "attention_bias");
      return decoder(input, {
        feedForward: config.count("intermediate_size"),
        epsilon: config.number(1e-5, "layer_norm_eps"),
        trainedLength: config.count("max_position_embeddings"),
        tied: config.flag(false, "tie_word_embeddings"),
        stack: {
          activation: activationOf(config, "gelu", "hidden_act"),
          bias: { query: attention, key: attention, value: attention, attentionOutput: attention, in: true, out: true },
          parallel: config.flag(true, "use_parallel_residual") ? "two-norms" : false,
        },
      });
    },
    places: {
      embedding: "gpt_neox.embed_in",
      norm: "gpt_neox.final_layer_norm",
      head: "embed_out",
      ...bloomModules("gpt_neox.layers.{n}.", "attention"),
    },
  },
  {
    types: ["bloom"],
    about: "BLOOM (Scao et al. 2022): ALiBi, a norm of the embeddings",
    prefix: "transformer.",
    architecture: (input) => {
      const { config } = input;
      const postNorm = "apply_residual_connection_post_layernorm";
      config.refuse(config.flag(false, postNorm), postNorm, "false");
      const { dim } = sizesOf(config);
      return decoder(input, {
        feedForward: 4 * dim,
        epsilon: config.number(1e-5, "layer_norm_epsilon"),
        trainedLength: config.optionalCount("seq_length") ?? 0,
        stack: { embeddingNorm: true },
      });
    },
    places: {
      embedding: "word_embeddings",
      "embedding.norm": "word_embeddings_layernorm",
      norm: "ln_f",
      head: "lm_head",
      ...bloomModules("h.{n}.", "self_attention"),
    },
    ignored: /^lm_head\.weight$/,
  },
  {
    types: ["falcon", "RefinedWebModel", "RefinedWeb"],
    about: "Falcon (Almazrouei et al. 2023): RoPE and one or few key/value heads, or ALiBi",
    architecture: falcon,
    places: ({ config }) => ({
      embedding: "transformer.word_embeddings",
      norm: "transformer.ln_f",
      head: "lm_head",
      ...bloomModules(falconBlock, "self_attention"),
      ...(config.flag(false, "new_decoder_architecture") && config.number(2, "num_ln_in_parallel_attn") === 2
        ? modules("blocks.{n}.", falconBlock, { norm1: "ln_attn", norm2: "ln_mlp" })
        : {}),
    }),
    ignored: /^lm_head\.weight$/,
  },
  {
    types: ["mpt"],
    about: "MPT: ALiBi, no biases",
    prefix: "transformer.",
    architecture: (input) => {
      const { config } = input;
      const attention = config.object("attn_config");
      attention.refuse(!attention.flag(true, "alibi"), "alibi", "true");
      attention.refuse(attention.flag(false, "qk_ln"), "qk_ln", "false");
      attention.refuse(attention.value("clip_qkv") !== undefined, "clip_qkv", "null");
      attention.refuse(attention.number(8, "alibi_bias_max") !== 8, "alibi_bias_max", "8");
      const { dim } = sizesOf(config);
      const noBias = config.flag(true, "no_bias");
      config.refuse(!noBias, "no_bias", "true");
      return decoder(input, {
        feedForward: config.number(4, "expansion_ratio") * dim,
        epsilon: config.number(1e-5, "layer_norm_epsilon"),
        trainedLength: config.count("max_seq_len"),
        stack: {
          activation: "gelu-erf",
          bias: false,
          norm: { kind: "layer", place: "pre", epsilon: config.number(1e-5, "layer_norm_epsilon"), bias: false },
          scale: attention.number(sizesOf(config).headDim ** -0.5, "softmax_scale"),
        },
      });
    },
    places: {
      embedding: "wte",
      norm: "norm_f",
      head: "lm_head",
      ...modules("blocks.{n}.", "blocks.{n}.", { norm1: "norm_1", norm2: "norm_2" }),
      ...queriesKeysValues("blocks.{n}.attn.Wqkv"),
      "blocks.{n}.attention.output": "blocks.{n}.attn.out_proj",
      "blocks.{n}.feedForward.in": "blocks.{n}.ffn.up_proj",
      "blocks.{n}.feedForward.out": "blocks.{n}.ffn.down_proj",
    },
    ignored: /^lm_head\.weight$/,
  },
  {
    types: ["opt"],
    about: "OPT (Zhang et al. 2022): learned positions from row 2 on",
    prefix: "model.",
    architecture: (input) => {
      const { config } = input;
      const width = "word_embed_proj_dim";
      const dim = config.count("hidden_size");
      config.refuse((config.optionalCount(width) ?? dim) !== dim, width, `hidden_size (${dim})`);
      config.refuse(!config.flag(true, "do_layer_norm_before"), "do_layer_norm_before", "true");
      config.refuse(config.flag(false, "_remove_final_layer_norm"), "_remove_final_layer_norm", "false");
      const trainedLength = config.count("max_position_embeddings");
      return decoder(input, {
        feedForward: config.count("ffn_dim"),
        epsilon: 1e-5,
        trainedLength,
        stack: {
          activation: activationOf(config, "relu", "activation_function"),
          bias: config.flag(true, "enable_bias"),
        },
      });
    },
    places: {
      embedding: "decoder.embed_tokens",
      "position.table": "decoder.embed_positions.weight",
      norm: "decoder.final_layer_norm",
      head: "lm_head",
      ...modules("blocks.{n}.", "decoder.layers.{n}.", { norm1: "self_attn_layer_norm", norm2: "final_layer_norm" }),
      ...modules("blocks.{n}.attention.", "decoder.layers.{n}.self_attn.", {
        query: "q_proj",
        key: "k_proj",
        value: "v_proj",
        output: "out_proj",
      }),
      ...modules("blocks.{n}.feedForward.", "decoder.layers.{n}.", { in: "fc1", out: "fc2" }),
    },
    ignored: /^lm_head\.weight$/,
  },
];
