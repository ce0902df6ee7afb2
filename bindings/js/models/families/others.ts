// SPDX-License-Identifier: MIT
// Decoders of a shape of their own: PaLM (Chowdhery et al. 2022) and Transformer-XL (Dai et al. 2019).

import { attentionAndFeedForward, type Family, modules, queriesKeysValues } from "./family.js";

const xlBlock = "transformer.layers.{n}.";

export const others: readonly Family[] = [
  {
    types: ["palm"],
    about: "PaLM (Chowdhery et al. 2022) as PaLM-pytorch names it: parallel block, one key/value head, SwiGLU",
    architecture: ({ config, conventions }) => {
      const dim = config.count("hidden_size");
      const vocabulary = config.count("vocab_size");
      config.refuse(!config.flag(true, "tie_word_embeddings"), "tie_word_embeddings", "true");
      const headDim = config.count("head_dim");
      const layers = config.count("num_hidden_layers");
      return {
        dim,
        vocabulary,
        trainedLength: config.optionalCount("max_position_embeddings") ?? 0,
        decoder: {
          layers,
          heads: config.count("num_attention_heads"),
          keyValueHeads: 1,
          headDim,
          feedForward: config.number(4, "ff_mult") * dim,
          causal: true,
          ...conventions.of(layers),
          norm: { kind: "layer", place: "pre", epsilon: config.number(1e-5, "layer_norm_eps"), bias: false },
          parallel: "one-norm",
          activation: "silu",
          gated: true,
        },
        head: { outputs: vocabulary, tied: true },
      };
    },
    places: {
      embedding: "0",
      "blocks.{n}.norm1.gain": "{n+1}.fn.norm.gamma",
      ...attentionAndFeedForward("{n+1}.fn.fused_attn_ff_proj"),
      "blocks.{n}.attention.output": "{n+1}.fn.attn_out",
      "blocks.{n}.feedForward.out": "{n+1}.fn.ff_out.1",
      "norm.gain": "{end}.gamma",
    },
    // Constants that PaLM-pytorch stores, and its tied output.
    ignored: /\.beta$|^\d+\.weight$/,
  },
  {
    types: ["transfo-xl"],
    about: "Transformer-XL (Dai et al. 2019): relative sinusoids, memory of the segment before",
    architecture: ({ config, conventions }) => {
      const dim = config.count("d_model");
      const vocabulary = config.count("vocab_size");
      config.refuse(
        ((config.value("cutoffs") as unknown[] | undefined) ?? []).length > 0,
        "cutoffs",
        "an empty list (no adaptive softmax)",
      );
      config.refuse(config.number(dim, "d_embed") !== dim, "d_embed", `d_model (${dim})`);
      config.refuse(config.number(0, "attn_type") !== 0, "attn_type", "0");
      config.refuse(config.flag(false, "same_length"), "same_length", "false");
      const layers = config.count("n_layer");
      const headDim = config.count("d_head");
      return {
        dim,
        vocabulary,
        trainedLength: config.optionalCount("tgt_len") ?? 0,
        decoder: {
          layers,
          heads: config.count("n_head"),
          headDim,
          feedForward: config.count("d_inner"),
          causal: true,
          ...conventions.of(layers),
          norm: {
            kind: "layer",
            place: config.flag(false, "pre_lnorm") ? "pre" : "post",
            epsilon: config.number(1e-5, "layer_norm_epsilon"),
          },
          finalNorm: false,
          embeddingScale: Math.sqrt(dim),
          activation: "relu",
          bias: { in: true, out: true },
        },
        memoryLength: config.optionalCount("mem_len") ?? 0,
        head: { outputs: vocabulary, tied: true, bias: true },
      };
    },
    places: ({ config }) => {
      const biases = config.flag(true, "untie_r") ? `${xlBlock}dec_attn.` : "transformer.";
      return {
        embedding: "transformer.word_emb.emb_layers.0",
        "blocks.{n}.norm1": `${xlBlock}dec_attn.layer_norm`,
        ...queriesKeysValues(`${xlBlock}dec_attn.qkv_net`),
        "blocks.{n}.attention.output": `${xlBlock}dec_attn.o_net`,
        "blocks.{n}.position.projection": `${xlBlock}dec_attn.r_net.weight`,
        "blocks.{n}.position.contentBias": `${biases}r_w_bias`,
        "blocks.{n}.position.positionBias": `${biases}r_r_bias`,
        ...modules("blocks.{n}.", `${xlBlock}pos_ff.`, {
          norm2: "layer_norm",
          "feedForward.in": "CoreNet.0",
          "feedForward.out": "CoreNet.3",
        }),
        "head.bias": "crit.out_layers.0.bias",
      };
    },
    ignored: /^crit\.out_layers\.0\.weight$/,
  },
];
