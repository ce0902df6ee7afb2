// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { frameOf, shortened } from "./arc-drawing.js";
import { arcPath, arcsOf, rowArcs, type ArcFrame } from "./arcs.js";

const picture = Float32Array.of(1, NaN, NaN, 0.7, 0.3, NaN, 0.005, 0.195, 0.8);

describe("arcs", () => {
  it("are the weights that can be seen, the strongest last", () => {
    expect(arcsOf(picture, 3, null).map(({ query, key }) => [query, key])).toEqual([
      [2, 1],
      [1, 1],
      [1, 0],
      [2, 2],
      [0, 0],
    ]);
  });

  it("of one query are its row's", () => {
    const ofRow = rowArcs(picture.slice(6), 2);
    expect(arcsOf(picture, 3, 2)).toEqual(ofRow);
    expect(ofRow.map(({ key }) => key)).toEqual([1, 2]);
  });

  it("run over the line backwards and under it forwards", () => {
    const frame: ArcFrame = { tokens: 4, width: 400, rise: 100, fall: 50 };
    expect(arcPath(frame, { query: 3, key: 1, weight: 1 })).toBe("M350 100A100 78.4 0 0 0 150 100");
    expect(arcPath(frame, { query: 1, key: 2, weight: 1 })).toBe("M150 100A50 26.6 0 0 0 250 100");
    expect(arcPath(frame, { query: 2, key: 2, weight: 1 })).toMatch(/^M250 100a5 5/);
  });
});

describe("names below the arcs", () => {
  it("have room for Chinese characters, which are wider", () => {
    const tall = (names: string[]) => frameOf(names, 200, true).height;
    const latin = Array.from({ length: 12 }, () => "cat");
    expect(tall(latin.map(() => "小猫咪"))).toBeGreaterThan(tall(latin));
    expect(shortened("小猫").width).toBeGreaterThanOrEqual(2 * 12);
  });

  it("are cut where the room ends, not in the middle of a character", () => {
    expect(shortened("internationalisation").text).toBe("internatio");
    expect(shortened("天地玄黄宇宙洪荒").text).toBe("天地玄黄宇宙");
    expect(shortened("𠮷".repeat(9)).text).toBe("𠮷".repeat(6));
    expect(shortened("나는한국사람입니다만").text).toBe("나는한국사람");
    expect(shortened("🙂".repeat(9)).text).toBe("🙂".repeat(6));
  });
});
