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
    const rope = [{ type: "rope" as const }];
    expect(kinds({ encodings: rope, positions: "randomized", positionsMaximum: 63 })).toEqual(["positionsLeast"]);
    expect(kinds({ encodings: rope, positions: "pose", positionsMaximum: 63 })).toEqual(["positionsLeast"]);
    expect(kinds({ encodings: rope, positions: "pose", positionsChunks: 65 })).toEqual(["chunksMost"]);
    expect(kinds({ encodings: rope, positions: "shift", positionsMaximum: 0 })).toEqual([]);
    expect(kinds({ positions: "shift", positionsMaximum: 1 })).toEqual(["tableShort"]);
    expect(kinds({ positions: "shift", positionsMaximum: 0 })).toEqual([]);
    expect(kinds({ encodings: [{ type: "learned", rows: 100 }], positions: "pose", positionsMaximum: 100 })).toEqual(
      [],
    );
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
