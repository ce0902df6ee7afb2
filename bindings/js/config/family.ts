// SPDX-License-Identifier: MIT
// What a row of the family tables can say. A family is data: its names, the scheme, the defaults of its class for keys
// that files leave out, and which rules its layers follow. Nothing here knows a family by name.

import type { Json } from "./reader.js";
import type { RopeOverride } from "./rope.js";
import type { LogitTemperature, PositionIds } from "./types.js";

export type SchemeName =
  "rope" | "alibi" | "learned" | "grid" | "sinusoidal" | "t5" | "shaw" | "transformer-xl" | "deberta" | "none";

/** How queries and keys are scaled where it is not 1 / sqrt(head width). */
export type Scale =
  | { constant: number }
  /** the number itself stands at a key */
  | { key: string }
  /** 1 / sqrt(the number at a key) */
  | { inverseSqrt: string }
  /** 1 / sqrt(the model's width shared out among the heads), whatever width a head has */
  | { modelShare: true }
  /** 1 / head width (maximal update parametrization) */
  | { inverseHead: true }
  /** latent attention: 1 / sqrt(rotated + unrotated width), times yarn's mscale_all_dim magnitude squared */
  | { latent: true }
  /** 1 / sqrt(head width times (1 + the terms listed at a key)) */
  | { terms: string };

/** Which kind each layer is, where `layer_types` does not list them. */
export type LayerPattern =
  /**
   * every n-th layer is special, the others are `rest`; counted so that layer n - 1 is the first special one. All are
   * special where the key `with` says no number
   */
  | { every: readonly string[]; otherwise: number; special: string; rest: string; fromFirst?: boolean; with?: string }
  /** a window from layer number `max_window_layers` on */
  | { windowFrom: string };

/** What a kind of layer has for itself. */
export interface LayerKind {
  rope?: RopeOverride;
  /** a key with a head width of its own */ headDim?: string;
  /** no positions in these layers, or only where a key says a number */ none?: true | { with: string };
  window?: "sliding" | "chunk" | "both-sides";
}

export interface Family {
  /** values of model_type; the first is the one in messages */ names: readonly string[];
  /** taken only when these keys have these values */ when?: Json;
  /** false: a guess from the keys */ known?: false;
  scheme: SchemeName;
  /** constants of the scheme object */ options?: Json;
  /** default true */ causal?: boolean;
  /** which lanes a rotation pairs; default "half" */ layout?: "half" | "interleaved";
  /** a key that says true for interleaved */ layoutKey?: string;
  /** a key that multiplies theta */ thetaTimes?: string;
  /** keys of dynamic scaling that are in no object: its factor, and the trained length */
  dynamic?: { factor: string; trained: string };
  /** M-RoPE: what the class takes where the file does not say it */
  sections?: { pairs: readonly number[]; order: "contiguous" | "interleaved" };
  /** this family's own meaning of a rope_type */ ropeTypes?: Readonly<
    Record<string, "default" | "longrope" | "yarn" | "linear">
  >;
  /** what the class takes for keys that the file leaves out */ defaults?: Json;
  scale?: Scale;
  /** for layers without positions (floor-log) or all (log-n); numbers come from `temperatureKeys` */
  temperature?: LogitTemperature;
  temperatureKeys?: { when: string; length: string; scale?: string };
  ids?: PositionIds;
  /** the key of the longest text, where it is not one of the usual ones */ maxPositions?: string;
  /** the table has rows beyond max_position_embeddings (BART, OPT) instead of counting them in it (RoBERTa) */
  rowsBeyond?: number;
  pattern?: LayerPattern;
  kinds?: Readonly<Record<string, LayerKind>>;
  /** each kind has a rotation of its own: there is no "all" */ perKind?: boolean;
  /** layers without positions: listed at no_rope_layers (0), or every n-th */ noRope?: true;
  /** every layer has a window, unless the kinds say otherwise */ window?: true;
  /** the keys of the window; default sliding_window */ windowKeys?: readonly string[];
  /** of what the key says, rounded down; default 1 */ windowShare?: number;
  /** a key that must be true for the window to count */ windowGate?: string;
  /** parts with positions of their own; the first is what `usableLength` is about */ parts?: Readonly<
    Record<string, Part>
  >;
  /** always said */ cautions?: readonly (readonly [code: string, message: string])[];
}

/** A part of a model (encoder, decoder, text, vision): a family of its own inside the same file. */
export interface Part extends Omit<Family, "names" | "parts"> {
  /** where its config is, when it is not the file itself */ at?: string;
}
