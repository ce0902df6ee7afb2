// SPDX-License-Identifier: MIT
// Bidirectional encoders: BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019), ViT (Dosovitskiy et al. 2021).

import type { Architecture, Stack } from "../model-description.js";
import { activationOf } from "./activations.js";
import { type Family, type FamilyInput, modules, type Places } from "./family.js";

function stack({ config, conventions }: FamilyInput, place: "pre" | "post"): Stack {
  const layers = config.count("num_hidden_layers");
  return {
    layers,
    heads: config.count("num_attention_heads"),
    feedForward: config.count("intermediate_size"),
    causal: false,
    ...conventions.of(layers),
    norm: { kind: "layer", place, epsilon: config.number(1e-12, "layer_norm_eps") },
    activation: activationOf(config, "gelu", "hidden_act"),
    bias: true,
  };
}

/** Without a language-model head the rows of the last layer are the result. */
function bert(input: FamilyInput, headName: string, outputName: string): Architecture {
  const { config, has } = input;
  const kind = config.text("absolute", "position_embedding_type");
  config.refuse(kind !== "absolute", "position_embedding_type", '"absolute"');
  const vocabulary = config.count("vocab_size");
  const encoder = stack(input, "post");
  return {
    dim: config.count("hidden_size"),
    vocabulary,
    trainedLength: input.conventions.usableLength ?? 0,
    encoder: { ...encoder, embeddingNorm: true, finalNorm: false, causal: config.flag(false, "is_decoder") },
    tokenTypes: config.optionalCount("type_vocab_size") ?? 0,
    head: has(headName)
      ? { outputs: vocabulary, tied: hasTiedOutput(input, outputName), bias: true, transform: encoder.activation }
      : null,
  };
}

const bertPlaces = (prefix: string): Places => ({
  embedding: `${prefix}embeddings.word_embeddings`,
  "embedding.type": `${prefix}embeddings.token_type_embeddings.weight`,
  "embedding.norm": `${prefix}embeddings.LayerNorm`,
  "position.table": `${prefix}embeddings.position_embeddings.weight`,
  ...modules("blocks.{n}.attention.", `${prefix}encoder.layer.{n}.attention.`, {
    query: "self.query",
    key: "self.key",
    value: "self.value",
    output: "output.dense",
  }),
  "blocks.{n}.norm1": `${prefix}encoder.layer.{n}.attention.output.LayerNorm`,
  "blocks.{n}.feedForward.in": `${prefix}encoder.layer.{n}.intermediate.dense`,
  "blocks.{n}.feedForward.out": `${prefix}encoder.layer.{n}.output.dense`,
  "blocks.{n}.norm2": `${prefix}encoder.layer.{n}.output.LayerNorm`,
});

/** The output is the embedding, unless the config says otherwise and the file has another. */
const hasTiedOutput = ({ config, has }: FamilyInput, outputName: string): boolean =>
  config.flag(true, "tie_word_embeddings") || !has(`${outputName}.weight`);

/** An output of its own has its bias beside it. */
const outputPlaces = (input: FamilyInput, outputName: string, tiedBias: string): Places =>
  hasTiedOutput(input, outputName) ? { "head.bias": tiedBias } : { head: outputName };

/** Checkpoints of the bare model have no "bert." in front of their names. */
const withOrWithout = ({ has }: FamilyInput, prefix: string): string =>
  has(`${prefix}embeddings.word_embeddings.weight`) ? prefix : "";
/** heads of other tasks, and the tied output where it is stored all the same */
const otherHeads =
  /^((bert|roberta)\.)?pooler\.|^classifier\.|^qa_outputs\.|^cls\.seq_relationship\.|decoder\.(weight|bias)$|^(cls\.predictions|lm_head)\.bias$/;

export const encoders: readonly Family[] = [
  {
    types: ["bert"],
    about: "BERT (Devlin et al. 2019): learned positions, post-norm",
    architecture: (input) => bert(input, "cls.predictions.transform.dense.weight", "cls.predictions.decoder"),
    places: (input) => ({
      ...bertPlaces(withOrWithout(input, "bert.")),
      "head.transform": "cls.predictions.transform.dense",
      "head.norm": "cls.predictions.transform.LayerNorm",
      ...outputPlaces(input, "cls.predictions.decoder", "cls.predictions.bias"),
    }),
    ignored: otherHeads,
  },
  {
    types: ["roberta", "xlm-roberta", "camembert"],
    about: "RoBERTa (Liu et al. 2019): BERT with positions from the padding id + 1 on",
    architecture: (input) => bert(input, "lm_head.dense.weight", "lm_head.decoder"),
    places: (input) => ({
      ...bertPlaces(withOrWithout(input, "roberta.")),
      "head.transform": "lm_head.dense",
      "head.norm": "lm_head.layer_norm",
      ...outputPlaces(input, "lm_head.decoder", "lm_head.bias"),
    }),
    ignored: otherHeads,
  },
  {
    types: ["vit"],
    about: "ViT (Dosovitskiy et al. 2021): a learned grid of positions, resized for other image sizes",
    architecture: (input) => {
      const { config, has, shapeOf } = input;
      const [height, width] = config.pair("image_size");
      const [patch, patchWidth] = config.pair("patch_size");
      config.refuse(patch !== patchWidth, "patch_size", "a square");
      config.refuse(height % patch !== 0 || width % patch !== 0, "image_size", `a multiple of patch_size (${patch})`);
      const outputs = shapeOf("classifier.weight")?.[0];
      const rows = 1 + (height / patch) * (width / patch);
      return {
        dim: config.count("hidden_size"),
        vocabulary: 0,
        trainedLength: rows,
        encoder: {
          ...stack(input, "pre"),
          bias: {
            query: config.flag(true, "qkv_bias"),
            key: config.flag(true, "qkv_bias"),
            value: config.flag(true, "qkv_bias"),
            attentionOutput: true,
            in: true,
            out: true,
          },
        },
        image: { channels: config.optionalCount("num_channels") ?? 3, patch, height, width },
        head: has("classifier.weight") && outputs ? { outputs, tied: false, bias: true, pooling: "first" } : null,
      };
    },
    places: (input) => {
      const prefix = input.has("vit.embeddings.cls_token") ? "vit." : "";
      const block = `${prefix}encoder.layer.{n}.`;
      return {
        patch: `${prefix}embeddings.patch_embeddings.projection`,
        classToken: `${prefix}embeddings.cls_token`,
        "position.table": `${prefix}embeddings.position_embeddings`,
        ...modules("blocks.{n}.attention.", `${block}attention.`, {
          query: "attention.query",
          key: "attention.key",
          value: "attention.value",
          output: "output.dense",
        }),
        ...modules("blocks.{n}.", block, {
          norm1: "layernorm_before",
          norm2: "layernorm_after",
          "feedForward.in": "intermediate.dense",
          "feedForward.out": "output.dense",
        }),
        norm: `${prefix}layernorm`,
        head: "classifier",
      };
    },
    ignored: /^(vit\.)?pooler\.|mask_token$/,
  },
];
