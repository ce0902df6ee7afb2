// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { pageWords as attentionWords } from "../attention/words.js";
import { pageWords as encodingsWords } from "../encodings/words.js";
import { chinese } from "../language/chinese.js";
import { english } from "../language/english.js";
import { parseTerms } from "./terms.js";

describe("terms in a text", () => {
  it("are told from the words around them", () => {
    expect(parseTerms("a [[nats|nats]] b")).toEqual([{ text: "a " }, { text: "nats", term: "nats" }, { text: " b" }]);
    expect(parseTerms("plain [text]")).toEqual([{ text: "plain [text]" }]);
  });

  it("all have an entry in both languages, wherever they stand", () => {
    const pages = [...Object.values(encodingsWords), ...Object.values(attentionWords)];
    const terms = [english, chinese, ...pages].flatMap(textsOf).flatMap(parseTerms);
    const named = terms.flatMap((piece) => piece.term ?? []);
    expect(new Set(named).size).toBeGreaterThanOrEqual(8);
    for (const term of named) {
      expect(english.glossary[term], term).toBeTruthy();
      expect(chinese.glossary[term], term).toBeTruthy();
    }
  });
});

/** Every text of a dictionary; functions get something for each of their parameters. */
function textsOf(words: unknown): string[] {
  if (typeof words === "function") return [String((words as (...given: string[]) => string)("1", "2", "3", "4"))];
  if (typeof words !== "object" || words === null) return [String(words)];
  return Object.values(words).flatMap(textsOf);
}
