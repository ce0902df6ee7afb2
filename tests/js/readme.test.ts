// SPDX-License-Identifier: MIT
// The examples of the README do what the README says: the JavaScript and the command line run against the built package
// as they stand there. (The CMake example is built by the test of C++ users.)

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "./shared.js";

const readme = readFileSync(join(projectRoot, "README.md"), "utf8");

/** The code block of `language` that contains `word`. */
function example(language: string, word: string): string {
  const blocks = [...readme.matchAll(new RegExp("```" + language + "\\n([^]*?)```", "g"))].map((match) => match[1]!);
  const block = blocks.find((text) => text.includes(word));
  if (block === undefined) throw new Error(`the README has no ${language} example with ${word}`);
  return block;
}

describe("the README", () => {
  it("has a JavaScript example that prints the frequency of pair 1 and the rotated lanes", () => {
    // Inside the project "poslab" is the package itself, by its own exports.
    const folder = join(projectRoot, "build/readme");
    mkdirSync(folder, { recursive: true });
    const script = join(folder, "example.mjs");
    writeFileSync(script, example("js", "loadPosLab"));
    const printed = execFileSync(process.execPath, [script], { encoding: "utf8" });
    const numbers = printed.match(/-?\d+\.\d+/g)!.map(Number);
    expect(numbers[0]).toBe(0.01);
    // Half layout, x = [1, 2, 3, 4] at position 1 (worked by hand: pairs (1, 3) by 1 rad and (2, 4) by 0.01 rad).
    const expected = [-1.984111, 1.959901, 2.462378, 4.0198];
    expected.forEach((value, lane) => expect(numbers[1 + lane]).toBeCloseTo(value, 6));
  });

  it("has a command-line example that trains, measures and writes both files", () => {
    const folder = mkdtempSync(join(tmpdir(), "poslab-readme-"));
    try {
      const [program, ...words] = example("sh", "poslab extrapolate").trim().split(/\s+/);
      expect(program).toBe("poslab");
      const command = join(projectRoot, "dist/cli/main.js");
      execFileSync(process.execPath, [command, ...words], { cwd: folder, encoding: "utf8", stdio: "pipe" });
      const result = JSON.parse(readFileSync(join(folder, "result.json"), "utf8")) as {
        runs: unknown[];
        verdict: string;
      };
      expect(result.runs).toHaveLength(2);
      expect(result.verdict).not.toBe("");
      expect(readFileSync(join(folder, "result.svg"), "utf8")).toMatch(/^<svg[^]*<\/svg>\s*$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 300_000);

  it("links to files that are there", () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) expect(existsSync(join(projectRoot, link)), link).toBe(true);
  });
});
