// SPDX-License-Identifier: MIT
// Vocabularies that lie inside model files, as a tokenizer.json: SentencePiece's pieces with scores (GGUF "llama",
// llama2.c's tokenizer.bin), byte-level BPE ("gpt2"), WordPiece ("bert"), unigrams ("t5").

import { PosLabError } from "../../errors.js";
import { named } from "../../named.js";

export interface Vocabulary {
  kind: "llama" | "gpt2" | "bert" | "t5";
  tokens: readonly string[];
  /** of the pieces; the higher the earlier they are merged */ scores?: ArrayLike<number>;
  /** llama.cpp's token types: 3 control, 4 user-defined */ types?: ArrayLike<number>;
  merges?: readonly string[];
  /** which pre-tokenizer byte-level BPE has, by llama.cpp's name */ pre?: string;
  bos?: number | undefined;
  eos?: number | undefined;
  unknown?: number | undefined;
  /** put at both ends of a text */ addBos?: boolean;
  addEos?: boolean;
  /** a space before a text */ spacePrefix?: boolean;
}

interface TokenizerJson {
  json: object;
  cautions: string[];
}

/** SentencePiece's sign for a space. */
const space = "\u2581";
/** A longer piece is none: splitting it everywhere would take for ever. */
const longestPiece = 4096;
const controlType = 3,
  userType = 4;

export function tokenizerJson(vocabulary: Vocabulary): TokenizerJson {
  const tooLong = vocabulary.tokens.findIndex((token) => token.length > longestPiece);
  if (tooLong >= 0)
    throw new PosLabError("format", `the vocabulary's token ${tooLong} has more than ${longestPiece} characters`);
  const cautions: string[] = [];
  const parts = {
    llama: () => sentencePiece(vocabulary),
    gpt2: () => byteLevel(vocabulary, cautions),
    bert: () => wordPiece(vocabulary),
    t5: () => unigrams(vocabulary),
  }[vocabulary.kind]();
  return { json: { added_tokens: addedTokens(vocabulary), post_processor: ends(vocabulary), ...parts }, cautions };
}

function addedTokens({ tokens, types }: Vocabulary): object[] {
  if (!types) return [];
  return tokens.flatMap((content, id) => {
    const type = types[id];
    if (type !== controlType && type !== userType) return [];
    return [{ id, content, special: type === controlType, normalized: false }];
  });
}

/** Begin and end as a template; null where the vocabulary wants none. */
function ends({ tokens, bos, eos, addBos, addEos }: Vocabulary): object | null {
  const special = (id: number): object => ({ SpecialToken: { id: tokens[id], type_id: 0 } });
  const before = addBos && bos !== undefined && tokens[bos] !== undefined ? [bos] : [];
  const after = addEos && eos !== undefined && tokens[eos] !== undefined ? [eos] : [];
  if (before.length + after.length === 0) return null;
  const single = [...before.map(special), { Sequence: { id: "A", type_id: 0 } }, ...after.map(special)];
  const used = Object.fromEntries(
    [...before, ...after].map((id) => [tokens[id], { id: tokens[id], ids: [id], tokens: [tokens[id]] }]),
  );
  return { type: "TemplateProcessing", single, pair: single, special_tokens: used };
}

const idsOf = (tokens: readonly string[]): Record<string, number> => {
  const ids: Record<string, number> = Object.create(null) as Record<string, number>;
  // Of two equal tokens the first one counts.
  for (let id = tokens.length - 1; id >= 0; id -= 1) ids[tokens[id]!] = id;
  return ids;
};

/** Pieces merge by score, the highest first and the leftmost of equals: BPE whose merges are sorted by the scores. */
function sentencePiece({ tokens, scores, unknown = 0, spacePrefix = true }: Vocabulary): object {
  const vocab = idsOf(tokens);
  return {
    normalizer: {
      type: "Sequence",
      normalizers: [
        ...(spacePrefix ? [{ type: "Prepend", prepend: space }] : []),
        { type: "Replace", pattern: { String: " " }, content: space },
      ],
    },
    pre_tokenizer: null,
    decoder: {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: space }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
        ...(spacePrefix ? [{ type: "Strip", content: " ", start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      type: "BPE",
      vocab,
      merges: mergesByScore(tokens, vocab, scores),
      unk_token: tokens[unknown],
      fuse_unk: true,
      byte_fallback: true,
    },
  };
}

/** Every way to make a piece of two others, by the score of what is made; of equal scores the lower id first. */
function mergesByScore(
  tokens: readonly string[],
  ids: Readonly<Record<string, number>>,
  scores: ArrayLike<number> | undefined,
): [string, string][] {
  const order = Array.from(tokens, (_, id) => id);
  if (scores) order.sort((a, b) => scores[b]! - scores[a]! || a - b);
  return order.flatMap((id) => {
    const token = tokens[id]!;
    if (ids[token] !== id) return [];
    const pairs: [string, string][] = [];
    for (let split = 1; split < token.length; split += 1) {
      const left = token.slice(0, split);
      const right = token.slice(split);
      if (ids[left] !== undefined && ids[right] !== undefined) pairs.push([left, right]);
    }
    return pairs.sort((a, b) => ids[a[0]]! - ids[b[0]]! || ids[a[1]]! - ids[b[1]]!);
  });
}

const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const wordsAndDigits = (digits: string): string =>
  `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const splitBy = (Regex: string): object => ({ type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false });
const wholeBytes = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
const gpt2Words = { type: "ByteLevel", add_prefix_space: false, use_regex: true };
const sequence = (...pretokenizers: object[]): object => ({ type: "Sequence", pretokenizers });

/** How texts are cut before byte-level BPE, by llama.cpp's names (tokenizer.ggml.pre). */
const preTokenizers: Record<string, object> = Object.fromEntries([
  ...["gpt-2", "mpt", "olmo", "dbrx", "phi-2", "gpt-neox", "jina-es", "jina-de"].map((name) => [name, gpt2Words]),
  ...["llama-bpe", "llama3", "smaug-bpe", "pixtral"].map((name) => [
    name,
    sequence(splitBy(wordsAndDigits("{1,3}")), wholeBytes),
  ]),
  ...["qwen2", "stablelm2", "deepseek-r1-qwen"].map((name) => [
    name,
    sequence(splitBy(wordsAndDigits("")), wholeBytes),
  ]),
  ...["starcoder", "refact", "command-r", "smollm", "codeshell", "exaone"].map((name) => [
    name,
    sequence({ type: "Digits", individual_digits: true }, gpt2Words),
  ]),
]) as Record<string, object>;

function byteLevel({ tokens, merges, pre }: Vocabulary, cautions: string[]): object {
  if (!merges) throw new PosLabError("format", "the vocabulary has no merges, which byte-level BPE needs");
  const known = pre === undefined ? gpt2Words : named(preTokenizers, pre);
  if (!known)
    cautions.push(`texts are cut into words as GPT-2 does; the file asks for "${pre}", so some tokens may differ`);
  return {
    normalizer: null,
    pre_tokenizer: known ?? gpt2Words,
    decoder: { type: "ByteLevel" },
    model: { type: "BPE", vocab: idsOf(tokens), merges: [...merges], byte_fallback: false },
  };
}

/** llama.cpp marks beginnings of words; WordPiece marks what goes on. */
function wordPiece({ tokens, unknown = 100, types }: Vocabulary): object {
  const written = tokens.map((token, id) =>
    types?.[id] === controlType || /^\[.*\]$/.test(token)
      ? token
      : token.startsWith(space)
        ? token.slice(space.length)
        : `##${token}`,
  );
  return {
    normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    decoder: { type: "WordPiece", prefix: "##" },
    model: {
      type: "WordPiece",
      vocab: idsOf(written),
      unk_token: tokens[unknown],
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
    },
  };
}

function unigrams({ tokens, scores, unknown = 2 }: Vocabulary): object {
  return {
    normalizer: { type: "Sequence", normalizers: [{ type: "NFKC" }] },
    pre_tokenizer: { type: "Metaspace", replacement: space, prepend_scheme: "always" },
    decoder: { type: "Metaspace", replacement: space, prepend_scheme: "always" },
    model: { type: "Unigram", unk_id: unknown, vocab: tokens.map((token, id) => [token, scores?.[id] ?? 0]) },
  };
}
