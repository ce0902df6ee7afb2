// SPDX-License-Identifier: MIT
// Scheme objects: every positional encoding as a plain object, with the field's own names.

import type { TensorLike } from "./types.js";

/** The logits grow with the query's position p; an option of schemes. */
export interface Temperature {
  /** max(1, ln(p + 1) / ln(length)); 1 + scale ln(1 + floor((p + 1) / length)); s_h ln(p + 1), s learned */ kind:
    "log-n" | "llama4" | "ssmax";
  /** log-n: the trained length; llama4: 8192 */ length?: number;
  /** llama4: 0.1 */ scale?: number;
}
export interface NoPosition {
  type: "none";
  temperature?: Temperature;
  /** of ssmax [H] */ temperatures?: TensorLike;
}
/** Vaswani et al. 2017, section 3.5. */
export interface Sinusoidal {
  type: "sinusoidal";
  /** default 10000 */ base?: number;
  /** default "interleaved" */ layout?: "interleaved" | "concatenated";
  /** "half-dim-minus-one": tensor2tensor, fairseq, Whisper; default "dim" */ denominator?:
    "dim" | "half-dim-minus-one";
  /** times a learned number, false */ scaled?: boolean;
  /** [1] */ scale?: TensorLike;
}
/** A learned table of absolute positions (BERT, GPT-2; offset 2 as in OPT). */
export interface Learned {
  type: "learned";
  /** row of position 0, default 0 */ offset?: number;
  /** when the table is yet to be made */ rows?: number;
  /** positions 0 .. stretchTo - 1 are laid over the rows from `offset` on, each between two */ stretchTo?: number;
  table?: TensorLike;
}
/** Shaw et al. 2018; distances j - i are clipped to [-maxDistance, maxDistance]. */
export interface Shaw {
  type: "shaw";
  maxDistance?: number;
  keys?: TensorLike;
  values?: TensorLike;
}
/** Dai et al. 2019. */
export interface TransformerXL {
  type: "transformer-xl";
  base?: number;
  clampLength?: number;
  /** W_r [H*D, dModel] */ projection?: TensorLike;
  /** u [H, D] */ contentBias?: TensorLike;
  /** v [H, D] */ positionBias?: TensorLike;
}
/** Raffel et al. 2020. */
export interface T5 {
  type: "t5";
  /** 32 */ buckets?: number;
  /** 128 */ maxDistance?: number;
  /** false */ bidirectional?: boolean;
  /** [buckets, H] */ table?: TensorLike;
}
export interface RopeScaling {
  ropeType: "default" | "linear" | "ntk" | "dynamic" | "yarn" | "longrope" | "llama3" | "proportional";
  factor?: number;
  originalMaxPositionEmbeddings?: number;
  attentionFactor?: number;
  betaFast?: number;
  betaSlow?: number;
  mscale?: number;
  mscaleAllDim?: number;
  truncate?: boolean;
  shortFactor?: readonly number[];
  longFactor?: readonly number[];
  lowFreqFactor?: number;
  highFreqFactor?: number;
  partialRotaryFactor?: number;
}
/** Su et al. 2021. */
export interface Rope {
  type: "rope";
  /** 10000 */ theta?: number;
  /** default "half" */ layout?: "half" | "interleaved";
  /** default: the head */ rotaryDim?: number;
  scaling?: RopeScaling;
  maxPositionEmbeddings?: number;
  /** false */ learnedFrequencies?: boolean;
  /** [rotaryDim / 2], what the frequencies are multiplied by */ frequencyFactors?: TensorLike;
  /** how many pairs turn by each id of a token (M-RoPE: time, row, column); default: one id a token */
  sections?: readonly number[];
  /** "interleaved": the axes take turns until their sections are used up; default "contiguous" */ sectionOrder?:
    "contiguous" | "interleaved";
  /** every n-th layer of a model does not turn (Llama 4, SmolLM3); default: every layer turns */
  noRopeLayerInterval?: number;
  /** llama4 warms up the layers that do not turn, if there are such */ temperature?: Temperature;
  /** of ssmax [H] */ temperatures?: TensorLike;
}
/** Press et al. 2022; the bias is -slope * |i - j|. */
export interface Alibi {
  type: "alibi";
  slopes?: "standard" | readonly number[];
  /** of keys after the query, one a head; default: as slopes */ futureSlopes?: readonly number[];
  /** the first heads have the standard slopes of this many, the others none; default: all */ biasedHeads?: number;
}
/** Sun et al. 2022. */
export interface Xpos {
  type: "xpos";
  theta?: number;
  /** 512 */ scaleBase?: number;
  /** default "interleaved" */ layout?: "half" | "interleaved";
}
/** Chi et al. 2022. */
export interface Kerple {
  type: "kerple";
  /** default "log" */ kind?: "log" | "power";
  r1?: TensorLike;
  r2?: TensorLike;
}

/** Li et al. 2024; a perceptron of the distance as a share of the query's reach. */
export interface Fire {
  type: "fire";
  /** of the hidden layer, 32 */ width?: number;
  /** shorter reaches count as this one, 512 */ threshold?: number;
  /** [1] */ c?: TensorLike;
  /** [1], what threshold is multiplied by */ lengthFactor?: TensorLike;
  /** [width, 1] */ weight1?: TensorLike;
  /** [width] */ bias1?: TensorLike;
  /** [H, width] */ weight2?: TensorLike;
  /** [H] */ bias2?: TensorLike;
}
/** Chi et al. 2023. */
export interface Sandwich {
  type: "sandwich";
  /** 10000 */ base?: number;
  /** of the sinusoids, 128 */ dim?: number;
}
/** Wennberg & Henter 2021. */
export interface Tisa {
  type: "tisa";
  /** bells a head, 5 */ kernels?: number;
  /** [H, kernels] */ amplitudes?: TensorLike;
  /** [H, kernels] */ sharpnesses?: TensorLike;
  /** [H, kernels] */ offsets?: TensorLike;
}
/** A learned number a clipped distance and head. */
export interface RelativeScalar {
  type: "relative-scalar";
  /** 128 */ maxDistance?: number;
  /** [2 maxDistance + 1, H] */ table?: TensorLike;
}
/** Wang et al. 2022 (CrossFormer), x-transformers; tensors weight1, bias1, ..., one pair a layer. */
export interface DynamicBias {
  type: "dynamic-bias";
  /** of the hidden layers, 32 */ width?: number;
  /** hidden layers, 2 */ depth?: number;
  /** default "linear" */ distance?: "linear" | "log";
  [tensor: `weight${number}` | `bias${number}`]: TensorLike;
}

/** Golovneva et al. 2024; positions are counted in gates of the content. */
export interface Cope {
  type: "cope";
  /** counts beyond the last share it, 64 */ positions?: number;
  /** [positions, D] */ table?: TensorLike;
}
/** Lin et al. 2025; a call needs `gates`, a model learns them. */
export interface Forgetting {
  type: "forgetting";
}
/** He et al. 2021. */
export interface Deberta {
  type: "deberta";
  /** 128 */ maxDistance?: number;
  /** logarithmic ones beyond half of them (v2, v3); default: none (v1) */ buckets?: number;
  /** default "both" */ terms?: "both" | "c2p" | "p2c";
  /** [2 maxDistance or 2 buckets, dModel] */ table?: TensorLike;
  /** [H*D, dModel] */ keyProjection?: TensorLike;
  /** [H*D, dModel] */ queryProjection?: TensorLike;
}
/** Zheng et al. 2024; the tensors of the base too. */
export interface Dape {
  type: "dape";
  /** default "kerple" */ base?: "kerple" | "alibi" | "t5" | "sandwich" | "tisa" | "relative-scalar";
  /** of the hidden layer, 32 */ width?: number;
  /** [width, 2 H] */ weight1?: TensorLike;
  /** [width] */ bias1?: TensorLike;
  /** [H, width] */ weight2?: TensorLike;
  /** [H] */ bias2?: TensorLike;
  r1?: TensorLike;
  r2?: TensorLike;
  table?: TensorLike;
  amplitudes?: TensorLike;
  sharpnesses?: TensorLike;
  offsets?: TensorLike;
}
/** Gopalakrishnan et al. 2025. */
export interface Pope {
  type: "pope";
  /** 10000 */ theta?: number;
  /** [H, D] */ phases?: TensorLike;
}

/** RoPE in two dimensions: some pairs turn by a token's row (y), the others by its column (x). */
export interface AxialRope {
  type: "axial-rope";
  /** 10000 */ theta?: number;
  /** default "half" */ layout?: "half" | "interleaved";
  /** default: the head; a multiple of 4 */ rotaryDim?: number;
  /** pairs of one axis after those of the other, or in turns; default "blocks" */ order?: "blocks" | "alternating";
  /** each axis has frequencies of its own, or they share out one list by parity (Pixtral); default "restart" */
  frequencies?: "restart" | "split";
  /** which the first pairs turn by; default "y" */ firstAxis?: "y" | "x";
  /** "normalized": -1 to 1 over the grid, times 2 pi (DINOv3); default "index" */ coordinates?: "index" | "normalized";
  /** 1 */ gridHeight?: number;
  /** where one id a token begins the next row; default: all in one row */ gridWidth?: number;
  /** class and register tokens before the grid, which do not turn; 0 */ prefixTokens?: number;
}

/** Where one id a token lies on a grid: row by row. Two ids a token are its row and column, counted from 0. */
interface OnGrid {
  /** 1 */ gridHeight?: number;
  /** default: what the trained length needs */ gridWidth?: number;
}
/** Liu et al. 2021: a learned number a difference of rows and of columns, query minus key. */
export interface Swin extends OnGrid {
  type: "swin";
  /** [(2 gridHeight - 1)(2 gridWidth - 1), H] */ table?: TensorLike;
}
/** Graham et al. 2021: the same number in all directions. */
export interface Levit extends OnGrid {
  type: "levit";
  /** [gridHeight gridWidth, H] */ table?: TensorLike;
}
/** Liu et al. 2022 (Swin V2): a perceptron of the log-spaced difference; the grid is the pretrained window. */
export interface LogCpb extends OnGrid {
  type: "log-cpb";
  /** of the hidden layer, 512 */ width?: number;
  /** [width, 2] */ weight1?: TensorLike;
  /** [width] */ bias1?: TensorLike;
  /** [H, width] */ weight2?: TensorLike;
}
/** Half of the columns are the sinusoid of the row, the others that of the column: MAE (the defaults), DETR. */
export interface Sinusoidal2d extends OnGrid {
  type: "sinusoidal-2d";
  /** 10000 */ base?: number;
  /** default "concatenated"; DETR "interleaved" */ layout?: "concatenated" | "interleaved";
  /** default "x"; DETR "y" */ firstAxis?: "x" | "y";
  /** "normalized": 2 pi (p + 1) / (n + 1e-6) (DETR); default "index" */ coordinates?: "index" | "normalized";
  /** class and register tokens before the grid, to which nothing is added; 0 */ prefixTokens?: number;
}
/** A learned table of rows and one of columns. */
export interface AxialLearned extends OnGrid {
  type: "axial-learned";
  /** default "sum"; side by side: DETR, Reformer */ combine?: "sum" | "concatenate";
  /** which is first side by side; default "y" */ firstAxis?: "y" | "x";
  /** [gridHeight, dim] or, side by side, [gridHeight, dim / 2] */ rows?: TensorLike;
  /** [gridWidth, dim] or [gridWidth, dim / 2] */ columns?: TensorLike;
}
/** A learned row a place of the grid (ViT), bicubically resized for another grid. */
export interface LearnedGrid extends OnGrid {
  type: "learned-grid";
  /** class and register tokens, whose rows come first and stay; 0 */ prefixTokens?: number;
  /** of the grid that the tokens are on; default: as the table's */ targetHeight?: number;
  targetWidth?: number;
  /** as timm; default false, as transformers */ antialias?: boolean;
  /** [prefixTokens + gridHeight gridWidth, dim] */ table?: TensorLike;
}

/** Schemes of the registry. A scheme that this version does not know is refused with the nearest name. */
export type Position =
  | NoPosition
  | Sinusoidal
  | Learned
  | Shaw
  | TransformerXL
  | T5
  | Rope
  | Alibi
  | Xpos
  | Kerple
  | Fire
  | Sandwich
  | Tisa
  | RelativeScalar
  | DynamicBias
  | Cope
  | Forgetting
  | Deberta
  | Dape
  | Pope
  | AxialRope
  | Swin
  | Levit
  | LogCpb
  | Sinusoidal2d
  | AxialLearned
  | LearnedGrid;
