// SPDX-License-Identifier: MIT
// How positions work in a checkpoint, from its config in the spellings of transformers 4 and 5: the rotation and its
// scaling, ALiBi, windows. Nested fields win over those at the top, as in transformers.

import type { Alibi, Position, Rope, RopeScaling } from "../../types.js";
import type { Config } from "./config.js";

const ropeTypes = ["default", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3", "proportional"] as const;
const numberFields: Record<string, keyof RopeScaling> = {
  factor: "factor",
  original_max_position_embeddings: "originalMaxPositionEmbeddings",
  attention_factor: "attentionFactor",
  beta_fast: "betaFast",
  beta_slow: "betaSlow",
  mscale: "mscale",
  mscale_all_dim: "mscaleAllDim",
  low_freq_factor: "lowFreqFactor",
  high_freq_factor: "highFreqFactor",
};

export interface RopeDefaults {
  headDim: number;
  /** which lanes form a pair; default "half" */ layout?: Rope["layout"];
  /** where the config says nothing; default 10000 */ theta?: number;
  /** share of the head that is turned where the config says nothing; default 1 */ partial?: number;
}

/** The rotation of every layer. @throws PosLabError for a scaling that is not known. */
export function ropeOf(config: Config, defaults: RopeDefaults): Rope {
  const nested = config.object(config.value("rope_parameters") === undefined ? "rope_scaling" : "rope_parameters");
  const theta = nested.number(
    config.number(defaults.theta ?? 10000, "rope_theta", "rotary_emb_base", "rotary_base"),
    "rope_theta",
  );
  const share = nested.number(
    config.number(defaults.partial ?? 1, "partial_rotary_factor", "rotary_pct", "rope_pct"),
    "partial_rotary_factor",
  );
  const rotaryDim = config.optionalCount("rotary_dim") ?? Math.floor(defaults.headDim * share);
  const scaling = scalingOf(nested, config);
  const trained = config.optionalCount("max_position_embeddings", "n_positions", "seq_length");
  return {
    type: "rope",
    theta,
    layout: layoutOf(config) ?? defaults.layout ?? "half",
    ...(rotaryDim < defaults.headDim && scaling?.ropeType !== "proportional" ? { rotaryDim } : {}),
    ...(scaling ? { scaling } : {}),
    ...(trained ? { maxPositionEmbeddings: trained } : {}),
  };
}

/** Only PaLM's config and what GGUF's metadata become say it. */
function layoutOf(config: Config): Rope["layout"] {
  const layout = config.value("rope_layout");
  config.refuse(
    layout !== undefined && layout !== "half" && layout !== "interleaved",
    "rope_layout",
    '"half" or "interleaved"',
  );
  return layout as Rope["layout"];
}

function scalingOf(nested: Config, config: Config): RopeScaling | undefined {
  const written = nested.text("default", "rope_type", "type");
  const name = written === "su" ? "longrope" : written;
  if (name === "default") return undefined;
  const ropeType = ropeTypes.find((known) => known === name);
  nested.refuse(!ropeType, nested.value("rope_type") === undefined ? "type" : "rope_type", ropeTypes.join(", "));
  const scaling: RopeScaling = { ropeType: ropeType! };
  for (const [field, own] of Object.entries(numberFields)) {
    const value = nested.value(field);
    if (value !== undefined) Object.assign(scaling, { [own]: nested.number(0, field) });
  }
  // Phi-3 has it beside rope_scaling.
  const original = config.optionalCount("original_max_position_embeddings");
  if (original !== undefined) scaling.originalMaxPositionEmbeddings ??= original;
  for (const [field, own] of [
    ["short_factor", "shortFactor"],
    ["long_factor", "longFactor"],
  ] as const) {
    const value = nested.value(field);
    nested.refuse(value !== undefined && !Array.isArray(value), field, "a list of numbers");
    if (value !== undefined) scaling[own] = value as number[];
  }
  if (nested.value("truncate") !== undefined) scaling.truncate = nested.flag(true, "truncate");
  return scaling;
}

/** ALiBi; `scaled` slopes where the bias is multiplied by headDim^-1/2 together with the scores (Falcon). */
export function alibiOf(heads: number, scaled?: { headDim: number }): Alibi {
  if (!scaled) return { type: "alibi" };
  return { type: "alibi", slopes: standardSlopes(heads).map((slope) => slope / Math.sqrt(scaled.headDim)) };
}

/** Press et al. 2022: 2^(-8 h / H); for H no power of two those of the power below, then every second of the next. */
function standardSlopes(heads: number): number[] {
  const power = 2 ** Math.floor(Math.log2(heads));
  const geometric = (count: number): number[] => Array.from({ length: count }, (_, h) => 2 ** ((-8 * (h + 1)) / count));
  const between = geometric(2 * power).filter((_, index) => index % 2 === 0);
  return [...geometric(power), ...between.slice(0, heads - power)];
}

/**
 * Windows of the layers: layer_types where the config lists them, else `sliding_window` everywhere (Qwen2: from
 * max_window_layers on, when use_sliding_window is true).
 */
export function windowsOf(config: Config, layers: number): (number | null)[] | null {
  const window = config.optionalCount("sliding_window", "attention_window_size");
  if (window === undefined || !config.flag(true, "use_sliding_window")) return null;
  const types = config.value("layer_types");
  const from = config.number(0, "max_window_layers");
  return Array.from({ length: layers }, (_, layer) => {
    const slides = Array.isArray(types) ? types[layer] === "sliding_attention" : layer >= from;
    return slides ? window : null;
  });
}

/** Layers without positions between layers that rotate (SmolLM 3): no_rope_layers has 0 where there are none. */
export function withoutRopeIn(config: Config, layers: number, rope: Position): Position | Position[] {
  const rotates = config.value("no_rope_layers");
  if (!Array.isArray(rotates) || rotates.every(Boolean)) return rope;
  return Array.from({ length: layers }, (_, layer) => (rotates[layer] ? rope : { type: "none" }));
}
