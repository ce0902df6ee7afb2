// SPDX-License-Identifier: MIT
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownText, prune, resolve, type Overrides, type Switch } from "./fields.js";
import { pack, readLink, writeLink } from "./link.js";
import { parseObject, writeObject } from "./objects.js";

const encoding = fc.oneof(
  fc.constantFrom({ type: "none" as const }, { type: "alibi" as const }, { type: "learned" as const }),
  fc.record({ type: fc.constant("rope" as const), theta: fc.integer({ min: 2, max: 1e6 }) }),
  fc.record({
    type: fc.constant("t5" as const),
    buckets: fc.integer({ min: 2, max: 64 }),
    maxDistance: fc.integer({ min: 2, max: 512 }),
  }),
  fc.record({
    type: fc.constant("alibi" as const),
    slopes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    type: fc.constant("sinusoidal" as const),
    label: fc
      .string({ minLength: 1, maxLength: 12 })
      .filter(
        (text) =>
          /\D/.test(text.trim()) &&
          text !== "true" &&
          text !== "false" &&
          !text.startsWith("[") &&
          Number.isNaN(Number(text)),
      ),
  }),
);
const settings = fc.record(
  {
    task: fc.constantFrom("text" as const, "lookback" as const, "needle" as const),
    length: fc.integer({ min: 8, max: 512 }),
    positions: fc.constantFrom("plain" as const, "randomized" as const, "shift" as const, "pose" as const),
    positionsMaximum: fc.nat(2 ** 20),
    positionsChunks: fc.integer({ min: 1, max: 64 }),
    sinks: fc.constantFrom("none" as const, "zero" as const, "learned" as const),
    dim: fc.integer({ min: 4, max: 512 }),
    learningRate: fc.double({ min: 1e-6, max: 1, noNaN: true }),
    firstSeed: fc.nat(2 ** 30),
    encodings: fc.array(encoding, { minLength: 1, maxLength: 6 }),
  },
  { requiredKeys: [] },
);

describe("a share link", () => {
  it("is empty for the defaults", () => {
    expect(writeLink({ overrides: {} }).query).toBe("");
  });

  it("is short and readable", () => {
    const { query } = writeLink({
      overrides: { length: 128, encodings: [{ type: "rope", theta: 500000 }, { type: "alibi" }] },
    });
    expect(query).toBe("v=1&L=128&e=rope~theta:500000,alibi");
  });

  it("brings back what was set, whatever it was", () => {
    fc.assert(
      fc.property(settings, (given) => {
        const overrides = prune(given as Overrides);
        const read = readLink(writeLink({ overrides }).query);
        expect(read.notices).toEqual([]);
        expect(read.overrides).toEqual(overrides);
      }),
    );
  });

  it("carries changes at test time by the number of their encoding", () => {
    const { encodings } = resolve({});
    const switches: Switch[] = [
      { of: encodings[4]!, shift: 100 },
      { of: encodings[3]!, position: { type: "rope", scaling: { ropeType: "yarn", factor: 8 } } },
      { of: encodings[3]!, distances: { policy: "grouped", window: 32, group: 4 } },
      { of: encodings[4]!, distances: { policy: "clamped", window: 63 } },
    ];
    const { query } = writeLink({ overrides: { switches } });
    expect(query).toBe(
      "v=1&t=4~shift:100,3~position.type:rope~position.scaling.ropeType:yarn~position.scaling.factor:8," +
        "3~distances.policy:grouped~distances.window:32~distances.group:4,4~distances.policy:clamped~distances.window:63",
    );
    expect(readLink(query).overrides).toEqual({ switches });
  });

  it("drops unknown keys with a notice and keeps the rest", () => {
    expect(readLink("v=1&L=32&colour=red")).toEqual({
      overrides: { length: 32 },
      notices: [{ kind: "unknown-key", key: "colour" }],
    });
  });

  it("puts bad values back to the default with a notice", () => {
    for (const query of [
      "L=NaN",
      "L=1e99",
      "L=",
      "task=win",
      "e=rope,sorcery",
      "e=rope~constructor.x:1",
      "t=9~window:4",
      "t=3~distances.policy:spread~distances.window:4",
      "t=3~distances.policy:clamped~distances.window:0",
      "pos=spiral",
      "posmax=-1",
      "sinks=two",
      "unit=words",
      "rate=-1",
    ]) {
      const { overrides, notices } = readLink(`v=1&${query}`);
      expect(overrides, query).toEqual({});
      expect(
        notices.map((notice) => notice.kind),
        query,
      ).toEqual(["bad-value"]);
    }
  });

  it("puts bad fields of an encoding back to their defaults, each with a notice", () => {
    const { overrides, notices } = readLink(
      "v=1&e=rope~theta:0~layout:interleaved,rope~theta:many~label:mine,alibi~slopes:steep,t5~buckets:1e9~maxDistance:64,xpos~layout:x",
    );
    expect(overrides.encodings).toEqual([
      { type: "rope", layout: "interleaved" },
      { type: "rope", label: "mine" },
      { type: "alibi" },
      { type: "t5", maxDistance: 64 },
      { type: "xpos" },
    ]);
    expect(notices).toEqual(
      ["rope.theta", "rope.theta", "alibi.slopes", "t5.buckets", "xpos.layout"].map((key) => ({
        kind: "bad-value",
        key,
      })),
    );
  });

  it("says when it comes from another version", () => {
    expect(readLink("v=7&L=32").notices).toEqual([{ kind: "other-version", key: "7" }]);
  });

  it("deflates an own text behind one key", () => {
    const text = "回看 the whale ".repeat(200);
    const { query, notices } = writeLink({ overrides: { corpus: ownText, length: 16 }, text });
    expect(query).toMatch(/^v=1&z=[\w-]+$/);
    expect(query.length).toBeLessThan(400);
    expect(notices).toEqual([]);
    expect(readLink(query)).toEqual({ overrides: { corpus: ownText, length: 16 }, notices: [], text });
  });

  it("leaves out a text that is too long and says so", () => {
    let state = 1;
    const text = Array.from({ length: 40_000 }, () =>
      String.fromCharCode(33 + ((state = (state * 48271) % 2147483647) % 90)),
    ).join("");
    const { query, notices } = writeLink({ overrides: { corpus: ownText }, text });
    expect(notices).toEqual([{ kind: "text-left-out", key: "text" }]);
    expect(readLink(query).overrides).toEqual({ corpus: ownText });
  });

  it("survives any text in the address", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `v=1&z=${text}`),
          fc.string().map((text) => `v=1&e=${text}`),
        ),
        (query) => {
          const { overrides } = readLink(query);
          expect(() => resolve(overrides)).not.toThrow();
        },
      ),
      { numRuns: 300 },
    );
  });

  it("does not even try to pack megabytes: the text is left out, and said to be", () => {
    const { query, notices } = writeLink({ overrides: { corpus: ownText, length: 20 }, text: "a".repeat(1 << 20) });
    expect(notices).toEqual([{ kind: "text-left-out", key: "text" }]);
    expect(readLink(query).overrides.length).toBe(20);
  });

  it("refuses a deflated text that would grow without end", () => {
    const query = pack({ text: "a".repeat(3 << 20) });
    expect(readLink(query).notices.map((notice) => notice.kind)).toEqual(["unreadable"]);
  });
});

describe("a scheme as text", () => {
  it("keeps nested names, lists and escaped characters", () => {
    const rest = { scaling: { ropeType: "yarn", factor: 4 }, slopes: [0.5, 0.25], label: "a~b,c:d&e" };
    expect(parseObject(writeObject("rope", rest))).toEqual({ head: "rope", rest });
  });

  it("refuses names that could reach a prototype", () => {
    expect(parseObject("rope~__proto__.x:1")).toBeNull();
    expect(parseObject("rope~a.constructor.x:1")).toBeNull();
  });
});
