// SPDX-License-Identifier: MIT
import { describe, expect, it, vi } from "vitest";
import type { SchemeObject } from "../../state/page-link.js";
import { propertiesOf, prove, type Finding, type PropertyName } from "./properties.js";
import type { Subject } from "./subject.js";
import { schemeTypes, subjectOf } from "./testing.js";

// Thousands of calls: quick on a free machine, slow on a shared one.
vi.setConfig({ testTimeout: 60_000 });

const kDraws = 200;

function verdictOf(subject: Subject, property: PropertyName, draws = kDraws) {
  const proof = prove(subject, property, draws);
  let step = proof.next();
  while (!step.done) step = proof.next();
  return step.value;
}
async function finding(scheme: SchemeObject, property: PropertyName): Promise<Finding> {
  const verdict = verdictOf(await subjectOf(scheme), property);
  if (!("holds" in verdict)) throw new Error(verdict.refused.message);
  return verdict;
}

/** What the literature says of each. */
const expected: Record<string, Partial<Record<PropertyName, boolean>>> = {
  none: { order: false, shift: true },
  sinusoidal: { order: true, shift: false, norm: true, map: true },
  learned: { order: true, shift: false, norm: false, map: false },
  shaw: { order: true, shift: true },
  "transformer-xl": { order: true, shift: true },
  t5: { order: true, shift: true },
  rope: { order: true, shift: true, norm: true, monotone: false },
  alibi: { order: true, shift: true, monotone: true },
  kerple: { order: true, shift: true, monotone: true },
  xpos: { order: true, shift: true },
  fire: { order: true, shift: false },
  sandwich: { order: true, shift: true, monotone: false },
  tisa: { order: true, shift: true },
  "relative-scalar": { order: true, shift: true },
  "dynamic-bias": { order: true, shift: true },
  cope: { order: true, shift: true },
  forgetting: { order: true, shift: true, monotone: true },
  deberta: { order: true, shift: true },
  dape: { order: true, shift: true },
  pope: { order: true, shift: true, monotone: false },
};

describe("properties", () => {
  for (const [type, verdicts] of Object.entries(expected)) {
    it(`of ${type} are as published`, async () => {
      for (const [property, holds] of Object.entries(verdicts) as [PropertyName, boolean][]) {
        const found = await finding({ type }, property);
        expect(found.holds, `${property}: ${found.largest}`).toBe(holds);
      }
    });
  }

  it("change with the parameters: YaRN makes vectors longer, RoPE alone does not", async () => {
    const scaling = { ropeType: "yarn", factor: 8, originalMaxPositionEmbeddings: 64 };
    expect((await finding({ type: "rope", scaling }, "norm")).holds).toBe(false);
    expect((await finding({ type: "rope" }, "norm")).largest).toBeLessThan(1e-5);
  });

  it("say how far off the worst draw was, and which it was", async () => {
    const found = await finding({ type: "sinusoidal" }, "shift");
    expect(found.largest).toBeGreaterThan(0.05);
    expect(found.worst["shift"]).toBeGreaterThan(0);
    expect(found.draws).toBe(kDraws);
  });

  it("can be tried on every scheme of the registry", async () => {
    for (const type of await schemeTypes()) {
      const subject = await subjectOf({ type }, { length: 16 });
      for (const property of propertiesOf(subject)) {
        const verdict = verdictOf(subject, property, 20);
        if ("holds" in verdict) expect(Number.isFinite(verdict.largest), `${type} ${property}`).toBe(true);
        else expect(verdict.refused.message, `${type} ${property}`).not.toBe("");
      }
    }
  });

  it("pause at least every few draws, so that the page can breathe", async () => {
    for (const property of ["shift", "order"] as const) {
      const proof = prove(await subjectOf({ type: "rope" }), property, 64);
      let [pauses, step] = [0, proof.next()];
      for (; !step.done; step = proof.next()) pauses += 1;
      expect(pauses).toBeGreaterThanOrEqual(8);
    }
  });
});
