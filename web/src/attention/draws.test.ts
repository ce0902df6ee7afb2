// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { kHeadDim, normals, RandomVectors } from "./draws.js";

const rowOf = (rows: Float32Array, dim: number, index: number) => rows.slice(index * dim, (index + 1) * dim);

describe("random vectors", () => {
  const vectors = new RandomVectors(7, 2);
  const content = vectors.content(["the", "cat", "the"]);

  it("are the same for the same seed and token, wherever the token stands", () => {
    expect(content).toEqual(new RandomVectors(7, 2).content(["the", "cat", "the"]));
    expect(rowOf(content, 32, 0)).toEqual(rowOf(content, 32, 2));
    expect(rowOf(content, 32, 0)).not.toEqual(rowOf(content, 32, 1));
    expect(vectors.content(["cat"])).toEqual(rowOf(content, 32, 1));
    expect(new RandomVectors(8, 2).content(["cat"])).not.toEqual(rowOf(content, 32, 1));
  });

  it("are projected row by row into heads, linearly but for the common part", () => {
    const { query } = vectors.project(content);
    expect(query.shape).toEqual([2, 3, kHeadDim]);
    const alone = vectors.project(rowOf(content, 32, 1)).query;
    const common = vectors.project(new Float32Array(32)).query;
    const twice = vectors.project(rowOf(content, 32, 1).map((entry) => 2 * entry)).query;
    for (let c = 0; c < 2 * kHeadDim; c += 1) {
      const [head, lane] = [Math.floor(c / kHeadDim), c % kHeadDim];
      expect(query.data[(head * 3 + 1) * kHeadDim + lane]).toBe(alone.data[c]);
      expect(twice.data[c]! - common.data[c]!).toBeCloseTo(2 * (alone.data[c]! - common.data[c]!), 4);
    }
  });

  it("make equal tokens look at each other more than others", () => {
    const tokens = Array.from({ length: 40 }, (_, index) => `token ${index % 20}`);
    const { query, key } = vectors.project(vectors.content(tokens));
    const dot = (i: number, j: number) => {
      let sum = 0;
      for (let c = 0; c < kHeadDim; c += 1) sum += query.data[i * kHeadDim + c]! * key.data[j * kHeadDim + c]!;
      return sum;
    };
    let [same, other] = [0, 0];
    for (let i = 20; i < 40; i += 1) [same, other] = [same + dot(i, i - 20) / 20, other + dot(i, i - 13) / 20];
    expect(same).toBeGreaterThan(other + 3);
  });

  it("are normal: mean 0, variance 1", () => {
    const next = normals(1, "check");
    const values = Array.from({ length: 20_000 }, next);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect(Math.abs(mean)).toBeLessThan(4 / Math.sqrt(20_000)); // four standard errors
    expect(Math.abs(variance - 1)).toBeLessThan(4 * Math.sqrt(2 / 20_000));
  });
});
