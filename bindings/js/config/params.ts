// SPDX-License-Identifier: MIT
// params.json of Meta and Mistral, which lies beside weights in their own layout: the fields of a config.json under other
// names, without a model_type. What Meta's program has built in is given here.

import { kMostLayers, kNoRope } from "./layers.js";
import { ConfigReader, isObject, type Json } from "./reader.js";

/** Of the family in the tables. */
export const kParams = "params.json";
/** What is true of one with latent attention; no key of a file can be called so. */
export const kIsLatent = "\u0000latent";
/** DistilBERT's first files have all but the last. */
const kOwnKeys = ["dim", "n_layers", "n_heads", "norm_eps"] as const;

/** A reader of it under the names of a config.json, or undefined where it is another file. */
export function paramsReader(json: Json): ConfigReader | undefined {
  if (json.model_type !== undefined || !kOwnKeys.every((key) => json[key] !== undefined)) return undefined;
  const isScaled = json.use_scaled_rope === true;
  const isLatent = typeof json.qk_nope_head_dim === "number";
  const scaling = isScaled ? llama3(json) : isObject(json.yarn) ? fromYarn(json.yarn, json, isLatent) : undefined;
  const pattern = patternOf(json);
  const shown = (key: string): string => {
    if (key === "layer_types" && pattern) return pattern.source;
    if (!key.startsWith("rope_scaling")) return key;
    const name = key.slice("rope_scaling.".length);
    if (!isScaled) return kYarnNames[name] ?? `yarn.${name}`;
    const own = kScaledNames[name];
    return own !== undefined && json[own] !== undefined ? own : "use_scaled_rope";
  };
  const config = {
    ...json,
    model_type: kParams,
    [kIsLatent]: isLatent,
    ...(scaling ? { rope_scaling: scaling } : {}),
    ...pattern?.keys,
  };
  const reader = new ConfigReader(config, {}, kParams, shown);
  if (isScaled && json.rope_scaling_factor === undefined)
    reader.caution(
      "factor-built-in",
      "use_scaled_rope: the factor stands in the program; 8 is taken, that of Llama 3.1 (Llama 3.2 1B and 3B have 32)",
    );
  return reader;
}

/** Layers of two kinds: Llama 4's without positions, and Mistral's windows, of which a list is repeated. */
function patternOf(json: Json): { source: string; keys: Json } | undefined {
  const { n_layers: layers, nope_layer_interval: interval, sliding_window: windows } = json;
  const kinds = (kindAt: (layer: number) => string): string[] =>
    Array.from({ length: Math.min(Number(layers), kMostLayers) }, (_, layer) => kindAt(layer));
  if (typeof interval === "number") {
    const others = typeof json.attention_chunk_size !== "number" ? "full_attention" : "chunked_attention";
    const keys = { layer_types: kinds((layer) => ((layer + 1) % interval === 0 ? kNoRope : others)) };
    return { source: "nope_layer_interval", keys };
  }
  if (!Array.isArray(windows) || windows.length === 0) return undefined;
  const [window, ...others] = new Set<unknown>(windows.filter((entry) => entry !== null));
  // Windows of several widths are left to be refused.
  if (others.length > 0) return undefined;
  const layer_types = kinds((layer) =>
    windows[layer % windows.length] === null ? "full_attention" : "sliding_attention",
  );
  return { source: "sliding_window", keys: { layer_types, sliding_window: window } };
}

const kScaledNames: Readonly<Record<string, string>> = {
  factor: "rope_scaling_factor",
  high_freq_factor: "rope_high_freq_factor",
};
const kYarnNames: Readonly<Record<string, string>> = {
  beta_fast: "yarn.beta",
  beta_slow: "yarn.alpha",
  attention_factor: "yarn.apply_scale",
  mscale: "yarn.apply_scale",
  mscale_all_dim: "yarn.apply_scale",
  llama_4_scaling_beta: "llama_4_scaling.beta",
};

function llama3(json: Json): Json {
  return {
    rope_type: "llama3",
    factor: json.rope_scaling_factor ?? 8,
    low_freq_factor: 1,
    high_freq_factor: json.rope_high_freq_factor ?? 4,
    original_max_position_embeddings: 8192,
  };
}

/** Latent attention has the magnitude in the softmax's scale, squared, and none in cos and sin. */
function fromYarn({ beta, alpha, apply_scale: applyScale, ...yarn }: Json, json: Json, isLatent: boolean): Json {
  const magnitude = applyScale === false ? { attention_factor: 1 } : isLatent ? { mscale: 1, mscale_all_dim: 1 } : {};
  const { llama_4_scaling: warming } = json;
  const isWarm =
    isObject(warming) && warming.original_max_position_embeddings === yarn.original_max_position_embeddings;
  return {
    rope_type: "yarn",
    ...yarn,
    beta_fast: beta,
    beta_slow: alpha,
    ...magnitude,
    ...(isWarm ? { llama_4_scaling_beta: warming.beta } : {}),
  };
}
