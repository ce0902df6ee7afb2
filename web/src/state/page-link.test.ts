// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { pageDefaults, readPageLink, writePageLink, type PageTable } from "./page-link.js";

const table = {
  length: { key: "L", kind: "integer", minimum: 1, maximum: 4096, fallback: 64 },
  share: { key: "share", kind: "number", minimum: 0, maximum: 1, fallback: 0.5 },
  mask: { key: "mask", kind: "choice", choices: ["causal", "full"], fallback: "causal" },
  arcs: { key: "arcs", kind: "flag", fallback: true },
  text: { key: "text", kind: "text", longest: 20, fallback: "the cat" },
  schemes: { key: "e", kind: "schemes", most: 3, fallback: [{ type: "rope" }] },
} as const satisfies PageTable;

describe("the address of a page", () => {
  it("is empty at the defaults and carries differences alone", () => {
    expect(writePageLink(table, pageDefaults(table))).toBe("");
    const values = { ...pageDefaults(table), length: 128, arcs: false, text: "一只 & 猫" };
    const query = writePageLink(table, values);
    expect(query).toMatch(/^v=1&L=128&arcs=0&text=/);
    expect(readPageLink(table, query)).toEqual({ values, notices: [] });
  });

  it("brings schemes back, those too that the page has never heard of", () => {
    const schemes = [
      { type: "alibi", slopes: [0.5, 0.25] },
      { type: "new-2d", theta: 100, scaling: { factor: 2, kind: "a,b" } },
    ];
    const query = writePageLink(table, { ...pageDefaults(table), schemes });
    expect(readPageLink(table, query).values.schemes).toEqual(schemes);
  });

  it("says what it dropped", () => {
    const { values, notices } = readPageLink(table, "v=2&L=0&share=x&mask=none&e=a,b,c,d&text=&colour=red&arcs=yes");
    expect(values).toEqual({ ...pageDefaults(table), text: "" });
    expect(notices.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      "other-version 2",
      "unknown-key colour",
      "bad-value L",
      "bad-value share",
      "bad-value mask",
      "bad-value arcs",
      "bad-value e",
    ]);
  });
});
