// SPDX-License-Identifier: MIT
/// <reference types="node" />
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { loadPosLab } from "poslab";
import type { SchemeObject } from "../../state/page-link.js";
import { fingerprint } from "../data/fingerprint.js";
import { lab, schemeTypes } from "../data/testing.js";
import { schemePage } from "../schemes/scheme-page.js";
import { cppSnippet, javascriptSnippet, pytorchSnippet } from "./snippets.js";

// Thousands of calls: quick on a free machine, slow on a shared one.
vi.setConfig({ testTimeout: 60_000 });

/** Runs a snippet as it stands, its import aside, and gives the line that it prints. */
async function printed(code: string): Promise<string> {
  const body = code.replace('import { loadPosLab } from "poslab";', "");
  expect(body).not.toBe(code);
  const lines: string[] = [];
  const console = { log: (line: string) => lines.push(line) };
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  await (new AsyncFunction("loadPosLab", "console", body)(loadPosLab, console) as Promise<void>);
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

async function printOf(scheme: SchemeObject) {
  return fingerprint(await lab(), scheme);
}
const asPrinted = (numbers: Float32Array) => Array.from(numbers, (value) => value.toFixed(6)).join(" ");

describe("the JavaScript snippet", () => {
  it("of every scheme prints the fingerprint that the page shows", async () => {
    for (const type of await schemeTypes()) {
      const print = await printOf({ type });
      expect(
        print.numbers.some((value) => value !== 0),
        type,
      ).toBe(true);
      expect(await printed(javascriptSnippet({ type }, print)), type).toBe(asPrinted(print.numbers));
    }
  });

  it("takes over what is set on the page", async () => {
    const scheme = { type: "rope", theta: 500, scaling: { ropeType: "linear", factor: 4 } };
    const print = await printOf(scheme);
    expect(await printed(javascriptSnippet(scheme, print))).toBe(asPrinted(print.numbers));
    expect(asPrinted(print.numbers)).not.toBe(asPrinted((await printOf({ type: "rope" })).numbers));
  });
});

describe("the other snippets", () => {
  it("carry the fields that are set on the page", async () => {
    expect(pytorchSnippet({ type: "rope", theta: 500, layout: "interleaved" })).toMatch(
      /^theta = 500$[^]*^layout = "interleaved"$/m,
    );
    expect(pytorchSnippet({ type: "t5", bidirectional: true })).toMatch(/^bidirectional = True$/m);
    expect(pytorchSnippet({ type: "no-such-scheme" })).toBeNull();
    // It would print other numbers.
    expect(pytorchSnippet({ type: "rope", scaling: { ropeType: "linear", factor: 4 } })).toBeNull();
    const scheme = { type: "rope", theta: 500, scaling: { ropeType: "linear", factor: 4 } };
    expect(cppSnippet(scheme, await printOf(scheme))).toContain(
      '{.name = "scaling.ropeType", .kind = poslab::Field::Kind::kText, .text = "linear"}',
    );
  });

  it("have a script and a page of text of the same name, for every file beside this one", () => {
    const types = readdirSync(new URL("../schemes", import.meta.url))
      .filter((name) => name !== "scheme-page.ts")
      .map((name) => name.replace(".ts", ""));
    expect(types.length).toBeGreaterThanOrEqual(20);
    for (const type of types) {
      expect(schemePage(type)?.formula({ type }), type).toBeTruthy();
      expect(existsSync(new URL(`../pytorch/${type}.py`, import.meta.url)), type).toBe(true);
    }
    expect(schemePage("no-such-scheme")).toBeNull();
  });
});

describe("the fingerprints that the reference script compares PyTorch with", () => {
  // `npx vitest run --project page snippets -u` writes the file anew.
  it("are those of the core", async () => {
    const scripts = readdirSync(new URL("../pytorch", import.meta.url)).map((name) => name.replace(".py", ""));
    const prints: Record<string, string> = {};
    for (const type of scripts.sort()) prints[type] = asPrinted((await printOf({ type })).numbers);
    const file = fileURLToPath(new URL("../../../../tests/reference/fingerprints.json", import.meta.url));
    await expect(`${JSON.stringify(prints, null, 2)}\n`).toMatchFileSnapshot(file);
  });
});
