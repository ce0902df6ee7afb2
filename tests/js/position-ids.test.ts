// SPDX-License-Identifier: MIT
// Position ids by policy: the published examples, what each must hold for any size and seed, and what is refused.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PositionIdOptions } from "../../bindings/js/index.js";
import { failure, sharedLab } from "./lab.js";

const lab = await sharedLab();

describe("position ids", () => {
  it("count plainly and restart for packed documents", () => {
    expect(lab.positions("plain", { length: 3 })).toEqual([0, 1, 2]);
    expect(lab.positions("plain", { length: 3, offset: 7 })).toEqual([7, 8, 9]);
    expect(lab.positions("plain", { length: 0 })).toEqual([]);
    expect(lab.positions("packed", { lengths: [3, 0, 2] })).toEqual([0, 1, 2, 0, 1]);
    expect(lab.positions("packed", { lengths: [1, 2], offset: 2 })).toEqual([2, 2, 3]);
  });

  // field-reports row 13 and the four rules that models have
  it.each<[string, PositionIdOptions["mask"], number[]]>([
    ["RoBERTa, padding id 1", { mask: [1, 1, 1, 0, 0], offset: 2, padding: 1 }, [2, 3, 4, 1, 1]],
    ["OPT", { mask: [0, 0, 1, 1, 1], offset: 2, padding: 1 }, [1, 1, 2, 3, 4]],
    ["GPT-2's generate", { mask: [0, 0, 1, 1, 1], padding: 1 }, [1, 1, 0, 1, 2]],
    ["BLOOM", { mask: [0, 0, 1, 1, 1] }, [0, 0, 0, 1, 2]],
    ["padding in between", { mask: [1, 0, 1, 0, 1] }, [0, 0, 1, 0, 2]],
  ])("from a mask: %s", (_, options, expected) => expect(lab.positions("mask", options)).toEqual(expected));

  const whole = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });

  it("randomized are sorted, below the maximum, none twice, and the same for a seed", () => {
    fc.assert(
      fc.property(whole(0, 60), whole(0, 300), whole(0, 1e6), (length, more, seed) => {
        const options = { length, maximum: length + more, seed };
        const ids = lab.positions("randomized", options);
        expect(ids).toHaveLength(length);
        ids.forEach((id, index) => expect(id).toBeGreaterThan(index === 0 ? -1 : ids[index - 1]!));
        if (length > 0) expect(ids.at(-1)).toBeLessThan(options.maximum);
        expect(lab.positions("randomized", options)).toEqual(ids);
      }),
    );
  });

  it("randomized take each id equally often", () => {
    const hits = new Array<number>(10).fill(0);
    for (let seed = 0; seed < 2000; seed += 1)
      for (const id of lab.positions("randomized", { length: 3, maximum: 10, seed })) hits[id]! += 1;
    // 2000 draws with chance 0.3: 600, standard deviation 20.5; five of those either way
    for (const count of hits) expect(Math.abs(count - 600)).toBeLessThan(103);
  });

  it("shifted are plain but for one number", () => {
    const shifts = new Set<number>();
    for (let seed = 0; seed < 300; seed += 1) {
      const ids = lab.positions("shift", { length: 5, maximum: 9, seed });
      expect(ids.map((id) => id - ids[0]!)).toEqual([0, 1, 2, 3, 4]);
      shifts.add(ids[0]!);
    }
    expect([...shifts].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("of PoSE begin at 0, run on inside chunks, skip between them and stay below the target", () => {
    fc.assert(
      fc.property(whole(1, 60), whole(0, 500), whole(1, 5), whole(0, 1e6), (length, more, chunks, seed) => {
        fc.pre(chunks <= length);
        const ids = lab.positions("pose", { length, target: length + more, chunks, seed });
        expect(ids[0]).toBe(0);
        expect(ids.at(-1)).toBeLessThan(length + more);
        const steps = ids.slice(1).map((id, index) => id - ids[index]!);
        expect(Math.min(1, ...steps)).toBe(1);
        expect(steps.filter((step) => step > 1).length).toBeLessThan(chunks);
      }),
    );
    expect(lab.positions("pose", { length: 8, target: 8, seed: 1 })).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("refuse what makes no ids, by name", () => {
    const argument = (call: () => unknown): string | undefined => failure(call).argument;
    expect(argument(() => lab.positions("plain", { length: -1 }))).toBe("length");
    expect(argument(() => lab.positions("plain", { length: 1.5 }))).toBe("length");
    expect(argument(() => lab.positions("plain", { length: 2 ** 40 }))).toBe("length");
    expect(argument(() => lab.positions("randomized", { length: 3, maximum: 2, seed: 1 }))).toBe("maximum");
    expect(argument(() => lab.positions("pose", { length: 3, target: 2, seed: 1 }))).toBe("target");
    expect(argument(() => lab.positions("pose", { length: 3, target: 9, chunks: 4, seed: 1 }))).toBe("chunks");
    expect(argument(() => lab.positions("shift", { length: 3, maximum: 9, seed: NaN }))).toBe("seed");
    expect(argument(() => lab.positions("packed", { lengths: [1, -2] }))).toBe("lengths[1]");
    expect(argument(() => lab.positions("mask", { mask: 7 as never }))).toBe("mask");
    expect(argument(() => lab.positions("spiral" as "plain", { length: 1 }))).toBe("policy");
    expect(argument(() => lab.positions("plain", { length: 1, ofset: 1 } as never))).toBe("ofset");
  });
});

it("drawn ids are pinned: a seed that someone has written down goes on to mean the same", () => {
  expect(lab.positions("randomized", { length: 6, maximum: 1000, seed: 7 })).toEqual([341, 372, 682, 724, 731, 850]);
  expect(lab.positions("shift", { length: 1, maximum: 100, seed: 7 })).toEqual([65]);
  expect(lab.positions("pose", { length: 8, target: 500, chunks: 3, seed: 7 })).toEqual([
    0, 1, 2, 449, 450, 451, 492, 493,
  ]);
});
