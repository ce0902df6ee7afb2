// SPDX-License-Identifier: MIT
// The vocabulary in a GGUF file's metadata (keys tokenizer.ggml.*).

import { StringArray } from "../../gguf/cursor.js";
import { tokenizerJson, type Vocabulary } from "./embedded-vocabulary.js";
import { type ModelTokenizer, tokenizerFromJson } from "./tokenizer.js";

const kinds = ["llama", "gpt2", "bert", "t5"] as const;

/** null when the file has none, or one of a kind that is not known: the second with a caution. */
export function ggufTokenizer(metadata: ReadonlyMap<string, unknown>): {
  tokenizer: ModelTokenizer | null;
  caution?: string;
} {
  const value = (name: string): unknown => metadata.get(`tokenizer.ggml.${name}`);
  const tokens = value("tokens");
  const model = value("model");
  const kind = kinds.find((known) => known === model);
  if (!(tokens instanceof StringArray)) return { tokenizer: null };
  if (!kind) return { tokenizer: null, caution: `the tokenizer "${String(model)}" of the file is not known` };
  const id = (name: string): number | undefined => {
    const given = value(`${name}_token_id`);
    return typeof given === "number" && given >= 0 && given < tokens.length ? given : undefined;
  };
  const numbers = (name: string): ArrayLike<number> | undefined => {
    const given = value(name);
    return ArrayBuffer.isView(given) ? (given as unknown as ArrayLike<number>) : undefined;
  };
  const flag = (name: string, fallback: boolean): boolean => {
    const given = value(name);
    return typeof given === "boolean" ? given : fallback;
  };
  const merges = value("merges");
  const isBert = kind === "bert";
  const bos = isBert ? (id("cls") ?? id("bos")) : id("bos");
  const eos = isBert ? (id("seperator") ?? id("separator") ?? id("eos")) : id("eos");
  const pre = value("pre");
  const vocabulary: Vocabulary = {
    kind,
    tokens: [...tokens],
    bos,
    eos,
    unknown: id("unknown"),
    // llama.cpp's own defaults where the file does not say.
    addBos: flag("add_bos_token", kind === "llama" || isBert),
    addEos: flag("add_eos_token", isBert || kind === "t5"),
    spacePrefix: flag("add_space_prefix", true),
    ...(numbers("scores") ? { scores: numbers("scores")! } : {}),
    ...(numbers("token_type") ? { types: numbers("token_type")! } : {}),
    ...(merges instanceof StringArray ? { merges: [...merges] } : {}),
    ...(typeof pre === "string" && pre !== "default" ? { pre } : {}),
  };
  const { json, cautions } = tokenizerJson(vocabulary);
  const others = [id("eot"), id("eom")].filter((other) => other !== undefined);
  return {
    tokenizer: tokenizerFromJson(
      json,
      {},
      {
        source: "GGUF",
        bos: bos ?? null,
        eos: [...(eos === undefined ? [] : [eos]), ...others],
        cautions,
      },
    ),
  };
}
