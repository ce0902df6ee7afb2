// SPDX-License-Identifier: MIT
// What rows of the families have in common whose layers are of several kinds.

import type { Family, LayerKind, LayerPattern } from "./family.js";

type Kinds = Readonly<Record<string, LayerKind>>;

export const slidingOrFull: Kinds = {
  sliding_attention: { window: "sliding" },
  full_attention: {},
  chunked_attention: { window: "chunk" },
};

/** Every n-th layer is global, the others are local; n is at the keys, or else `otherwise`. */
export const globalEvery = (otherwise: number, ...every: string[]): Extract<LayerPattern, { special: string }> => ({
  every,
  otherwise,
  special: "full_attention",
  rest: "sliding_attention",
});

/** Gemma 3: local layers have a theta of their own, and no scaling. */
export const localTheta = (window: "sliding" | "both-sides" = "sliding"): Kinds => ({
  full_attention: {},
  sliding_attention: { window, rope: { theta: ["rope_local_base_freq"], defaultTheta: 10000, unscaled: true } },
});

/** Global layers have no positions. */
export const onlyLocalRotates: Kinds = {
  sliding_attention: { window: "sliding" },
  full_attention: { none: true },
};

/** EXAONE 4: the same, but where there is no window every layer is global, and rotates. */
export const onlyLocalRotatesIfWindowed = {
  kinds: { ...onlyLocalRotates, full_attention: { none: { with: "sliding_window" } } },
  pattern: { ...globalEvery(4, "sliding_window_pattern"), with: "sliding_window" },
} satisfies Partial<Family>;

/** Qwen3-Next: attention in every fourth layer. */
export const linearOrFull = {
  kinds: { full_attention: {}, linear_attention: { none: true } },
  pattern: { every: ["full_attention_interval"], otherwise: 4, special: "full_attention", rest: "linear_attention" },
} satisfies Partial<Family>;

/** Llama 4: queries of layers without positions grow with their place. */
export const llama4Warming = {
  temperature: { type: "floor-log", length: 8192, scale: 0.1, first: 1 },
  temperatureKeys: { when: "attn_temperature_tuning", length: "floor_scale", scale: "attn_scale" },
} satisfies Partial<Family>;
