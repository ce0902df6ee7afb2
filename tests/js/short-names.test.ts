// SPDX-License-Identifier: MIT
// Names at the ends of curves and in legends, where there is little room.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortNames } from "../../bindings/js/short-names.js";

const upTo = (most: number) => (text: string) => Array.from(text).length <= most;

describe("names that are cut", () => {
  it("keep their beginning where that tells them apart", () => {
    expect(shortNames(["RoPE", "Transformer-XL", "Relative scalar"], upTo(9))).toEqual([
      "RoPE",
      "Transfor…",
      "Relative…",
    ]);
  });

  it("keep what differs where it does not", () => {
    expect(shortNames(["RoPE (theta 500, rotary dim 8)", "RoPE (theta 500, rotary dim 16)"], upTo(16))).toEqual([
      "RoPE (t…y dim 8)",
      "RoPE (t… dim 16)",
    ]);
    expect(shortNames(["位置偏置（底数 500、按头）", "位置偏置（底数 600、按头）"], upTo(8))).toEqual([
      "位…500、按…",
      "位…600、按…",
    ]);
  });

  it("are told apart in groups that part at different places", () => {
    const names = ["RoPE, theta 500, rotary dim 8", "RoPE, theta 500, rotary dim 9", "RoPE, theta 600, rotary dim 8"];
    expect(new Set(shortNames(names, upTo(12))).size).toBe(3);
  });

  it("fit, and different ones differ wherever a few characters fit", () => {
    const name = fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom("a", "b", " ", "编") });
    fc.assert(
      fc.property(fc.array(name, { maxLength: 6 }), fc.integer({ min: 8, max: 30 }), (names, room) => {
        const short = shortNames(names, upTo(room));
        short.forEach((text, index) => {
          expect(upTo(room)(text)).toBe(true);
          if (upTo(room)(names[index]!)) expect(text).toBe(names[index]);
        });
      }),
    );
    const twins = fc.tuple(fc.string({ minLength: 20, maxLength: 20, unit: "grapheme-ascii" }), fc.nat({ max: 19 }));
    fc.assert(
      fc.property(twins, ([text, at]) => {
        const other = `${text.slice(0, at)}\u2020${text.slice(at + 1)}`;
        expect(new Set(shortNames([text, other], upTo(10))).size).toBe(2);
      }),
    );
  });
});
