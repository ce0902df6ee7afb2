// SPDX-License-Identifier: MIT
// A whole architecture as data: what the core's engine runs. A family of checkpoints is a function from its config to an
// `Architecture`, and a table from its tensor names to the canonical ones listed here. Matrices are [out, in], row-major.
//
// Canonical tensor names. P is "" for models of one stack, "encoder." and "decoder." for encoder-decoders:
//   embedding.weight [vocabulary, dim]                      shared by both stacks unless `separateEmbeddings`
//   P embedding.weight                                      instead, with `separateEmbeddings`
//   embedding.type [tokenTypes, dim]
//   patch.weight [dim, channels * patch * patch], patch.bias [dim], classToken [dim]        images
//   P embedding.norm.gain, .bias [dim]
//   P position.<name>                                       of the scheme, shared by layers ("table": learned, t5)
//   P blocks.N.position.<name>                              of the scheme, one a layer ("projection": transformer-xl)
//   P blocks.N.norm1.gain, .bias [dim]                      of attention
//   P blocks.N.attention.query.weight [heads * headDim, dim], .bias
//   P blocks.N.attention.key.weight, value.weight [keyValueHeads * headDim, dim], .bias
//   P blocks.N.attention.output.weight [dim, heads * headDim], .bias
//   P blocks.N.attention.queryNorm.gain, keyNorm.gain       [headDim] with queryKeyNorm "head", else the whole width
//   P blocks.N.attention.sinks [heads]                      with sinks "learned"
//   P blocks.N.crossNorm.gain, .bias; P blocks.N.crossAttention.{query, key, value, output}.weight, .bias
//   P blocks.N.norm2.gain, .bias [dim]                      of feed-forward; absent with parallel "one-norm"
//   P blocks.N.feedForward.gate.weight, in.weight [feedForward, dim], out.weight [dim, feedForward], .bias
//   P norm.gain, .bias [dim]                                after the last block
//   head.transform.weight [dim, dim], .bias [dim]; head.norm.gain, .bias [dim]
//   head.weight [outputs, dim]                              absent when tied
//   head.bias [outputs]
// They are the names that experiments save their weights under.

import type { IntegerArray, Position, Tensor } from "../types.js";

export type NormKind = "layer" | "rms";
/**
 * "gelu-tanh" is also known as gelu_new, gelu_fast and gelu_pytorch_tanh; "gelu-erf" is plain "gelu" in configs of
 * Hugging Face; "gelu-quick" is x sigmoid(1.702 x).
 */
export type ActivationName = "gelu-tanh" | "gelu-erf" | "gelu-quick" | "relu" | "relu-squared" | "silu";

/** Which matrices of a block have a bias vector. */
export interface BlockBiases {
  query: boolean;
  key: boolean;
  value: boolean;
  attentionOutput: boolean;
  gate: boolean;
  in: boolean;
  out: boolean;
}

/** A stack of equal blocks. Cross-attention has the heads, widths, biases, scale and norms of self-attention. */
export interface Stack {
  layers: number;
  heads: number;
  /** divides heads; default heads */ keyValueHeads?: number;
  /** default dim / heads */ headDim?: number;
  /** width of the feed-forward part */ feedForward: number;
  /** a token sees itself and those before it */ causal: boolean;
  /**
   * One scheme for all layers, or one a layer; without learnable tensors, which are set by name. The first scheme with
   * an embedding hook is added to the embeddings (learned: say `rows`).
   */
  position: Position | readonly Position[];
  /** what q . k is multiplied by; default headDim^-1/2, T5: 1 */ scale?: number;
  /** a query sees itself and window - 1 keys before it (causal only); one for all layers or one a layer */
  window?: number | null | readonly (number | null)[];
  norm: {
    kind: NormKind;
    /** "pre": x + part(norm x). "post": norm(x + part(x)) */ place: "pre" | "post";
    epsilon: number;
    /** default: layer norm has a bias, RMSNorm none */ bias?: boolean;
  };
  /** a norm after the last block; default: place is "pre" */ finalNorm?: boolean;
  /** a norm of the sum of all embeddings (BERT, BLOOM); default false */ embeddingNorm?: boolean;
  /** what rows of the token table are multiplied by (Marian, Transformer-XL: dim^1/2); default 1 */
  embeddingScale?: number;
  /**
   * x + attention(norm x) + feedForward(norm x): "one-norm" for both parts (PaLM, GPT-J, Phi), "two-norms" (GPT-NeoX).
   * With place "post" only false. Default false.
   */
  parallel?: false | "one-norm" | "two-norms";
  activation: ActivationName;
  /** out(act(gate x) * in x); default false */ gated?: boolean;
  /** default false: nowhere; true: everywhere */ bias?: boolean | Partial<BlockBiases>;
  /** RMSNorm of queries and keys before rotation: of each head (Qwen3) or of the whole width (OLMo 2) */
  queryKeyNorm?: "none" | "head" | "row";
  /**
   * one more logit a head in self-attention that takes weight and gives no value: 0, or learned (GPT-OSS); default "none"
   */
  sinks?: "none" | "zero" | "learned";
}

export interface ImageInput {
  channels: number;
  /** width and height of a patch */ patch: number;
  /** of the images that the position table was trained with */ height: number;
  width: number;
  /** a learned row before the patches; default true */ classToken?: boolean;
  /** default true */ patchBias?: boolean;
}

export interface Head {
  /** rows of head.weight: the vocabulary, or labels of a classifier */ outputs: number;
  /** head.weight is embedding.weight (the decoder's) */ tied: boolean;
  /** what the rows are multiplied by before the product (T5 tied: dim^-1/2; a logit scale); default 1 */
  scale?: number;
  /** default false */ bias?: boolean;
  /** a dense layer, this activation and a norm (epsilon of the stack) before the product (BERT, RoBERTa) */
  transform?: ActivationName | null;
  /** "first": of the first row only, one row of logits (ViT); default "none" */ pooling?: "none" | "first";
}

/** A model: one causal stack, one bidirectional stack, or both with cross-attention. */
export interface Architecture {
  /** width of a token's vector */ dim: number;
  /** 0 for images */ vocabulary: number;
  /** length that it was trained at (max_position_embeddings), 0 when not known: default of some scalings */
  trainedLength: number;
  /** BERT, ViT, and the first half of T5 and Marian */ encoder?: Stack;
  /** GPT, LLaMA, ..., and the second half of T5 and Marian, which then has cross-attention in each block */
  decoder?: Stack;
  /** encoder-decoder: two token tables; default false */ separateEmbeddings?: boolean;
  /** rows of embedding.type; default 0: none */ tokenTypes?: number;
  image?: ImageInput | null;
  /**
   * How many hidden states a segment leaves behind as memory (Transformer-XL's mem_len); default 0: none, and none are
   * read.
   */
  memoryLength?: number;
  /** null: logits are the rows after the last norm */ head: Head | null;
}

export interface TensorPlace {
  name: string;
  shape: number[];
}

/** Positions otherwise than trained. Fields that are not given leave what the model has. */
export interface PositionChange {
  /** another scheme in every layer (learnable tensors inside it, or the model's own of that name); "none": no positions */
  position?: Position | null;
  /** of the decoder of an encoder-decoder; default: as `position` */ decoderPosition?: Position | null;
  /** of every layer of causal stacks; 0: no window */ window?: number | null;
  /** added to every position id */ shift?: number;
}

/** One sequence. Exactly one of `ids` and `pixels`. */
export interface ModelInput {
  /** token ids [L] (the encoder's, for encoder-decoders) */ ids?: IntegerArray;
  /** [channels, height, width]; sides are multiples of the patch */ pixels?: Tensor;
  /** [L], 0 = padding: seen by no query. Its own rows of the result mean nothing. */ attentionMask?: ArrayLike<number>;
  /** [L] position ids; default 0, 1, 2, ... after the memory */ positions?: IntegerArray;
  /** [L]; default 0 everywhere */ tokenTypes?: IntegerArray;
  /** [layers, M, dim]: hidden states of the segments before, from `hiddenStates` (Transformer-XL) */ memory?: Tensor;
  /** [Ld]: the decoder's input, for encoder-decoders */ decoderIds?: IntegerArray;
}

/** "self": of the only stack; "encoder", "decoder" and "cross" of an encoder-decoder. */
export type AttentionKind = "self" | "encoder" | "decoder" | "cross";

export interface MemoryEstimate {
  /** bytes that the weights take once all are set */ weights: number;
  /** bytes of one pass over `length` tokens, logits included */ pass: number;
  /** bytes of keys and values per token of `append` */ cachePerToken: number;
}

/**
 * What core-model.ts offers over a description: `CoreModel.create(core, architecture)` is a ModelCalls without weights;
 * `CoreModel.estimate(core, architecture, length)` gives the memory it would take, before any is taken. Every call
 * throws PosLabError.
 */
export interface ModelCalls {
  /** Every tensor that is wanted. */
  readonly tensors: readonly TensorPlace[];
  /**
   * Sets numbers of one tensor; they are copied and need not be kept.
   * @param options.from index of the first number, to give a large tensor in pieces, one after the other (whole rows or
   *   not); what comes from 0 starts again
   * @param options.transposed the numbers are [in, out] (GPT-2); 2-D tensors only
   */
  setTensor(name: string, numbers: Float32Array, options?: { from?: number; transposed?: boolean }): void;
  /** Names of tensors of which not every number has been set. Nothing runs before this is empty. */
  missing(): string[];
  /** Positions otherwise than trained, from now on; null: as trained. Empties the cache. */
  change(change: PositionChange | null): void;
  /** [L or Ld, outputs]; [outputs] with pooling "first". */
  logits(input: ModelInput): Tensor;
  /**
   * Negative log-likelihood in nats of a target at each place, NaN where it is -1; [L or Ld]. Default targets: the next
   * id, none for the last place. Never holds all logits.
   */
  losses(input: ModelInput, targets?: IntegerArray): Float32Array;
  /** Attention weights [heads, Lq, Lk] of a layer. */
  attention(input: ModelInput, layer: number, kind?: AttentionKind): Tensor;
  /** [layers, M', dim]: what the last `logits` or `losses` leaves as memory for the next segment. */
  hiddenStates(): Tensor;
  /**
   * Encoder-decoders: runs the encoder for the `append`s that follow, and empties the cache, as `logits`, `losses` and
   * `attention` do there.
   */
  encode(input: Pick<ModelInput, "ids" | "attentionMask" | "positions" | "tokenTypes">): void;
  /** Puts tokens behind those of the cache (at least one) and gives the logits [outputs] of the last one. */
  append(ids: IntegerArray): Float32Array;
  /** Tokens in the cache. */
  readonly cachedLength: number;
  /** Keeps the first `length` tokens of the cache; default 0: empties it. */
  truncate(length?: number): void;
  /** Gives the core's memory back. */
  dispose(): void;
}
