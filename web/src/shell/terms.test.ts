// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { chinese } from "../language/chinese.js";
import { english } from "../language/english.js";
import { parseTerms } from "./terms.js";

describe("terms in a text", () => {
  it("are told from the words around them", () => {
    expect(parseTerms("a [[nats|nats]] b")).toEqual([{ text: "a " }, { text: "nats", term: "nats" }, { text: " b" }]);
    expect(parseTerms("plain [text]")).toEqual([{ text: "plain [text]" }]);
  });

  it("all have an entry in both languages", () => {
    for (const words of [english, chinese]) {
      const texts = [words.race.lead("64", "1024"), words.race.leadToy("64", "1024"), words.tasks.text.rule];
      const terms = texts.flatMap(parseTerms).flatMap((piece) => piece.term ?? []);
      expect(terms.length).toBeGreaterThanOrEqual(3);
      for (const term of terms) expect(words.glossary[term], term).toBeTruthy();
    }
  });
});
