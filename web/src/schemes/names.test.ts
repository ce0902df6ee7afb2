// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { chinese } from "../language/chinese.js";
import { english } from "../language/english.js";
import { alibiSlopes } from "./alibi-slopes.js";
import { allowedNumber } from "../controls/allowed.js";
import { readNumber, type NumberLimits } from "../state/page-link.js";
import { parseField, schemeFields, type SchemeField } from "./fields.js";
import { changeName, encodingNames } from "./names.js";

describe("names of encodings", () => {
  it("carry parameters only where a scheme is there twice", () => {
    expect(encodingNames([{ type: "t5", maxDistance: 32 }, { type: "rope" }], english)).toEqual(["T5", "RoPE"]);
    expect(encodingNames([{ type: "rope" }, { type: "rope", theta: 500 }], english)).toEqual([
      "RoPE",
      "RoPE (theta 500)",
    ]);
    const two = [{ type: "rope" as const }, { type: "rope" as const, theta: 500, rotaryDim: 8 }];
    expect(encodingNames(two, english)[1]).toBe("RoPE (theta 500, rotary dim 8)");
    expect(encodingNames(two, chinese)[1]).toBe("旋转编码 RoPE（底数 theta 500、旋转维数 8）");
  });

  it("give way to an encoding's own label", () => {
    expect(encodingNames([{ type: "rope", label: "mine" }], chinese)).toEqual(["mine"]);
  });
});

describe("a field that has a word of its own outside its limits", () => {
  const rotary = schemeFields.rope.find((field) => field.name === "rotaryDim") as SchemeField & NumberLimits;

  it("takes it, and says so", () => {
    expect(parseField(rotary, "0")).toEqual({});
    expect(readNumber(rotary, "0")).toBe(0);
    expect(parseField(rotary, "1")).toEqual({ problem: "number" });
    expect(readNumber(rotary, "1")).toBeUndefined();
    expect(allowedNumber(rotary, english, String)).toBe("0, or between 2 and 512. A whole number.");
    expect(allowedNumber(rotary, chinese, String)).toBe("须为 0，或在 2 到 512 之间。须为整数。");
  });

  it("is every one whose default is outside them", () => {
    for (const field of Object.values(schemeFields).flat()) {
      if ("minimum" in field) expect(readNumber(field, String(field.fallback)), field.name).toBe(field.fallback);
    }
  });
});

describe("names of changes at test time", () => {
  it("say what is changed", () => {
    const rope = { type: "rope" as const };
    expect(
      changeName({ of: rope, position: { ...rope, scaling: { ropeType: "ntk", factor: 8 } } }, 4, english, String),
    ).toBe("NTK × 8");
    expect(changeName({ of: rope, window: 64 }, 4, chinese, String)).toBe("窗口 64");
    const steeper = alibiSlopes(4).map((slope) => 4 * slope);
    expect(
      changeName({ of: { type: "alibi" }, position: { type: "alibi", slopes: steeper } }, 4, english, String),
    ).toBe("slopes × 4");
    expect(changeName({ of: rope, position: { type: "alibi" } }, 4, english, String)).toBe("run as ALiBi");
  });
});

describe("ALiBi's slopes", () => {
  it("are the paper's for 8 heads, and interleave for counts between powers of two", () => {
    expect(alibiSlopes(8)).toEqual([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]);
    expect(alibiSlopes(3)).toEqual([2 ** -4, 2 ** -8, 2 ** -2]);
  });
});

describe("a parameter's text", () => {
  const theta = schemeFields.rope.find((field) => field.name === "theta")!;
  const slopes = schemeFields.alibi[0]!;

  it("is read, refused with a reason, or put back to the default", () => {
    expect(parseField(theta, "500000")).toEqual({ value: 500000 });
    expect(parseField(theta, "")).toEqual({});
    expect(parseField(theta, "10000")).toEqual({});
    expect(parseField(theta, "0.5")).toEqual({ problem: "number" });
    expect(parseField(theta, "many")).toEqual({ problem: "number" });
    expect(parseField(slopes, "0.5, 0.25 0.125")).toEqual({ value: [0.5, 0.25, 0.125] });
  });
});
