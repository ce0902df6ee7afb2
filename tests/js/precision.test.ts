// SPDX-License-Identifier: MIT
// The precision report: where ids and angles collapse is known from the types' bits, and errors against a plain count.

import { describe, expect, it } from "vitest";
import { precisionReport, type TypePrecision } from "../../bindings/js/precision.js";
import { PosLabError, type Rope } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();
const report = (rope: Partial<Rope>, headDim: number, length: number): Record<string, TypePrecision> =>
  Object.fromEntries(
    precisionReport(lab, { type: "rope", ...rope }, { headDim, length }).types.map((entry) => [entry.type, entry]),
  );

describe("precision", () => {
  it("loses ids where the types run out of bits", () => {
    const { float32, bfloat16, float16 } = report({}, 2, 5000);
    // 8, 11 and 24 bits: 257 is rounded to 256, 2049 to 2048, and 2^24 + 1 lies past the length
    expect([float32!.firstEqualIds, bfloat16!.firstEqualIds, float16!.firstEqualIds]).toEqual([null, 257, 2049]);
    expect(report({}, 2, 257).bfloat16!.firstEqualIds).toBeNull();
  });

  it("of pair 0 is the ids' own: angles collapse with them", () => {
    const { bfloat16, float16 } = report({}, 4, 3000);
    expect(bfloat16!.firstEqualAngles[0]).toBe(257);
    expect(float16!.firstEqualAngles[0]).toBe(2049);
    // |cos(257) - cos(256)| is among the errors of pair 0
    expect(bfloat16!.worstCosine[0]).toBeGreaterThan(Math.abs(Math.cos(257) - Math.cos(256)) - 1e-6);
  });

  it("finds what half precision does to the angle of field-reports row 7", () => {
    // r = 32, theta 1e4, position 1857, pair 1: cos 0.306711 becomes -0.408
    const { float16, float32 } = report({}, 32, 1858);
    expect(float16!.worstCosine[1]).toBeGreaterThan(0.306711 + 0.408);
    expect(float32!.worstCosine[1]).toBeLessThan(1e-4);
  });

  it("in float32 is what transformers computes, wrong in the third digit at long texts", () => {
    const { float32 } = report({}, 8, 131072);
    // Frequency and product are rounded, each by at most 2^-24 of the angle: 131071 * 0.1 for pair 1.
    expect(float32!.worst.error).toBeLessThan(2 * 2 ** -24 * 13108);
    expect(float32!.worst.error).toBeGreaterThan(1e-4);
    expect(float32!.worstCosine[0]).toBe(0);
  });

  it("says that nothing is left where the type has no such number", () => {
    const { float16 } = report({}, 2, 70000);
    expect(float16!.worst).toEqual({ error: 2, pair: 0, position: 65520 });
  });

  it("leaves pairs that stand still alone", () => {
    const scaling = { ropeType: "proportional", partialRotaryFactor: 0.5 } as const;
    const { bfloat16 } = report({ scaling }, 8, 300);
    expect(bfloat16!.firstEqualAngles.slice(2)).toEqual([null, null]);
    expect(bfloat16!.worstSine.slice(2)).toEqual([0, 0]);
  });

  it("refuses lengths and schemes that have none", () => {
    const refused =
      (type: string, length: number): (() => unknown) =>
      () =>
        precisionReport(lab, { type } as Rope, { headDim: 4, length });
    expect(refused("rope", 0)).toThrow(PosLabError);
    expect(refused("rope", 2 ** 30)).toThrow(/length/);
    expect(refused("alibi", 10)).toThrow(PosLabError);
  });
});
