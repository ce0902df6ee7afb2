// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { completeExperiment, type Encoding } from "../../engine/poslab.js";
import { schemeNames } from "../../schemes/looks.js";
import { atTestOf } from "../../state/experiment.js";
import { inRule, kindsFor, makeChange, numberRule } from "./changes.js";

const input = { number: 4, otherType: "alibi" as const };

describe("changes at test time", () => {
  it("are offered where they make sense", () => {
    expect(kindsFor({ type: "rope" })).toEqual(["linear", "ntk", "dynamic", "yarn", "window", "other", "shift"]);
    expect(kindsFor({ type: "alibi" })).toContain("slopes");
    expect(kindsFor({ type: "learned" })).toContain("stretch");
  });

  it("become entries that the package accepts, for every scheme and kind", () => {
    for (const type of schemeNames) {
      const encoding = { type } as Encoding;
      for (const kind of kindsFor(encoding)) {
        const atTest = atTestOf([makeChange(kind, encoding, 4, input)], [encoding]);
        expect(() => completeExperiment({ encodings: [encoding], atTest }), `${type}, ${kind}`).not.toThrow();
      }
    }
  });

  it("keep the encoding's own parameters under a scaling, and take an empty factor as needed", () => {
    const rope: Encoding = { type: "rope", theta: 500, label: "mine" };
    expect(makeChange("yarn", rope, 4, { ...input, number: null })).toEqual({
      of: rope,
      position: { type: "rope", theta: 500, scaling: { ropeType: "yarn" } },
    });
    expect(makeChange("ntk", rope, 4, { ...input, number: 8 }).position).toMatchObject({
      scaling: { ropeType: "ntk", factor: 8 },
    });
  });

  it("check their number", () => {
    const window = numberRule("window", 64);
    expect(window?.initial).toBe(64);
    expect([64, 0, 1.5, null].map((number) => inRule(window, number))).toEqual([true, false, false, false]);
    expect(inRule(numberRule("ntk", 64), null)).toBe(true);
    expect(inRule(numberRule("stretch", 64), null)).toBe(true);
  });
});
