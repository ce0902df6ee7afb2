// SPDX-License-Identifier: MIT
import { loadPosLab } from "poslab";
import { describe, expect, it } from "vitest";
import { completeExperiment, type Encoding } from "../../engine/poslab.js";
import { schemeNames } from "../../schemes/looks.js";
import { atTestOf } from "../../state/experiment.js";
import { inRule, kindsFor, makeChange, numberRule, withoutDistances } from "./changes.js";

const input = { number: 4, group: null, otherType: "alibi" as const };

describe("changes at test time", () => {
  it("are offered where they make sense", () => {
    expect(kindsFor({ type: "rope" })).toEqual([
      "linear",
      "ntk",
      "dynamic",
      "yarn",
      "window",
      "grouped",
      "clamped",
      "other",
      "shift",
    ]);
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

  it("offer other distances for the schemes that can have them, and no others", async () => {
    const lab = await loadPosLab();
    for (const type of schemeNames) {
      const encodings = [{ type } as Encoding];
      const atTest = [{ of: 0, distances: { policy: "clamped", window: 4 } as const }];
      const model = { dim: 16, heads: 2, layers: 1, feedForward: 16 };
      const check = () => lab.checkExperiment({ task: { type: "lookback" }, model, encodings, atTest });
      if (withoutDistances.includes(type)) expect(check, type).toThrow("distances");
      else expect(check, type).not.toThrow();
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

  it("offer other distances to the schemes for which the core has them, and to no others", async () => {
    const lab = await loadPosLab();
    for (const type of schemeNames) {
      const experiment = completeExperiment({
        task: { type: "first" },
        model: { dim: 16, heads: 2, layers: 1, feedForward: 4 },
        training: { length: 8, batch: 1, steps: 0 },
        encodings: [{ type } as Encoding],
        atTest: [{ of: 0, distances: { policy: "clamped", window: 4 } }],
        test: { lengths: [8], windows: 1 },
      });
      const made = () => lab.createRun(experiment, 0, 1).dispose();
      if (kindsFor({ type } as Encoding).includes("clamped")) expect(made, type).not.toThrow();
      else expect(made, type).toThrow(/distances/);
    }
  });

  it("leave out a group that stays empty", () => {
    const rope: Encoding = { type: "rope" };
    expect(makeChange("grouped", rope, 4, { ...input, number: 32 })).toEqual({
      of: rope,
      distances: { policy: "grouped", window: 32 },
    });
    expect(makeChange("grouped", rope, 4, { ...input, number: 32, group: 8 }).distances).toMatchObject({ group: 8 });
    expect(makeChange("clamped", rope, 4, { ...input, number: 63, group: 8 }).distances).toEqual({
      policy: "clamped",
      window: 63,
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
