// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { pageWords as attentionWords } from "../attention/words.js";
import { pageWords as encodingsWords } from "../encodings/words.js";
import { chinese } from "./chinese.js";
import { english } from "./english.js";
import { formatDuration, formatFixed, formatSetting, formatSignificant } from "./format.js";

type Leaf = [path: string, value: unknown];

function leaves(value: unknown, path = ""): Leaf[] {
  if (typeof value !== "object" || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === "" ? key : `${path}.${key}`));
}

/** The text of an entry; a function is called with a telling argument for each of its parameters. */
function textOf(value: unknown): string {
  if (typeof value !== "function") return String(value);
  return String((value as (...given: unknown[]) => string)("⟦0⟧", "⟦1⟧", "⟦2⟧", "⟦3⟧", "⟦4⟧"));
}

/** Entries that read the same in both languages, or hold no Chinese character for a reason. */
const sameInBoth =
  /^(schemes\.(transformer-xl|alibi|kerple|xpos|fire|sandwich|tisa|cope|deberta|dape|pope|swin|levit|log-cpb)\.name|save\.(png|svg|csv|json)|shell\.otherLanguage|race\.verdict\.end|punctuation\.\w+|atTest\.(curve|short\.ntk|short\.yarn)|kept\.label|numbers\.caption|matrix\.cell|result\.(join|list|end))$/;

const dictionaries: Record<string, { en: object; zh: object }> = {
  site: { en: english, zh: chinese },
  encodings: encodingsWords,
  attention: attentionWords,
};

describe.each(Object.entries(dictionaries))("the dictionaries of %s", (_, { en, zh }) => {
  const other = new Map(leaves(zh));

  it("have the same entries of the same kind in both languages", () => {
    expect([...other.keys()].sort()).toEqual(
      leaves(en)
        .map(([path]) => path)
        .sort(),
    );
    for (const [path, value] of leaves(en)) expect(typeof other.get(path), path).toBe(typeof value);
  });

  it("leave no entry empty", () => {
    for (const [path, value] of [...leaves(en), ...other]) {
      if (path !== "punctuation.sentence") expect(textOf(value).trim(), path).not.toBe("");
    }
  });

  it("say every given value in both languages, or in neither", () => {
    for (const [path, value] of leaves(en)) {
      const said = (text: string) => [...new Set(text.match(/⟦\d⟧|\{name\}/g))].sort();
      if (path === "race.seeds" || path === "race.recordedBy") continue; // a count of one is written out in English
      expect(said(textOf(other.get(path))), path).toEqual(said(textOf(value)));
    }
  });

  it("write Chinese in Chinese and English without it", () => {
    for (const [path, value] of other) {
      if (!sameInBoth.test(path)) expect(textOf(value), path).toMatch(/\p{Script=Han}/u);
    }
    for (const [path, value] of leaves(en)) {
      if (path !== "shell.otherLanguage") expect(textOf(value), path).not.toMatch(/\p{Script=Han}/u);
    }
  });
});

describe("numbers", () => {
  it("read the same everywhere on the page", () => {
    expect(formatFixed("en", 1.005, 2)).toBe("1.01");
    expect(formatFixed("zh", 1024.5, 1)).toBe("1,024.5");
    expect(formatSetting("en", 0.000123)).toBe("0.000123");
    expect(formatSignificant("en", -0.123456)).toBe("−0.1235");
    expect(formatSignificant("zh", 1.4912e-7)).toBe("1.49 × 10⁻⁷");
    expect(formatSignificant("en", -Infinity)).toBe("−∞");
    expect(formatSignificant("en", -0)).toBe("0");
  });

  it("give durations in the one unit that suits them", () => {
    expect(formatDuration("en", english, 0.2)).toBe("1 s");
    expect(formatDuration("en", english, 240)).toBe("4 min");
    expect(formatDuration("zh", chinese, 7200)).toBe("2 小时");
    expect(formatDuration("en", english, NaN)).toBe("a few minutes");
  });
});
