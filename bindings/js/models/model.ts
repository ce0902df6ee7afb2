// SPDX-License-Identifier: MIT
// A model that has been opened: logits, attention, loss by position and text, each with the positions that it was trained
// with or others. It owns memory of the module: dispose of it, or forget it.

import { PosLabError, wrongArgument } from "../errors.js";
import { disposeSymbol } from "../owner.js";
import { nextTurn } from "../slices.js";
import { checkCallback, checkOptions, checkSignal, isShaped } from "../tensors.js";
import type { IntegerArray, Tensor } from "../types.js";
import { readTokens } from "./core-model.js";
import { type LossByPosition, type LossOptions, measureLosses } from "./loss-by-position.js";
import type { AttentionKind, ModelCalls, ModelInput } from "./model-description.js";
import type { ModelInfo } from "./model-info.js";
import { changeOf, type PositionOverride } from "./position-override.js";
import { makeSampler, type SamplingOptions } from "./sampling.js";
import { TextStream } from "./text-stream.js";
import type { EncodeOptions, ModelTokenizer } from "./tokenizers/tokenizer.js";

export interface Overridable {
  /** positions otherwise than trained, for this call */ override?: PositionOverride | undefined;
}
/** Beside the ids (or the pixels of an image). */
export type InputOptions = Omit<ModelInput, "ids" | "pixels"> & Overridable;

export interface AttentionOptions {
  /** of an encoder-decoder: "encoder" (default), "decoder" or "cross" */ kind?: AttentionKind;
}

export interface GenerateOptions extends SamplingOptions, Overridable {
  /** a text, or ids; default: the token that begins a text. Of an encoder-decoder: the encoder's input */
  prompt?: string | IntegerArray;
  /** at most so many new tokens; default 256 */ tokens?: number;
  /** pieces of text as they come, the prompt not among them */ onText?: (text: string) => void;
  /** ends early, and is no error */ signal?: AbortSignal;
}
export interface GeneratedText {
  /** with the prompt in front, where it is continued */ text: string;
  promptIds: Int32Array;
  /** the new ones, without the one that ended the text */ ids: Int32Array;
  /** why it ended */ ended: "end of text" | "tokens" | "aborted";
}

/** Facts that generation needs and the architecture does not have. */
export interface GenerationFacts {
  /** first id of a decoder behind an encoder */ decoderStart: number | null;
  /** ids that end a text beside the tokenizer's */ ends: readonly number[];
}

/** How long to work before other things get their turn, in milliseconds. */
const turnAfter = 30;

export class Model {
  readonly info: ModelInfo;
  readonly tokenizer: ModelTokenizer;
  readonly #calls: ModelCalls;
  readonly #facts: GenerationFacts;
  #override = "{}";
  #lastInput: ModelInput | null = null;

  /** @internal made by openModel */
  constructor(calls: ModelCalls, info: ModelInfo, tokenizer: ModelTokenizer, facts: GenerationFacts) {
    this.#calls = calls;
    this.info = info;
    this.tokenizer = tokenizer;
    this.#facts = facts;
  }

  /** Ids of a text, with the special tokens that the tokenizer puts around it. */
  encode(text: string, options: EncodeOptions = {}): Int32Array {
    if (typeof text !== "string") throw wrongArgument("type", "text", text, "a text");
    checkOptions(options, ["special"]);
    return this.tokenizer.encode(text, options);
  }

  decode(ids: Iterable<number>): string {
    if (typeof (ids as Iterable<number> | null)?.[Symbol.iterator] !== "function")
      throw wrongArgument("type", "ids", ids, "a list of ids");
    return this.tokenizer.decode(ids);
  }

  /**
   * Logits of every token [L, vocabulary] (of an encoder-decoder: of `decoderIds`), [labels] of an image
   * [channels, height, width].
   */
  logits(input: IntegerArray | Tensor, options: InputOptions = {}): Tensor {
    return this.#calls.logits(this.#prepare(input, options));
  }

  /** Loss in nats of each next token: [L], NaN at the last place, which has none. */
  losses(ids: IntegerArray, options: InputOptions & { targets?: IntegerArray } = {}): Float32Array {
    const { targets, ...rest } = options;
    return this.#calls.losses(this.#prepare(ids, rest), targets);
  }

  /**
   * Who looked at whom in a layer, for the input of the last `logits` or `losses`: [heads, Lq, Lk], or [Lq, Lk] of one
   * head.
   */
  attention(layer: number, head?: number, options: AttentionOptions = {}): Tensor {
    if (!this.#lastInput)
      throw new PosLabError("state", "attention: it is that of the last input; call logits or losses first", {
        argument: "attention",
      });
    const weights = this.#calls.attention(this.#lastInput, layer, options.kind);
    if (head === undefined) return weights;
    const [heads, queries, keys] = weights.shape as [number, number, number];
    if (!Number.isInteger(head) || head < 0 || head >= heads)
      throw wrongArgument("range", "head", head, `a whole number from 0 to ${heads - 1}`);
    const size = queries * keys;
    return { data: weights.data.slice(head * size, (head + 1) * size), shape: [queries, keys] };
  }

  /** Hidden states that the last `logits` or `losses` leaves as `memory` for the segment after it (Transformer-XL). */
  memory(): Tensor {
    return this.#calls.hiddenStates();
  }

  /** Mean loss at each place of a window, over the windows of a text or of ids. Of causal decoders only. */
  async lossByPosition(text: string | IntegerArray, options: LossOptions & Overridable = {}): Promise<LossByPosition> {
    checkOptions(options, ["window", "stride", "windows", "signal", "onProgress", "override"]);
    checkCallback(options.onProgress, "onProgress");
    checkSignal(options.signal);
    const { encoder, trainedLength } = this.info.architecture;
    if (encoder)
      throw new PosLabError(
        "notDefined",
        `lossByPosition: a ${this.info.modelType} model does not predict the next token of a text`,
        {
          argument: "lossByPosition",
        },
      );
    const { override, ...rest } = options;
    this.#apply(override);
    return measureLosses(this.#calls, this.#idsOf(text, "text"), trainedLength, rest);
  }

  /** @throws PosLabError that a call with this override would throw whatever its input: it names what is wrong with it. */
  checkOverride(override: PositionOverride): void {
    this.#apply(override);
  }

  /** Continues a text (of an encoder-decoder: answers it) token by token, with a cache of keys and values. */
  async generate(options: GenerateOptions = {}): Promise<GeneratedText> {
    checkOptions(options, ["prompt", "tokens", "onText", "signal", "temperature", "topP", "seed", "override"]);
    const { tokens = 256, onText, signal, override, prompt } = options;
    checkCallback(onText, "onText");
    checkSignal(signal);
    if (!Number.isSafeInteger(tokens) || tokens < 0)
      throw wrongArgument("range", "tokens", tokens, "a whole number, 0 or larger");
    const sample = makeSampler(options);
    const promptIds = prompt === undefined || prompt === "" ? this.#beginning() : this.#idsOf(prompt, "prompt");
    this.#apply(override);
    const stream = new TextStream(this.tokenizer, this.#begin(promptIds));
    const ends = new Set([...this.tokenizer.ends, ...this.#facts.ends]);
    const ids: number[] = [];
    let ended: GeneratedText["ended"] = "tokens";
    let logits = this.#calls.append(Int32Array.from(stream.ids));
    let lastTurn = performance.now();
    while (ids.length < tokens) {
      if (signal?.aborted) {
        ended = "aborted";
        break;
      }
      const id = sample(logits);
      if (ends.has(id)) {
        ended = "end of text";
        break;
      }
      ids.push(id);
      const piece = stream.push(id);
      if (piece) onText?.(piece);
      if (ids.length < tokens) logits = this.#calls.append([id]);
      if (performance.now() - lastTurn > turnAfter) {
        await nextTurn();
        lastTurn = performance.now();
      }
    }
    const rest = stream.end();
    if (rest) onText?.(rest);
    this.#calls.truncate();
    return { text: stream.text, promptIds, ids: Int32Array.from(ids), ended };
  }

  /** Gives the module's memory back. Further calls do nothing. */
  dispose(): void {
    this.#calls.dispose();
    this.#lastInput = null;
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  #prepare(input: IntegerArray | Tensor, { override, ...options }: InputOptions): ModelInput {
    this.#apply(override);
    const isImage = isShaped(input);
    if (isImage !== Boolean(this.info.architecture.image))
      throw wrongArgument(
        "type",
        "input",
        isImage ? "an image" : "ids",
        isImage ? "token ids" : "an image, { data, shape: [channels, height, width] }",
      );
    this.#lastInput = isImage ? { ...options, pixels: input as Tensor } : { ...options, ids: input as IntegerArray };
    return this.#lastInput;
  }

  /** Changes the core's positions only when they are to be others: that empties its cache. */
  #apply(override: PositionOverride | undefined): void {
    const wanted = override ?? {};
    if (typeof wanted !== "object" || Array.isArray(wanted))
      throw wrongArgument("type", "override", override, "an object such as { theta: 20000 }");
    const key = JSON.stringify(wanted);
    if (key === this.#override) return;
    this.#override = "unknown"; // should the change fail half-way
    this.#calls.change(Object.keys(wanted).length === 0 ? null : changeOf(this.info.architecture, wanted));
    this.#override = key;
  }

  #idsOf(text: string | IntegerArray, argument: string): Int32Array {
    return typeof text === "string" ? this.encode(text) : readTokens(text, argument);
  }

  /** What a text begins with when nothing is given. */
  #beginning(): Int32Array {
    const first = this.tokenizer.bos ?? this.tokenizer.ends[0];
    if (first === undefined)
      throw new PosLabError("missing", "prompt is missing; this tokenizer has no token that begins a text", {
        argument: "prompt",
      });
    return Int32Array.of(first);
  }

  /** The ids that the decoder begins with. */
  #begin(promptIds: Int32Array): Int32Array {
    const { encoder, decoder } = this.info.architecture;
    if (!decoder)
      throw new PosLabError("notDefined", `generate: a ${this.info.modelType} model does not write text`, {
        argument: "generate",
      });
    this.#calls.truncate();
    if (!encoder) return promptIds;
    this.#calls.encode({ ids: promptIds });
    return Int32Array.of(this.#facts.decoderStart ?? 0);
  }
}
