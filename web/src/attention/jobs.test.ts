// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import type { Encoding } from "../engine/poslab.js";
import { Jobs, type Wanted } from "./jobs.js";

const encodings: Encoding[] = [{ type: "rope" }, { type: "alibi" }, { type: "t5" }];
const wanted = (more: Partial<Wanted> = {}, offset = 0): Wanted => ({
  scene: { kind: "random", symbols: [], seed: 1, heads: 4 },
  encodings,
  sight: { causal: true, window: null },
  request: { offset, heads: [0], show: "weights", side: 512 },
  query: null,
  ...more,
});
const facts = (length: number) => ({ symbols: new Array<string>(length).fill("a"), heads: 4, layers: 1 });
const typesOf = (list: readonly Encoding[] | undefined) => list?.map(({ type }) => type);

describe("jobs", () => {
  it("ask for everything at once where that is quick, and for nothing twice", () => {
    const jobs = new Jobs();
    expect(typesOf(jobs.next(wanted(), facts(256))?.panels)).toEqual(["rope", "alibi", "t5"]);
    expect(jobs.next(wanted(), facts(256))).toBeNull();
    const rows = jobs.next(wanted({ query: 3 }), facts(256));
    expect([typesOf(rows?.panels), typesOf(rows?.rows), rows?.query]).toEqual([[], ["rope", "alibi", "t5"], 3]);
    expect(jobs.next(wanted({ query: 900 }), facts(256))).toBeNull();
    jobs.clear();
    expect(jobs.next(wanted(), facts(256))).not.toBeNull();
  });

  it("take long texts one panel at a time, in turn, while the wish keeps changing", () => {
    const jobs = new Jobs();
    const drawn = [1, 2, 3, 4, 5, 6].map((offset) => typesOf(jobs.next(wanted({}, offset), facts(2048))?.panels)![0]);
    expect(drawn).toEqual(["rope", "alibi", "t5", "rope", "alibi", "t5"]);
    // At rest the others follow.
    expect(typesOf(jobs.next(wanted({}, 6), facts(2048))?.panels)).toEqual(["rope"]);
    expect(typesOf(jobs.next(wanted({}, 6), facts(2048))?.panels)).toEqual(["alibi"]);
    expect(jobs.next(wanted({}, 6), facts(2048))).toBeNull();
  });
});
