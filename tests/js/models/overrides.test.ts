// SPDX-License-Identifier: MIT
// Position overrides from text and from objects, and sampling.

import { describe, expect, it } from "vitest";
import type { Architecture } from "../../../bindings/js/models/model-description.js";
import { changeOf, parseOverride } from "../../../bindings/js/models/position-override.js";
import { makeSampler } from "../../../bindings/js/models/sampling.js";
import type { Position } from "../../../bindings/js/types.js";

const architecture = (position: Position | Position[]): Architecture => ({
  dim: 8,
  vocabulary: 4,
  trainedLength: 512,
  decoder: {
    layers: 2,
    heads: 2,
    feedForward: 8,
    causal: true,
    position,
    norm: { kind: "rms", place: "pre", epsilon: 1e-5 },
    activation: "silu",
  },
  head: { outputs: 4, tied: true },
});
const rope = architecture({
  type: "rope",
  theta: 10000,
  layout: "interleaved",
  scaling: { ropeType: "linear", factor: 2 },
});

describe("an override as text", () => {
  it.each([
    ["yarn:4", { scaling: { ropeType: "yarn", factor: 4 } }],
    ["llama3:8", { scaling: { ropeType: "llama3", factor: 8, lowFreqFactor: 1, highFreqFactor: 4 } }],
    ["window:256", { window: 256 }],
    ["shift:100+theta:5e5", { shift: 100, theta: 500000 }],
    ["layout:half", { layout: "half" }],
    ["none", { position: { type: "none" } }],
    ['{"type":"alibi"}', { position: { type: "alibi" } }],
    ['{"scaling":null,"window":0}', { scaling: null, window: 0 }],
  ])("%s", (text, override) => expect(parseOverride(text)).toEqual(override));

  it.each(["yarn", "yarn:x", "window:", "layout:diagonal", "yarn:4:5", "", "{", "yarn:4+linear:2"])(
    "refuses %j and says what is allowed",
    (text) => {
      expect(() => parseOverride(text)).toThrow(/^override/);
    },
  );
});

describe("a change of positions", () => {
  it("keeps what is not mentioned, and stretches the model's own length", () => {
    expect(changeOf(rope, { theta: 5 }).position).toMatchObject({
      theta: 5,
      layout: "interleaved",
      scaling: { ropeType: "linear", factor: 2 },
    });
    expect(changeOf(rope, { scaling: null }).position).toEqual({ type: "rope", theta: 10000, layout: "interleaved" });
    expect(changeOf(rope, { scaling: { ropeType: "yarn", factor: 4 } }).position).toMatchObject({
      maxPositionEmbeddings: 512,
      scaling: { ropeType: "yarn", factor: 4, originalMaxPositionEmbeddings: 512 },
    });
    expect(changeOf(rope, { window: 0, shift: 3 })).toEqual({ window: 0, shift: 3 });
    expect(changeOf(architecture({ type: "alibi" }), { slopes: [1, 2] }).position).toEqual({
      type: "alibi",
      slopes: [1, 2],
    });
  });

  it("reaches the layers that rotate, where every n-th does not", () => {
    const [rotates, none]: Position[] = [{ type: "rope", theta: 7 }, { type: "none" }];
    const changed = (position: Position[]): unknown => changeOf(architecture(position), { theta: 5 }).position;
    expect(changed([rotates!, none!, rotates!, none!])).toEqual({ type: "rope", theta: 5, noRopeLayerInterval: 2 });
    expect(changed([rotates!, rotates!, none!])).toEqual({ type: "rope", theta: 5, noRopeLayerInterval: 3 });
    expect(changed([rotates!, rotates!])).toEqual({ type: "rope", theta: 5 });
  });

  it("is refused where the model has no such thing", () => {
    expect(() => changeOf(architecture({ type: "alibi" }), { theta: 5 })).toThrow(
      /positions are "alibi", and only "rope" has theta/,
    );
    expect(() => changeOf(rope, { slopes: "standard" })).toThrow(/only "alibi" has slopes/);
    expect(() => changeOf(rope, { theta: 5, position: { type: "none" } })).toThrow(
      /override\.theta: 5 was given; either/,
    );
    expect(() => changeOf(architecture([{ type: "rope" }, { type: "rope", theta: 9 }]), { theta: 5 })).toThrow(
      /different schemes/,
    );
    expect(() => changeOf(architecture([{ type: "none" }, { type: "rope" }]), { theta: 5 })).toThrow(
      /different schemes/,
    );
    expect(() => changeOf(rope, { tetha: 5 } as object)).toThrow(/override\.tetha is not known; did you mean "theta"/);
  });
});

describe("sampling", () => {
  const logits = Float32Array.of(1, 3, 2, 3);
  const shares = (options: object, draws = 4000): number[] => {
    const sample = makeSampler({ seed: 7, ...options });
    const counts = [0, 0, 0, 0];
    for (let draw = 0; draw < draws; draw += 1) counts[sample(logits)]! += 1 / draws;
    return counts;
  };

  it("takes the first of the most likely tokens at temperature 0", () => {
    expect(makeSampler({})(logits)).toBe(1);
  });

  it("draws by softmax(logits / temperature), the same for the same seed", () => {
    const weights = [...logits].map((logit) => Math.exp(logit / 2));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    // Four standard deviations of a share over 4,000 draws.
    shares({ temperature: 2 }).forEach((share, id) =>
      expect(Math.abs(share - weights[id]! / total)).toBeLessThan(0.032),
    );
    expect(shares({ temperature: 2 }, 50)).toEqual(shares({ temperature: 2 }, 50));
  });

  it("draws only from the likeliest tokens that reach top-p", () => {
    // Shares are 0.06, 0.39, 0.15, 0.39: two reach 0.7, three reach 0.9.
    expect(shares({ temperature: 1, topP: 0.7 }).map((share) => share > 0)).toEqual([false, true, false, true]);
    expect(shares({ temperature: 1, topP: 0.9 }).map((share) => share > 0)).toEqual([false, true, true, true]);
  });

  it("refuses options out of range by name", () => {
    expect(() => makeSampler({ temperature: -1 })).toThrow(/temperature: -1 was given/);
    expect(() => makeSampler({ topP: 0 })).toThrow(/topP: 0 was given/);
    expect(() => makeSampler({ seed: 0.5 })).toThrow(/seed: 0\.5 was given/);
  });
});
