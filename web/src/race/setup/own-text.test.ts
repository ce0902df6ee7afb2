// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { readOwnText } from "./own-text.js";

const now = () => Promise.resolve();

describe("an own text", () => {
  it("is counted in characters and bytes, across the pieces that it is read in", async () => {
    const text = "鲸".repeat(100_000) + "ab";
    const own = await readOwnText(new TextEncoder().encode(text), now);
    expect(own.characters).toEqual({ symbols: 100_002, distinct: 3 });
    expect(own.asBytes).toEqual({ symbols: 300_002, distinct: 5 });
  });

  it("that is not UTF-8 can be used as bytes only", async () => {
    const own = await readOwnText(Uint8Array.of(0xff, 0xfe, 0x41), now);
    expect(own.characters).toBeNull();
    expect(own.asBytes).toEqual({ symbols: 3, distinct: 3 });
  });

  it("that is cut in the middle of a character is not UTF-8", async () => {
    expect((await readOwnText(new TextEncoder().encode("鲸").subarray(0, 2), now)).characters).toBeNull();
  });
});
