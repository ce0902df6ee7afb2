// SPDX-License-Identifier: MIT
// The numbers on the page about conventions are the library's own, and its example is a case.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AxialRope, Position, Rope } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";
import { projectRoot } from "./shared.js";

const lab = await sharedLab();
const page = readFileSync(join(projectRoot, "docs/conventions.md"), "utf8");
const plain = page.replace(/\s+/g, " ");
const row = (numbers: ArrayLike<number>, digits = 6): string =>
  Array.from(numbers, (value) => value.toFixed(digits)).join(", ");
const frequency = (position: Rope, headDim: number, pair: number, length = 0): number =>
  lab.frequencies(position, { headDim, length }).inverseFrequencies[pair]!;
const yarn = (truncate: boolean): Rope => ({
  type: "rope",
  theta: 150000,
  scaling: { ropeType: "yarn", factor: 32, originalMaxPositionEmbeddings: 4096, truncate },
});
const dynamic = (length: number): string => {
  const scaling = { ropeType: "dynamic", factor: 2 } as const;
  const rope: Rope = { type: "rope", theta: 10000, scaling, maxPositionEmbeddings: 2048 };
  return (frequency(rope, 128, 1, length) ** -64).toFixed(3);
};
const x = { data: [1, 2, 3, 4], shape: [1, 1, 4] };
const slopes = (heads: number): Float32Array => lab.slopes({ type: "alibi" }, { heads });
const sinusoids = [
  { layout: "interleaved", denominator: "dim" },
  { layout: "concatenated", denominator: "dim" },
  { layout: "concatenated", denominator: "half-dim-minus-one" },
] as const;

/** By how much the pairs of a head of 8 turn at a place, from what each makes of (1, 0). */
const angles = (position: Position, place: [number, number]): string =>
  Array.from({ length: 4 }, (_, pair) => {
    const data = Float32Array.from({ length: 8 }, (_, lane) => (lane === pair ? 1 : 0));
    const turned = lab.rotate({ data, shape: [1, 1, 8] }, position, { positions: [place] }).data;
    return String(Math.abs(Number(Math.atan2(turned[pair + 4]!, turned[pair]!).toFixed(6))));
  }).join(", ");
const axial = (fields: Partial<AxialRope>): string => angles({ type: "axial-rope", ...fields }, [1, 2]);

describe("the page about conventions has", () => {
  it.each([
    ...(["half", "interleaved"] as const).map((layout): [string, string] => [
      `lanes in layout ${layout}`,
      `\`${layout}\` | ${row(lab.rotate(x, { type: "rope", layout }, { positions: [1] }).data, 5)}`,
    ]),
    ...sinusoids.map((sinusoid): [string, string] => [
      `sinusoids ${sinusoid.layout}, ${sinusoid.denominator}`,
      `\`${sinusoid.layout}\`, \`${sinusoid.denominator}\` | ${row(lab.table({ type: "sinusoidal", ...sinusoid }, { length: 1, dim: 4, start: 1 }).data)}`,
    ]),
    ["slopes of 12 heads", row(slopes(12).slice(8))],
    ["the first of 12", (2 ** (-8 / 12)).toFixed(6)],
    ["the slope of one head", `One head has ${slopes(1)[0]!.toFixed(6)}`],
    ["yarn's pair 17, not truncated", `${(frequency(yarn(false), 64, 17) * 1e4).toFixed(8)}e-4 with false`],
    ["yarn's pair 17, truncated", `${(frequency(yarn(true), 64, 17) * 1e4).toFixed(8)}e-4 with true`],
    ["yarn's magnitude", (0.1 * Math.log(4) + 1).toFixed(9)],
    ["the base at 4096", `${dynamic(4096)} at 4096`],
    ["the base at 8192", `${dynamic(8192)} at 8192`],
    ["HunYuan's theta", (1e4 * 1000 ** (128 / 126)).toLocaleString("en", { maximumFractionDigits: 1 })],
    [
      "the proportional frequency",
      frequency(
        { type: "rope", theta: 1e6, scaling: { ropeType: "proportional", partialRotaryFactor: 0.25 } },
        512,
        1,
      ).toFixed(9),
    ],
    ["2-D rotations by blocks", `\`frequencies: "restart"\` | ${axial({})}`],
    ["2-D rotations that share frequencies", `\`frequencies: "split"\` | ${axial({ frequencies: "split" })}`],
    ["alternating ones", `"split"\` | ${axial({ order: "alternating", frequencies: "split" })}`],
    ["columns first", `\`firstAxis: "x"\` | ${axial({ firstAxis: "x" })}`],
    [
      "normalized coordinates",
      axial({ theta: 100, coordinates: "normalized", gridHeight: 3, gridWidth: 4 }).replace("0.15708", "0.157080"),
    ],
    ["a section's first pair", frequency({ type: "rope", theta: 1e6, sections: [16, 24, 24] }, 128, 16).toFixed(7)],
    ["the ordinary one", frequency({ type: "rope", theta: 1e6, rotaryDim: 128 }, 512, 1).toFixed(9)],
  ])("%s", (_, text) => expect(plain.includes(text), text).toBe(true));

  it("buckets", () => {
    const t5 = { type: "t5", buckets: 32, maxDistance: 128 } as const;
    expect([...lab.buckets({ ...t5, bidirectional: true }, [-64, 64])]).toEqual([14, 30]);
    expect([...lab.buckets(t5, [-113, 1])]).toEqual([31, 0]);
    expect(page).toContain("distance j - i = -64 is bucket 14 and 64 is 30");
  });

  it("an example that is a case and names its convention", async () => {
    const [, json] = /^case = (\{.*\})$/m.exec(page)!;
    const description = JSON.parse(json!) as Record<string, unknown>;
    const positions = [0, 1, 2, 300, 4097];
    const input = { data: Float32Array.from({ length: 160 }, (_, index) => Math.sin(index * 1.7)), shape: [2, 5, 16] };
    const rotated = lab.rotate(input, { type: "rope", layout: "interleaved" }, { positions });
    const { message } = await lab.diagnose({
      case: description,
      tensors: {
        "input.x": input,
        "input.positions": { data: BigInt64Array.from(positions, BigInt), shape: [5] },
        "expected.x": rotated,
      },
    });
    expect(message).toContain("matches layout: interleaved");
  });
});
