// SPDX-License-Identifier: MIT
// Far keys at other distances as a change at test time: what it gives, and which schemes cannot have it.

import { describe, expect, it } from "vitest";
import { type AtTest, type Encoding, type Experiment, PosLabError } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();

const small: Experiment = {
  task: { type: "lookback", distance: 2 },
  model: { dim: 16, heads: 2, layers: 1, feedForward: 16 },
  training: { length: 8, batch: 4, steps: 20, warmup: 2, learningRate: 0.02 },
  test: { lengths: [8, 12, 32], windows: 8 },
};
type Distances = NonNullable<AtTest["distances"]>;

async function lossesUnder(encoding: Encoding, list: readonly Distances[]): Promise<(number | null)[][]> {
  const atTest = list.map((distances) => ({ of: 0, distances }));
  const { runs } = await lab.experiment({ ...small, encodings: [encoding], atTest });
  const [run] = runs;
  return [run!.byLength, ...run!.atTest.map(({ byLength }) => byLength)].map((lengths) =>
    lengths.map(({ loss }) => loss),
  );
}

describe("distances at test time", () => {
  it("change what is past the trained length, and nothing up to it when the group is left out", async () => {
    const [plain, needed, two, eight, clamped] = await lossesUnder({ type: "rope" }, [
      { policy: "grouped", window: 4 },
      { policy: "grouped", window: 4, group: 2 },
      { policy: "grouped", window: 4, group: 8 },
      { policy: "clamped", window: 4 },
    ]);
    expect(needed![0]).toBe(plain![0]);
    // floor(11 / 2) + 4 - 4 / 2 = 7, and floor(31 / 8) + 4 = 7: below L = 8.
    expect(needed![1]).toBe(two![1]);
    expect(needed![2]).toBe(eight![2]);
    for (const changed of [two!, eight!, clamped!]) changed.forEach((loss, n) => expect(loss).not.toBe(plain![n]));
  });

  it.each(["none", "sinusoidal", "learned", "cope", "forgetting"] as const)(
    "are refused for %s by name",
    async (type) => {
      const refused: unknown = await lossesUnder({ type }, [{ policy: "clamped", window: 4 }]).catch(
        (error: unknown) => error,
      );
      expect(refused).toBeInstanceOf(PosLabError);
      expect((refused as PosLabError).argument).toBe("atTest[0].distances");
      expect((refused as PosLabError).message).toContain(`"${type}"`);
    },
  );
});
