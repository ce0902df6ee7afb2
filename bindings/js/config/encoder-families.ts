// SPDX-License-Identifier: MIT
// Families of encoders, of encoders with a decoder, and of vision and audio models, one row each. Defaults and rules are
// those of the model classes of transformers 5.24, or of the model's own code where transformers has none.

import type { Family, Part } from "./family.js";
import { globalEvery } from "./layer-kinds.js";

/** Rows 0 .. padding id are not positions: row = padding id + running count. */
const kAfterPadding = (padding: number) => ({ policy: "mask", offset: padding + 1, paddingRow: padding }) as const;
const kT5Defaults = { d_kv: 64, relative_attention_num_buckets: 32, relative_attention_max_distance: 128 };
const kT5Encoder: Part = {
  scheme: "t5",
  causal: false,
  options: { bidirectional: true },
  scale: { constant: 1 },
  defaults: kT5Defaults,
};
const kT5Decoder: Part = {
  scheme: "t5",
  options: { bidirectional: false },
  scale: { constant: 1 },
  defaults: kT5Defaults,
};
const kBartPart: Part = {
  scheme: "learned",
  rowsBeyond: 2,
  ids: { policy: "plain", offset: 2 },
  defaults: { max_position_embeddings: 1024 },
};
/** A table of exactly as many rows as positions. */
const kPlainPart = (rows: number): Part => ({ scheme: "learned", defaults: { max_position_embeddings: rows } });
/** An encoder that has what its decoder has. */
const kBoth = (part: Part): { decoder: Part; encoder: Part } => ({
  decoder: part,
  encoder: { ...part, causal: false },
});
const kFairseqPart: Part = {
  scheme: "sinusoidal",
  options: { layout: "concatenated", denominator: "half-dim-minus-one" },
  ids: kAfterPadding(1),
  defaults: { max_position_embeddings: 1024 },
};
const kPegasusXPart: Part = {
  scheme: "sinusoidal",
  options: { layout: "concatenated", denominator: "half-dim-minus-one" },
  defaults: { max_position_embeddings: 16384 },
};
/** Its decoder and its encoder differ in what a local layer sees. */
const kModernBert = (window: "sliding" | "both-sides") =>
  ({
    scheme: "rope",
    perKind: true,
    windowKeys: ["local_attention"],
    kinds: {
      full_attention: { rope: { theta: ["global_rope_theta"], defaultTheta: 160000 } },
      sliding_attention: { window, rope: { theta: ["local_rope_theta"], defaultTheta: 10000, unscaled: true } },
    },
    pattern: { ...globalEvery(3, "global_attn_every_n_layers"), fromFirst: true },
    defaults: { local_attention: 128, max_position_embeddings: 8192 },
  }) satisfies Partial<Family>;
const kMarianPart: Part = {
  scheme: "sinusoidal",
  options: { layout: "concatenated" },
  defaults: { max_position_embeddings: 1024 },
};
const kGrid = (extraRows: number): Part => ({
  scheme: "grid",
  causal: false,
  options: { extraRows },
  defaults: { image_size: 224, patch_size: 16 },
});
const kNotHere = (what: string) => ["no-scheme-object", what] as const;

export const encoderFamilies: readonly Family[] = [
  // ---------------------------------------------------------------------------------------- learned tables
  {
    names: ["bert", "electra", "distilbert", "albert"],
    when: { position_embedding_type: "relative_key" },
    scheme: "shaw",
    causal: false,
    defaults: { max_position_embeddings: 512 },
    cautions: [
      [
        "rows-reversed",
        "relative_key: the table's rows run by i - j, Shaw's by j - i: reverse them; nothing is clipped, and a text longer than the table is an error",
      ],
    ],
  },
  {
    names: ["bert", "electra"],
    when: { position_embedding_type: "relative_key_query" },
    scheme: "none",
    causal: false,
    defaults: { max_position_embeddings: 512 },
    cautions: [kNotHere("relative_key_query adds q r and k r with one table; there is no scheme object for it here")],
  },
  {
    names: ["jina_bert_v2", "jina_bert", "bert"],
    when: { position_embedding_type: "alibi" },
    scheme: "alibi",
    causal: false,
  },
  { names: ["jina_bert_v2"], scheme: "alibi", causal: false },
  {
    names: ["bert", "roberta", "xlm-roberta"],
    when: { position_embedding_type: ["rotary", "rope"] },
    scheme: "rope",
    causal: false,
  },
  {
    names: ["bert", "electra", "distilbert", "albert", "ernie", "layoutlm"],
    scheme: "learned",
    causal: false,
    defaults: { max_position_embeddings: 512 },
  },
  {
    names: [
      ...["roberta", "xlm-roberta", "camembert", "data2vec-text", "roberta-prelayernorm", "xlm-roberta-xl"],
      ...["ibert", "lilt", "luke", "mluke", "markuplm", "xmod"],
    ],
    scheme: "learned",
    causal: false,
    ids: kAfterPadding(1),
    defaults: { max_position_embeddings: 514 },
  },
  {
    names: ["longformer"],
    scheme: "learned",
    causal: false,
    ids: kAfterPadding(1),
    windowKeys: ["attention_window"],
    window: true,
    kinds: { all: { window: "both-sides" } },
    cautions: [
      ["global-tokens", "chosen tokens see everything and are seen by everything; the window is for the others"],
    ],
  },
  { names: ["esm"], when: { position_embedding_type: "rotary" }, scheme: "rope", causal: false },
  {
    names: ["esm"],
    scheme: "learned",
    causal: false,
    ids: kAfterPadding(1),
    defaults: { max_position_embeddings: 1026 },
  },

  // ---------------------------------------------------------------------------------------- rotations
  { names: ["modernbert"], causal: false, ...kModernBert("both-sides") },
  // Half of local_attention, and all of it before the query.
  { names: ["modernbert-decoder"], windowShare: 0.5, ...kModernBert("sliding") },
  {
    names: ["nomic_bert"],
    scheme: "rope",
    causal: false,
    layoutKey: "rotary_emb_interleaved",
    dynamic: { factor: "rotary_scaling_factor", trained: "max_trained_positions" },
    defaults: { rope_theta: 1000, n_positions: 2048, max_trained_positions: 2048 },
  },
  {
    names: ["jina_embeddings_v3", "xlm-roberta-flash"],
    scheme: "rope",
    causal: false,
    defaults: { rope_theta: 20000 },
  },
  { names: ["gte", "new"], scheme: "rope", causal: false, defaults: { rope_theta: 160000 } },
  {
    names: ["roformer"],
    scheme: "rope",
    causal: false,
    layout: "interleaved",
    defaults: { max_position_embeddings: 1536 },
  },

  // ---------------------------------------------------------------------------------------- relative positions
  {
    names: ["deberta", "deberta-v2"],
    when: { relative_attention: true },
    scheme: "deberta",
    causal: false,
    scale: { terms: "pos_att_type" },
    defaults: { max_position_embeddings: 512, max_relative_positions: -1 },
  },
  { names: ["deberta", "deberta-v2"], scheme: "learned", causal: false, defaults: { max_position_embeddings: 512 } },
  // T5's buckets without T5's scale, and a table before the first layer like RoBERTa's.
  {
    names: ["mpnet"],
    scheme: "t5",
    causal: false,
    options: { bidirectional: true },
    cautions: [
      [
        "table-besides",
        "beside the bias, which all layers share, MPNet adds a learned table to the tokens; the first two of its max_position_embeddings rows are no positions, and text can be as long as the others",
      ],
    ],
  },
  {
    names: ["xlnet"],
    scheme: "transformer-xl",
    causal: false,
    cautions: [
      [
        "two-directions",
        "XLNet's distances run both ways (attn_type bi); its r must be flattened and transposed to be `projection`",
      ],
    ],
  },
  { names: ["transfo-xl"], scheme: "transformer-xl" },

  // ---------------------------------------------------------------------------------------- encoder and decoder
  {
    names: ["t5", "mt5", "longt5", "switch_transformers", "pix2struct"],
    scheme: "t5",
    parts: { encoder: kT5Encoder, decoder: kT5Decoder },
    cautions: [
      [
        "no-limit",
        "n_positions is no limit: the bias depends on the distance; cross-attention has no bias; the first layer's table serves all layers",
      ],
    ],
  },
  {
    names: ["umt5"],
    scheme: "t5",
    parts: { encoder: kT5Encoder, decoder: kT5Decoder },
    cautions: [["table-per-layer", "each layer has a table of its own; n_positions is no limit"]],
  },
  {
    names: ["bart", "mbart", "plbart", "mvp"],
    scheme: "learned",
    parts: kBoth(kBartPart),
  },
  // Made after BART, without the two rows that it leaves out.
  { names: ["blenderbot"], scheme: "learned", parts: kBoth(kPlainPart(128)) },
  { names: ["blenderbot-small"], scheme: "learned", parts: kBoth(kPlainPart(512)) },
  { names: ["bigbird_pegasus"], scheme: "learned", parts: kBoth(kPlainPart(4096)) },
  {
    names: ["led"],
    scheme: "learned",
    parts: {
      decoder: {
        scheme: "learned",
        maxPositions: "max_decoder_position_embeddings",
        defaults: { max_decoder_position_embeddings: 1024 },
      },
      encoder: {
        scheme: "learned",
        causal: false,
        maxPositions: "max_encoder_position_embeddings",
        windowKeys: ["attention_window"],
        window: true,
        kinds: { all: { window: "both-sides" } },
        defaults: { max_encoder_position_embeddings: 16384, attention_window: 512 },
      },
    },
  },
  {
    names: ["pegasus-x", "pegasus_x"],
    scheme: "sinusoidal",
    parts: kBoth(kPegasusXPart),
  },
  {
    names: ["marian", "pegasus"],
    scheme: "sinusoidal",
    parts: kBoth(kMarianPart),
  },
  {
    names: ["m2m_100", "speech_to_text", "fsmt", "nllb-moe"],
    scheme: "sinusoidal",
    parts: kBoth(kFairseqPart),
  },
  {
    names: ["whisper"],
    scheme: "learned",
    parts: {
      decoder: { scheme: "learned", maxPositions: "max_target_positions", defaults: { max_target_positions: 448 } },
      encoder: {
        scheme: "sinusoidal",
        causal: false,
        options: { layout: "concatenated", denominator: "half-dim-minus-one" },
        maxPositions: "max_source_positions",
        defaults: { max_source_positions: 1500 },
      },
    },
  },

  // ---------------------------------------------------------------------------------------- images
  { names: ["vit", "vit_mae", "ijepa"], ...kGrid(1) },
  { names: ["deit"], ...kGrid(2) },
  { names: ["dinov2", "dinov2_with_registers"], ...kGrid(1), defaults: { image_size: 224, patch_size: 14 } },
  {
    names: ["clip"],
    scheme: "learned",
    parts: {
      text: {
        at: "text_config",
        scheme: "learned",
        defaults: { max_position_embeddings: 77, hidden_size: 512, num_attention_heads: 8 },
      },
      vision: {
        at: "vision_config",
        ...kGrid(1),
        defaults: { image_size: 224, patch_size: 32, hidden_size: 768, num_attention_heads: 12 },
      },
    },
  },
  {
    names: ["siglip", "siglip2"],
    scheme: "learned",
    parts: {
      text: {
        at: "text_config",
        scheme: "learned",
        causal: false,
        defaults: { max_position_embeddings: 64, hidden_size: 768, num_attention_heads: 12 },
      },
      vision: {
        at: "vision_config",
        ...kGrid(0),
        defaults: { image_size: 224, patch_size: 16, hidden_size: 768, num_attention_heads: 12 },
      },
    },
  },
  { names: ["clip_vision_model"], ...kGrid(1) },
  { names: ["siglip_vision_model"], ...kGrid(0) },
];
