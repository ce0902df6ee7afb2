// SPDX-License-Identifier: MIT
// What an explanation of a model's config says: for each kind of layer the scheme object, every resolved value with the
// key that it came from, and what a careful reader should know.

import type { PosLab } from "../poslab.js";
import type { Position } from "../types.js";

/** Something in a config that a careful reader should know. */
export interface Caution {
  /** for programs: "two-keys", "theta-by-default", "attn-factor", "unknown-rope-type", ... */ code: string;
  message: string;
}

/** What another program does differently with the same config. */
export interface Difference {
  software: "transformers" | "transformers 4" | "vLLM" | "llama.cpp";
  message: string;
}

/** Where position ids come from, by the names of `lab.positions`. */
export interface PositionIds {
  policy: "plain" | "mask";
  /** row of position 0 in a learned table */ offset: number;
  /** the row that padding gets, where padding has one of its own */ paddingRow?: number;
}

/** A factor of the logits that grows with the position. */
export interface LogitTemperature {
  /**
   * "floor-log": 1 + scale ln(1 + floor((p + first) / length)), Llama 4 and Ministral 3; "log-n": max(1, ln(p + first) /
   * ln(length)), Qwen 1
   */
  type: "floor-log" | "log-n";
  length: number;
  scale: number;
  /** what the first position counts as */ first: 0 | 1;
}

/** One kind of layer. */
export interface LayerExplanation {
  /** the scheme object, as every function of the library takes it */ position: Position;
  /** query heads */ heads: number | null;
  /** width of a query and key head */ headDim: number | null;
  /** lanes that are rotated; null without a rotation */ rotaryDim: number | null;
  /** [rotaryDim / 2], from the core; null without a rotation or without a lab */ inverseFrequencies: number[] | null;
  /** size of cos and sin, from the core */ attentionFactor: number | null;
  causal: boolean;
  /** keys that a query sees, itself included; null: all */ window: number | null;
  /** factor of q k before the softmax */ softmaxScale: number | null;
  logitTemperature: LogitTemperature | null;
  positionIds: PositionIds;
  /** field to the key it came from, or how it was found */ sources: Record<string, string>;
}

export interface ConfigExplanation {
  /** as the config says, or as it was recognized */ modelType: string;
  /** by kind of layer; "all" holds for every layer whose kind is not listed beside it */ layers: Record<
    string,
    LayerExplanation
  >;
  /** the kind of each layer, where there is more than one */ layerTypes: string[] | null;
  /** tokens that the config promises; null: no limit that it states */ usableLength: number | null;
  cautions: Caution[];
  differences: Difference[];
}

export interface ExplainOptions {
  /** only this layer: its index, or its kind as in `layers` */ layer?: number | string;
  /** running length (largest position + 1) that dynamic and longrope look at; default 0 */ length?: number;
  /** computes the frequencies; without it they are null */ lab?: PosLab;
}
