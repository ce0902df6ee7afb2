// SPDX-License-Identifier: MIT
// A text as tokens: words and punctuation marks, or characters as a reader counts them (Unicode TR 29, by the browser's
// own segmenter, which knows Chinese words).

import type { Language } from "../language/format.js";

export const units = ["words", "characters"] as const;
export type Unit = (typeof units)[number];

/** What the page draws without a stutter. */
export const kMostTokens = 2048;

export interface Tokenised {
  tokens: string[];
  /** whether the text went on */ cut: boolean;
}

/** White space separates words; as a character it counts. */
export function tokenise(text: string, unit: Unit, most = kMostTokens): Tokenised {
  const tokens: string[] = [];
  const segmenter = new Intl.Segmenter(languageOf(text), { granularity: unit === "words" ? "word" : "grapheme" });
  for (const { segment } of segmenter.segment(text)) {
    if (unit === "words" && segment.trim() === "") continue;
    if (tokens.length === most) return { tokens, cut: true };
    tokens.push(segment);
  }
  return { tokens, cut: false };
}

/** The first part of a text that has at most this many code points: what a model of characters is given. */
export function firstCharacters(text: string, most = kMostTokens): { text: string; cut: boolean } {
  let end = 0;
  let count = 0;
  for (const character of text) {
    if (count === most) return { text: text.slice(0, end), cut: true };
    end += character.length;
    count += 1;
  }
  return { text, cut: false };
}

const languageOf = (text: string): Language => (/\p{Script=Han}/u.test(text) ? "zh" : "en");

/** White space made visible. */
export function tokenName(token: string): string {
  return token.replaceAll(" ", "␣").replaceAll(/\r?\n/g, "⏎").replaceAll("\t", "⇥");
}
