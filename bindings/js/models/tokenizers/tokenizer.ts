// SPDX-License-Identifier: MIT
// Text to token ids and back. The work is @huggingface/tokenizers'; vocabularies inside GGUF and llama2.c files are brought
// into the form of tokenizer.json for it (embedded-vocabulary.ts).

import { Tokenizer } from "@huggingface/tokenizers";
import { PosLabError, wrongArgument } from "../../errors.js";

export interface EncodeOptions {
  /** begin-of-sequence and the like as the tokenizer puts them; default true */ special?: boolean;
}

/** Text to ids and back. */
export interface ModelTokenizer {
  /** where it comes from: "tokenizer.json", "GGUF", "llama2.c", "bytes", "experiment" */ readonly source: string;
  /** ids that it knows */ readonly vocabulary: number;
  /** begins a text; null: none */ readonly bos: number | null;
  /** end a text when the model gives them */ readonly ends: readonly number[];
  /** what to know about it */ readonly cautions: readonly string[];
  encode(text: string, options?: EncodeOptions): Int32Array;
  /** special tokens are left out */ decode(ids: Iterable<number>): string;
  /** one token as it stands in the vocabulary */ token(id: number): string;
}

export interface TokenizerFacts {
  source: string;
  /** as the model's config or metadata says; else looked for in the tokenizer's own config */ bos?: number | null;
  eos?: readonly number[];
  cautions?: readonly string[];
}

/** A tokenizer.json (and tokenizer_config.json) as a tokenizer. @throws PosLabError (format) when it cannot be used. */
export function tokenizerFromJson(json: unknown, config: unknown, facts: TokenizerFacts): ModelTokenizer {
  if (typeof json !== "object" || json === null)
    throw new PosLabError("format", `${facts.source}: the tokenizer is no JSON object`, { argument: "tokenizer" });
  let tokenizer: Tokenizer;
  try {
    tokenizer = new Tokenizer(json, typeof config === "object" && config !== null ? config : {});
  } catch (cause) {
    throw new PosLabError("format", `${facts.source}: the tokenizer cannot be used: ${reasonOf(cause)}`, {
      argument: "tokenizer",
      cause,
    });
  }
  return new LibraryTokenizer(tokenizer, config, facts);
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

class LibraryTokenizer implements ModelTokenizer {
  readonly source: string;
  readonly vocabulary: number;
  readonly bos: number | null;
  readonly ends: readonly number[];
  readonly cautions: readonly string[];
  readonly #tokenizer: Tokenizer;

  constructor(tokenizer: Tokenizer, config: unknown, { source, bos, eos, cautions = [] }: TokenizerFacts) {
    this.#tokenizer = tokenizer;
    this.source = source;
    this.cautions = cautions;
    this.vocabulary = tokenizer.get_vocab(true).size;
    const named = (name: string): number | null => idOf(tokenizer, config, name);
    this.bos = bos === undefined ? named("bos_token") : bos;
    const ends = eos ?? [named("eos_token")].filter((id) => id !== null);
    // A model that begins another text has ended this one.
    this.ends = [...new Set([...ends, ...(this.bos === null ? [] : [this.bos])])];
  }

  encode(text: string, { special = true }: EncodeOptions = {}): Int32Array {
    try {
      return Int32Array.from(this.#tokenizer.encode(text, { add_special_tokens: special }).ids);
    } catch (cause) {
      throw new PosLabError("format", `${this.source}: the text cannot be encoded: ${reasonOf(cause)}`, { cause });
    }
  }

  decode(ids: Iterable<number>): string {
    const known = Array.from(ids).filter((id) => this.#tokenizer.id_to_token(id) !== undefined);
    return known.length === 0 ? "" : this.#tokenizer.decode(known, { skip_special_tokens: true });
  }

  token(id: number): string {
    return this.#tokenizer.id_to_token(id) ?? "\ufffd";
  }
}

function idOf(tokenizer: Tokenizer, config: unknown, name: string): number | null {
  const written = (config as Record<string, unknown> | null | undefined)?.[name];
  const text = typeof written === "object" && written !== null ? (written as { content?: unknown }).content : written;
  return typeof text === "string" ? (tokenizer.token_to_id(text) ?? null) : null;
}

/** Bytes as ids, for models without a tokenizer. */
export function byteTokenizer(vocabulary: number): ModelTokenizer {
  return {
    source: "bytes",
    vocabulary: 256,
    bos: null,
    ends: [],
    cautions: [
      "there is no tokenizer: the bytes of a text are taken as ids, which is hardly what the model was trained on",
    ],
    encode(text) {
      const ids = Int32Array.from(new TextEncoder().encode(text));
      const beyond = ids.findIndex((id) => id >= vocabulary);
      if (beyond >= 0)
        throw wrongArgument("range", "text", `the byte ${ids[beyond]} at ${beyond}`, `a byte below ${vocabulary}`);
      return ids;
    },
    decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids)),
    token: (id) => String.fromCharCode(id),
  };
}

/**
 * One symbol a token: what experiments of this package train on. Where the vocabulary has an id more than symbols, as for
 * texts, it is that of unknown symbols; without one, as for the made-up tasks, they are refused.
 */
export function symbolTokenizer(
  symbols: readonly string[],
  unit: "characters" | "bytes",
  vocabulary: number,
): ModelTokenizer {
  const ids = new Map(symbols.map((symbol, id) => [symbol, id]));
  const idOf = (symbol: string): number => {
    const id = ids.get(symbol) ?? symbols.length;
    if (id >= vocabulary) throw wrongArgument("range", "text", symbol, `one of ${symbols.join("")}`);
    return id;
  };
  const split = (text: string): string[] =>
    unit === "bytes" ? Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)) : [...text];
  return {
    source: "experiment",
    vocabulary: Math.min(symbols.length + 1, vocabulary),
    bos: null,
    ends: [],
    cautions: [],
    encode: (text) => Int32Array.from(split(text), idOf),
    decode(given) {
      const text = Array.from(given, (id) => symbols[id] ?? "\ufffd");
      if (unit === "characters") return text.join("");
      return new TextDecoder().decode(Uint8Array.from(text, (symbol) => symbol.charCodeAt(0)));
    },
    token: (id) => symbols[id] ?? "\ufffd",
  };
}
