// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { computeVerdict, completeExperiment } from "../engine/poslab.js";
import { chinese } from "../language/chinese.js";
import { english, type Dictionary } from "../language/english.js";
import { encodingNames } from "../schemes/names.js";
import { entry, run } from "./testing.js";
import { plainText, verdictPieces } from "./verdict.js";

const experiment = completeExperiment({
  encodings: [{ type: "sinusoidal" }, { type: "learned" }, { type: "alibi" }],
  atTest: [],
  test: { lengths: [64, 80, 1024] },
});
const runs = [
  run(0, 1, [entry(64, 1.8), entry(80, 2.96), entry(1024, 3)]),
  run(1, 1, [
    entry(64, 1.9),
    entry(80, null, { reason: "past the table" }),
    entry(1024, null, { reason: "past the table" }),
  ]),
  run(2, 1, [entry(64, 1.8), entry(80, 1.81), entry(1024, 1.811)]),
];

function sentence(words: Dictionary): string {
  const names = encodingNames(experiment.encodings, words);
  const wording = {
    words,
    count: String,
    fixed: (value: number, digits: number) => value.toFixed(digits),
    name: (encoding: number) => names[encoding]!,
  };
  return plainText(verdictPieces(computeVerdict(experiment, runs), wording));
}

describe("the verdict", () => {
  it("is a sentence computed from the numbers, in English", () => {
    expect(sentence(english)).toBe(
      "Past 64, Sinusoidal loses 1.16 nats within 16 characters; ALiBi stays within 0.02 up to 1024; Learned has no positions there at all. Best at 1024: ALiBi.",
    );
  });

  it("is one in Chinese", () => {
    expect(sentence(chinese)).toBe(
      "超过 64 之后，正弦编码在 16 个字符之内就变差 1.16 奈特；ALiBi 直到 1024 变差不超过 0.02；可学习编码在那里根本没有定义。在 1024 处最好的是 ALiBi。",
    );
  });

  it("speaks of one character and of one point, and of no length that was not measured", () => {
    const { breaksLoss, breaksAccuracy, holdsAccuracy } = english.race.verdict;
    expect(breaksLoss("0.24", "1")).toBe("{name} loses 0.24 nats within 1 character");
    expect(breaksAccuracy("20", "1")).toBe("{name} drops 20 points within 1 symbol");
    expect(holdsAccuracy("1", "64")).toBe("{name} stays within 1 point up to 64");
    const partly = computeVerdict(experiment, [run(2, 1, [entry(64, 1.8), entry(80, 1.81)])]);
    const wording = { words: english, count: String, fixed: String as (value: number) => string, name: () => "ALiBi" };
    expect(plainText(verdictPieces({ ...partly, encodings: partly.encodings.slice(2) }, wording))).toBe(
      "Past 64, ALiBi stays within 0.01 up to 80.",
    );
  });

  it("rounds what holds up, so that it is true", () => {
    expect(sentence(english)).not.toContain("within 0.01 up");
  });

  it("says so when nothing is finished", () => {
    const wording = { words: english, count: String, fixed: String as (value: number) => string, name: String };
    expect(plainText(verdictPieces({ ...computeVerdict(experiment, runs), encodings: [] }, wording))).toBe(
      english.race.verdict.nothing,
    );
  });
});
