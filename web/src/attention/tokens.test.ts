// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { firstCharacters, tokenise, tokenName } from "./tokens.js";

describe("a text as words", () => {
  it("keeps punctuation and drops white space", () => {
    expect(tokenise("The cat  sat,\nthen slept.", "words")).toEqual({
      tokens: ["The", "cat", "sat", ",", "then", "slept", "."],
      cut: false,
    });
  });

  it("finds the words of a Chinese sentence, which no space separates", () => {
    const { tokens } = tokenise("小猫坐在垫子上。", "words");
    expect(tokens.join("")).toBe("小猫坐在垫子上。");
    expect(tokens).toContain("垫子");
    expect(tokens.length).toBeLessThan(8);
  });
});

describe("a text as characters", () => {
  it("counts what a reader counts, white space too", () => {
    expect(tokenise("é 👩‍👩‍👧中", "characters").tokens).toEqual(["é", " ", "👩‍👩‍👧", "中"]);
    expect(tokenise("", "characters")).toEqual({ tokens: [], cut: false });
  });

  it("ends where it is too long, and says so", () => {
    expect(tokenise("abcd", "characters", 3)).toEqual({ tokens: ["a", "b", "c"], cut: true });
    expect(tokenise("abc", "characters", 3).cut).toBe(false);
    expect(firstCharacters("a𝒳c", 2)).toEqual({ text: "a𝒳", cut: true });
    expect(firstCharacters("a𝒳", 2)).toEqual({ text: "a𝒳", cut: false });
  });
});

it("white space has a sign where tokens are shown", () => {
  expect(["a b", "\n", "\t"].map(tokenName)).toEqual(["a␣b", "⏎", "⇥"]);
});
