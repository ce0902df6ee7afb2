// SPDX-License-Identifier: MIT
// GGUF's metadata as a config in the spelling of Hugging Face, and its tensor names, which are the same for all
// architectures (llama.cpp, gguf-py/gguf/constants.py). Its converter has already split, turned and permuted what needs
// it: "llama" pairs adjacent lanes, fused projections are queries, keys, values.

import { PosLabError } from "../../errors.js";
import { type ModelFile, readStored } from "../stored-tensor.js";
import type { FrequencyFactors } from "./conventions.js";
import { gateThenIn, modules, type Places, queriesKeysValues } from "./family.js";
import { named } from "../../named.js";

/** general.architecture to model_type. */
const modelTypes: Record<string, string> = {
  llama: "llama",
  qwen2: "qwen2",
  qwen3: "qwen3",
  phi2: "phi",
  phi3: "phi3",
  gemma: "gemma",
  stablelm: "stablelm",
  starcoder: "gpt_bigcode",
  starcoder2: "starcoder2",
  "command-r": "cohere",
  smollm3: "smollm3",
  gpt2: "gpt2",
  gptj: "gptj",
  gptneox: "gpt_neox",
  bloom: "bloom",
  falcon: "falcon",
  mpt: "mpt",
  bert: "bert",
};
export interface GgufConfig {
  json: Record<string, unknown>;
  /** what the config explainer is to read */ explained: object;
  factors: FrequencyFactors | null;
  places: Places;
  /** the head's name in the files of the family, for `has` */ hasHead: boolean;
}

/** @throws PosLabError when the architecture is not known. */
export async function ggufConfig(file: ModelFile, signal?: AbortSignal): Promise<GgufConfig> {
  const architecture = file.metadata.get("general.architecture");
  if (typeof architecture !== "string")
    throw new PosLabError("missing", "GGUF: the file does not say its architecture (general.architecture)", {
      argument: "general.architecture",
    });
  const modelType = named(modelTypes, architecture);
  if (modelType === undefined)
    throw new PosLabError(
      "notDefined",
      `the model type "${architecture}" is not supported; in GGUF files ${Object.keys(modelTypes).join(", ")} are`,
      { argument: "general.architecture", given: architecture },
    );
  const hasHead = file.tensors.has("output.weight");
  const json = {
    model_type: modelType,
    tie_word_embeddings: !hasHead,
    vocab_size: file.tensors.get("token_embd.weight")?.shape[0],
    type_vocab_size: file.tensors.get("token_types.weight")?.shape[0],
    ...sizes(file, architecture),
    ...switches(file, architecture),
  };
  const factors = await frequencyFactors(file, architecture, signal);
  return {
    json,
    explained: explained(file, architecture, factors),
    factors,
    places: ggufPlaces(file, architecture),
    hasHead,
  };
}

/** Config fields by their keys after the architecture's name; a field may have several names in configs. */
const fields: Record<string, readonly string[]> = {
  vocab_size: ["vocab_size"],
  context_length: ["max_position_embeddings", "n_positions", "max_seq_len"],
  embedding_length: ["hidden_size"],
  block_count: ["num_hidden_layers"],
  feed_forward_length: ["intermediate_size", "n_inner", "ffn_hidden_size"],
  "attention.head_count": ["num_attention_heads"],
  "attention.head_count_kv": ["num_key_value_heads", "num_kv_heads"],
  "attention.key_length": ["head_dim"],
  "attention.layer_norm_rms_epsilon": ["rms_norm_eps"],
  "attention.layer_norm_epsilon": ["layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"],
  logit_scale: ["logit_scale"],
  use_parallel_residual: ["use_parallel_residual"],
};

function sizes(file: ModelFile, architecture: string): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const [key, names] of Object.entries(fields)) {
    const value = file.metadata.get(`${architecture}.${key}`);
    if (value === undefined) continue;
    // A list has an entry a layer (OpenELM and its kin): no family here takes that.
    for (const name of names) json[name] = value;
  }
  return json;
}

/** Divisors of the frequencies that the converter has computed: one list (Llama 3), or two (LongRoPE). */
async function frequencyFactors(
  file: ModelFile,
  architecture: string,
  signal?: AbortSignal,
): Promise<FrequencyFactors | null> {
  const divisors = async (name: string): Promise<number[] | undefined> => {
    const stored = file.tensors.get(name);
    return stored && Array.from(await readStored(stored, signal));
  };
  const number = (key: string): number | undefined => {
    const value = file.metadata.get(`${architecture}.rope.scaling.${key}`);
    return typeof value === "number" ? value : undefined;
  };
  const same = await divisors("rope_freqs.weight");
  if (same) return { short: same, long: same, attentionFactor: 1 };
  const short = await divisors("rope_factors_short.weight");
  const long = await divisors("rope_factors_long.weight");
  if (!short || !long) return null;
  const attentionFactor = number("attn_factor");
  const originalLength = number("original_context_length");
  return {
    short,
    long,
    ...(attentionFactor === undefined ? {} : { attentionFactor }),
    ...(originalLength === undefined ? {} : { originalLength }),
  };
}

/** The metadata as plain values; without its scaling where the file's tensors hold that. */
function explained(file: ModelFile, architecture: string, factors: FrequencyFactors | null): object {
  const plain = [...file.metadata].flatMap(([key, value]): [string, unknown][] => {
    if (key.startsWith("tokenizer.") || (factors && key.startsWith(`${architecture}.rope.scaling.`))) return [];
    return [[key, ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value]];
  });
  return Object.fromEntries(plain);
}

/** What families look at beside sizes, where GGUF says it by a key or by a tensor that is there. */
function switches(file: ModelFile, architecture: string): Record<string, unknown> {
  const number = (key: string): number | undefined => {
    const value = file.metadata.get(`${architecture}.${key}`);
    return typeof value === "number" ? value : undefined;
  };
  const has = (name: string): boolean => file.tensors.has(name);
  const feedForward = number("feed_forward_length");
  const width = number("embedding_length");
  switch (architecture) {
    case "falcon":
      return {
        new_decoder_architecture: has("blk.0.attn_norm_2.weight"),
        multi_query: number("attention.head_count_kv") === 1,
      };
    case "mpt":
      return {
        expansion_ratio: feedForward && width ? feedForward / width : 4,
        no_bias: !has("blk.0.attn_qkv.bias"),
        attn_config: {
          alibi: (number("attention.max_alibi_bias") ?? 0) > 0,
          alibi_bias_max: number("attention.max_alibi_bias") ?? 8,
          ...((number("attention.clamp_kqv") ?? 0) > 0 ? { clip_qkv: number("attention.clamp_kqv") } : {}),
        },
      };
    case "starcoder":
      return { multi_query: number("attention.head_count_kv") === 1 };
    case "stablelm":
      return { use_qkv_bias: has("blk.0.attn_q.bias"), qk_layernorm: has("blk.0.attn_q_norm.weight") };
    case "llama":
      return { attention_bias: has("blk.0.attn_q.bias") };
    default:
      return {};
  }
}

function ggufPlaces(file: ModelFile, architecture: string): Places {
  const has = (name: string): boolean => file.tensors.has(`blk.0.${name}.weight`);
  return {
    embedding: "token_embd",
    "embedding.norm": "token_embd_norm",
    "embedding.type": "token_types.weight",
    "position.table": "position_embd.weight",
    norm: "output_norm",
    head: "output",
    ...modules("blocks.{n}.", "blk.{n}.", {
      norm1: architecture === "bert" ? "attn_output_norm" : "attn_norm",
      norm2: architecture === "bert" ? "layer_output_norm" : "ffn_norm",
      "attention.output": "attn_output",
      "attention.queryNorm": "attn_q_norm",
      "attention.keyNorm": "attn_k_norm",
      "feedForward.gate": "ffn_gate",
      "feedForward.in": "ffn_up",
      "feedForward.out": "ffn_down",
    }),
    ...(has("attn_qkv")
      ? queriesKeysValues("blk.{n}.attn_qkv")
      : modules("blocks.{n}.attention.", "blk.{n}.", { query: "attn_q", key: "attn_k", value: "attn_v" })),
    ...(architecture === "phi3" && !has("ffn_gate") ? gateThenIn("blk.{n}.ffn_up") : {}),
    // Falcon-40B: the norm of attention is the second one in the file.
    ...(has("attn_norm_2") ? modules("blocks.{n}.", "blk.{n}.", { norm1: "attn_norm_2", norm2: "attn_norm" }) : {}),
  };
}

/** What GGUF files hold that is not a weight, and the output where it is a copy of the embeddings. */
export const ggufIgnored = /^(rope_freqs|rope_factors_(short|long))\.weight$|^output\.weight$/;
