// SPDX-License-Identifier: MIT
// Chinese and Latin side by side get a space. Texts that are written out have theirs; these are for what is put in.

const kEndsChinese = /\p{Script=Han}$/u;
const kStartsChinese = /^\p{Script=Han}/u;
const kEndsLatin = /[\p{Script=Latin}\d)%]$/u;
const kStartsLatin = /^[\p{Script=Latin}\d(]/u;

/** What belongs between two pieces of text: a space where Chinese and Latin meet, else nothing. */
export function gap(left: string, right: string): "" | " " {
  const meet =
    (kEndsChinese.test(left) && kStartsLatin.test(right)) || (kEndsLatin.test(left) && kStartsChinese.test(right));
  return meet ? " " : "";
}

/** A template whose values may be Chinese or Latin: spaced`移除${name}`. */
export const spaced = (texts: TemplateStringsArray, ...values: readonly string[]): string =>
  texts.slice(1).reduce((said, text, index) => {
    const value = values[index]!;
    const before = said + gap(said, value) + value;
    return before + gap(before, text) + text;
  }, texts[0]!);
