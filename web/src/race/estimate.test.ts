// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { completeExperiment } from "../engine/poslab.js";
import { estimateSeconds, runBytes, runWork, shapeOf, speedOf, tokenWork } from "./estimate.js";

const builtIn = completeExperiment({});
const kVocabulary = 84;

describe("the estimate", () => {
  it("counts about 0.72 million operations a token and training step for the built-in model", () => {
    expect(3 * tokenWork(shapeOf(builtIn, kVocabulary), 64, "none")).toBeGreaterThan(0.6e6);
    expect(3 * tokenWork(shapeOf(builtIn, kVocabulary), 64, "none")).toBeLessThan(0.84e6);
  });

  it("says for the same experiment what its own speed took", () => {
    const one = completeExperiment({ encodings: [{ type: "rope" }], test: { lengths: [64], windows: 2 } });
    const speed = speedOf(one, 0, kVocabulary, 40_000);
    // 976 steps of 1,024 tokens at 40,000 a second, and next to nothing for measuring.
    expect(estimateSeconds(one, kVocabulary, speed, 1)).toBeCloseTo((976 * 1024) / 40_000, 0);
  });

  it("shares runs over workers, and never beats the longest run", () => {
    const speed = 1e9;
    const work = builtIn.encodings.map((_, encoding) => runWork(builtIn, encoding, kVocabulary));
    const total = work.reduce((sum, own) => sum + own, 0);
    expect(estimateSeconds(builtIn, kVocabulary, speed, 2)).toBeCloseTo(total / 2 / speed);
    expect(estimateSeconds(builtIn, kVocabulary, speed, 64)).toBeCloseTo(Math.max(...work) / speed);
  });

  it("grows with steps, seeds and changes at test time", () => {
    const more = [
      { training: { steps: 2000 } },
      { seeds: [1, 2, 3] },
      { atTest: [0, 1, 2].map((of) => ({ of, window: 64 })) },
    ];
    for (const part of more) {
      expect(
        estimateSeconds(completeExperiment({ ...part }), kVocabulary, 1e9, 1),
        JSON.stringify(part),
      ).toBeGreaterThan(estimateSeconds(completeExperiment({ atTest: [] }), kVocabulary, 1e9, 1));
    }
  });

  it("finds a model that no tab can hold", () => {
    const small = {
      vocabulary: kVocabulary,
      dim: 64,
      layers: 2,
      feedForward: 256,
      gated: false,
      batch: 16,
      length: 64,
      longest: 1024,
    };
    expect(runBytes(small)).toBeLessThan(100e6);
    expect(runBytes({ ...small, dim: 512, layers: 12, feedForward: 2048, batch: 256, length: 1024 })).toBeGreaterThan(
      10e9,
    );
  });
});
