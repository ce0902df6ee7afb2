// SPDX-License-Identifier: MIT
// Position keys of well-known models with what transformers 5.24 computes for them (float32): a few frequencies by pair.

export interface ConfigRow {
  name: string;
  config: Record<string, unknown>;
  kind?: string;
  rotaryDim: number;
  attentionFactor?: number;
  frequencies: Record<number, number>;
}

const small = { hidden_size: 384, num_attention_heads: 6, num_hidden_layers: 6, max_position_embeddings: 4096 };
const llama31 = {
  model_type: "llama",
  hidden_size: 8192,
  num_attention_heads: 64,
  max_position_embeddings: 131072,
  rope_theta: 500000.0,
};
const llama3Scaling = {
  rope_type: "llama3",
  factor: 8.0,
  low_freq_factor: 1.0,
  high_freq_factor: 4.0,
  original_max_position_embeddings: 8192,
};
const gptOss = {
  model_type: "gpt_oss",
  head_dim: 64,
  num_hidden_layers: 24,
  sliding_window: 128,
  max_position_embeddings: 131072,
};
const gptOssYarn = {
  rope_type: "yarn",
  factor: 32.0,
  beta_fast: 32.0,
  beta_slow: 1.0,
  original_max_position_embeddings: 4096,
  truncate: false,
};
const gptOssFrequencies = { 9: 0.031705696135759354, 16: 0.0004564839182421565, 17: 0.00012931869423482567 };
const gemma3 = { model_type: "gemma3_text", head_dim: 256, num_hidden_layers: 26, num_attention_heads: 4 };
const gemma3Keys = { rope_theta: 1000000, rope_local_base_freq: 10000, sliding_window: 512 };
const modernbert = { model_type: "modernbert", hidden_size: 768, num_attention_heads: 12, num_hidden_layers: 22 };

export const configRows: readonly ConfigRow[] = [
  {
    name: "Llama 3.1, old generation",
    config: { ...llama31, rope_scaling: llama3Scaling },
    rotaryDim: 128,
    frequencies: { 1: 0.8146172165870667, 30: 0.0013718936825171113, 63: 3.068925877869333e-7 },
  },
  {
    name: "Llama 3.1, new generation",
    config: { ...llama31, rope_theta: undefined, rope_parameters: { ...llama3Scaling, rope_theta: 500000 } },
    rotaryDim: 128,
    frequencies: { 1: 0.8146172165870667, 30: 0.0013718936825171113, 63: 3.068925877869333e-7 },
  },
  {
    name: "Llama 3.2 1B",
    config: { ...llama31, head_dim: 64, rope_scaling: { ...llama3Scaling, factor: 32 } },
    rotaryDim: 64,
    frequencies: { 15: 0.0012905480107292533, 17: 9.708286233944818e-5, 31: 9.418306490260875e-8 },
  },
  {
    name: "DeepSeek Coder",
    config: {
      model_type: "llama",
      hidden_size: 4096,
      num_attention_heads: 32,
      max_position_embeddings: 16384,
      rope_theta: 100000,
      rope_scaling: { type: "linear", factor: 4.0 },
    },
    rotaryDim: 128,
    frequencies: { 1: 0.20884063839912415, 63: 2.992712552440935e-6 },
  },
  {
    name: "GPT-NeoX",
    config: {
      model_type: "gpt_neox",
      hidden_size: 6144,
      num_attention_heads: 64,
      rotary_pct: 0.25,
      rotary_emb_base: 10000,
    },
    rotaryDim: 24,
    frequencies: { 1: 0.46415889263153076, 11: 0.00021544341871049255 },
  },
  {
    name: "GPT-OSS",
    config: { ...gptOss, rope_theta: 150000, rope_scaling: gptOssYarn },
    rotaryDim: 64,
    attentionFactor: 1.3465735902799727,
    frequencies: gptOssFrequencies,
  },
  {
    name: "GPT-OSS without scaling keys, by its class",
    config: gptOss,
    rotaryDim: 64,
    attentionFactor: 1.3465735902799727,
    frequencies: gptOssFrequencies,
  },
  {
    name: "DeepSeek V3",
    config: {
      model_type: "deepseek_v3",
      hidden_size: 7168,
      num_attention_heads: 128,
      qk_nope_head_dim: 128,
      qk_rope_head_dim: 64,
      max_position_embeddings: 163840,
      rope_theta: 10000,
      rope_scaling: {
        type: "yarn",
        factor: 40,
        beta_fast: 32,
        beta_slow: 1,
        mscale: 1.0,
        mscale_all_dim: 1.0,
        original_max_position_embeddings: 4096,
      },
    },
    rotaryDim: 64,
    frequencies: { 11: 0.039006926119327545, 20: 0.0007905694073997438, 31: 3.3338035336782923e-6 },
  },
  {
    name: "Gemma 3, global layers",
    config: { ...gemma3, ...gemma3Keys },
    kind: "full_attention",
    rotaryDim: 256,
    frequencies: { 1: 0.8976871371269226, 127: 1.1139738944621058e-6 },
  },
  {
    name: "Gemma 3, local layers",
    config: { ...gemma3, ...gemma3Keys },
    kind: "sliding_attention",
    rotaryDim: 256,
    frequencies: { 1: 0.9305720329284668, 127: 0.00010746077896328643 },
  },
  {
    name: "ModernBERT, global layers, by its class",
    config: modernbert,
    kind: "full_attention",
    rotaryDim: 64,
    frequencies: { 1: 0.687656044960022, 31: 9.088847036764491e-6 },
  },
  {
    name: "ModernBERT, local layers",
    config: { ...modernbert, local_rope_theta: 10000.0 },
    kind: "sliding_attention",
    rotaryDim: 64,
    frequencies: { 1: 0.7498942017555237, 31: 0.0001333521504420787 },
  },
  {
    name: "Command R, whose theta no key says",
    config: { model_type: "cohere", hidden_size: 8192, num_attention_heads: 64, max_position_embeddings: 131072 },
    rotaryDim: 128,
    frequencies: { 1: 0.8146172165870667 },
  },
  {
    name: "StableLM",
    config: {
      model_type: "stablelm",
      hidden_size: 2560,
      num_attention_heads: 32,
      partial_rotary_factor: 0.25,
      rope_theta: 10000,
    },
    rotaryDim: 20,
    frequencies: { 1: 0.3981071710586548, 9: 0.0002511886996217072 },
  },
  {
    name: "Qwen 2.5 with yarn",
    config: {
      model_type: "qwen2",
      hidden_size: 3584,
      num_attention_heads: 28,
      max_position_embeddings: 131072,
      rope_theta: 1000000.0,
      rope_scaling: { factor: 4.0, original_max_position_embeddings: 32768, type: "yarn" },
    },
    rotaryDim: 128,
    attentionFactor: 1.138629436111989,
    frequencies: { 23: 0.006978305988013744, 30: 0.0010643609566614032, 63: 3.102344408034696e-7 },
  },
  {
    name: "SmolLM3",
    config: {
      model_type: "smollm3",
      hidden_size: 2048,
      num_attention_heads: 16,
      num_hidden_layers: 36,
      rope_theta: 5e6,
    },
    rotaryDim: 128,
    frequencies: { 1: 0.785830020904541, 63: 2.5450796670156706e-7 },
  },
  // Widths of a head that the files of small models leave to the class, or to the other sizes.
  {
    name: "ERNIE 4.5, whose heads are 128 wide",
    config: { model_type: "ernie4_5", ...small },
    rotaryDim: 128,
    frequencies: { 1: 0.8146172165870667, 63: 2.4551407022954663e-6 },
  },
  {
    name: "Helium, whose heads are 128 wide",
    config: { model_type: "helium", ...small },
    rotaryDim: 128,
    frequencies: { 1: 0.8353625535964966, 63: 1.197085020976374e-5 },
  },
  {
    name: "Seed-OSS, whose heads are 128 wide",
    config: { model_type: "seed_oss", ...small },
    rotaryDim: 128,
    frequencies: { 1: 0.8659643530845642, 63: 0.00011547819303814322 },
  },
  {
    name: "Apertus without a scaling of its own",
    config: { model_type: "apertus", ...small },
    rotaryDim: 64,
    frequencies: { 1: 0.6008631587028503, 15: 6.0054255300201476e-5, 31: 1.7336171609372286e-8 },
  },
  {
    name: "Ministral 3 without a scaling of its own",
    config: { model_type: "ministral3", ...small },
    rotaryDim: 128,
    frequencies: { 1: 0.8058422207832336, 63: 7.75586102008674e-8 },
  },
  {
    name: "Qwen 3 with experts, whose heads share the width",
    config: { model_type: "qwen3_moe", ...small },
    rotaryDim: 64,
    frequencies: { 1: 0.7498942017555237, 31: 0.0001333521504420787 },
  },
  {
    name: "Qwen 3 VL with experts",
    config: { model_type: "qwen3_vl_moe_text", ...small },
    rotaryDim: 64,
    frequencies: { 1: 0.663601279258728, 31: 3.01385807688348e-6 },
  },
];
