// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { ownText, resolve, type Overrides } from "../state/fields.js";
import { findProblems, shortestText } from "./problems.js";

const facts = { symbols: 1_000_000, distinct: 83 };
const kinds = (overrides: Overrides, text: typeof facts | null = facts) =>
  findProblems(resolve(overrides), text, ["moby-dick"]).map((problem) => problem.kind);

describe("impossible choices", () => {
  it("are none in the built-in experiment", () => {
    expect(kinds({})).toEqual([]);
  });

  it("are each found and named", () => {
    expect(kinds({ encodings: [] })).toEqual(["noEncodings"]);
    expect(kinds({ dim: 66, heads: 4 })).toEqual(["headsDivide"]);
    expect(kinds({ dim: 20, heads: 4, encodings: [{ type: "rope" }] })).toEqual(["headEven"]);
    expect(kinds({ encodings: [{ type: "rope", rotaryDim: 32 }] })).toEqual(["rotaryTooWide"]);
    expect(kinds({ encodings: [{ type: "alibi", slopes: [1, 2] }] })).toEqual(["slopesCount"]);
    expect(kinds({ task: "copy", length: 8 })).toEqual(["copyLength"]);
    expect(kinds({ task: "lookback", distance: 64 })).toEqual(["distanceLength"]);
    expect(kinds({ task: "fixed-position", position: 63 })).toEqual(["positionLength"]);
    expect(kinds({ corpus: "tang-song" })).toEqual(["missingCorpus"]);
    expect(kinds({ corpus: ownText }, null)).toEqual(["ownEmpty"]);
    expect(kinds({ dim: 512, layers: 12, batch: 256, length: 1024 })).toEqual(["tooLarge"]);
  });

  it("include a text whose tenth cannot hold the longest window", () => {
    const needed = shortestText(64);
    expect(kinds({ corpus: ownText }, { symbols: needed - 1, distinct: 10 })).toEqual(["ownTooShort"]);
    expect(kinds({ corpus: ownText }, { symbols: needed, distinct: 10 })).toEqual([]);
    expect(Math.floor(needed * 0.1)).toBeGreaterThanOrEqual(16 * 64 + 2);
  });
});
