// SPDX-License-Identifier: MIT
// The parts of the set-up that can be tried without installing anything: apt sources rewritten for another suite,
// versions, the texts, stamps and the lock.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";

const scratch = mkdtempSync(join(tmpdir(), "poslab-toolchain-"));
vi.stubEnv("XDG_CACHE_HOME", scratch);
const { compareVersions } = await import("../../bindings/toolchain/commands.mjs");
const { plainPoems } = await import("../../bindings/toolchain/corpora.mjs");
const { changeLines, changeStanzas } = await import("../../bindings/toolchain/foreign-suite.mjs");
const { projectRoot } = await import("../../bindings/toolchain/locations.mjs");
const { adaptGlue } = await import("../../bindings/toolchain/glue.mjs");
const { withLock } = await import("../../bindings/toolchain/lock.mjs");
const { digestOfInputs } = await import("../../bindings/toolchain/stamps.mjs");

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("apt sources for another suite", () => {
  it("changes the suite of one-line sources and leaves out source packages and other suites", () => {
    const text = [
      "# a comment",
      "deb http://mirror.example/debian bookworm main",
      "deb [signed-by=/usr/share/keyrings/k.gpg arch=amd64] http://mirror.example/debian bookworm-updates main contrib",
      "deb-src http://mirror.example/debian bookworm main",
      "deb http://other.example/tools stable main",
    ].join("\n");
    expect(changeLines(text, "bookworm", "trixie")).toBe(
      "deb http://mirror.example/debian trixie main\n" +
        "deb [signed-by=/usr/share/keyrings/k.gpg arch=amd64] http://mirror.example/debian trixie-updates main contrib\n",
    );
  });

  it("changes the suites of deb822 stanzas and leaves out disabled and foreign ones", () => {
    const text = [
      "Types: deb deb-src\n# a comment\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\nComponents: main",
      "Types: deb\nURIs: http://mirror.example/security\nSuites: bookworm-security\nComponents: main",
      "Enabled: no\nTypes: deb\nURIs: http://mirror.example/more\nSuites: bookworm\nComponents: main",
      "Types: deb\nURIs: http://other.example/node\nSuites: nodistro\nComponents: main",
    ].join("\n\n");
    expect(changeStanzas(text, "bookworm", "trixie")).toBe(
      "Types: deb\nSuites: trixie trixie-updates\nURIs: http://mirror.example/debian\nComponents: main\n\n" +
        "Types: deb\nSuites: trixie-security\nURIs: http://mirror.example/security\nComponents: main\n",
    );
  });

  it("gives nothing when the suite is not there", () => {
    expect(changeLines("deb http://mirror.example/debian sid main", "bookworm", "trixie")).toBe("");
  });
});

it("compares versions by number, not by letter", () => {
  expect(compareVersions("3.1.6", "3.1.60")).toBeLessThan(0);
  expect(compareVersions("4.0", "3.1.60")).toBeGreaterThan(0);
  expect(compareVersions("3.25", "3.25.0")).toBe(0);
});

it("strips colours and separators from poems and keeps one empty line between them", () => {
  const poem = "\u001b[32m《静夜思》\u001b[m\n\u001b[33m作者：李白\u001b[m\n床前明月光\n%\n";
  expect(plainPoems(poem + poem)).toBe("《静夜思》\n作者：李白\n床前明月光\n\n《静夜思》\n作者：李白\n床前明月光");
});

it("gives another digest when a file's contents or name changes", () => {
  const folder = join(scratch, "inputs");
  mkdirSync(folder);
  writeFileSync(join(folder, "a"), "one");
  const inputs = [relative(projectRoot, folder)];
  const before = digestOfInputs(inputs);
  expect(digestOfInputs(inputs)).toBe(before);
  writeFileSync(join(folder, "a"), "two");
  expect(digestOfInputs(inputs)).not.toBe(before);
});

describe("the lock", () => {
  it("lets one in at a time", async () => {
    const order: string[] = [];
    const enter = (name: string) =>
      withLock("turns", async () => {
        order.push(`${name} in`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        order.push(`${name} out`);
      });
    await Promise.all([enter("first"), enter("second")]);
    expect(order).toEqual(["first in", "first out", "second in", "second out"]);
  });

  it("is taken over from a process that is gone, and freed after an error", async () => {
    const folder = join(scratch, "poslab/left.lock");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "owner"), "999999999\n");
    await expect(withLock("left", () => Promise.reject(new Error("inside")))).rejects.toThrow("inside");
    expect(existsSync(folder)).toBe(false);
  });
});

it("hides the glue's address of its module from bundlers, and stops when the glue has changed", () => {
  const glue = 'function find(){return new URL("poslab.wasm",import.meta.url).href}';
  expect(adaptGlue(glue, "poslab.js")).toBe('function find(){return "poslab.wasm"}');
  expect(() => adaptGlue("export default 1", "poslab.js")).toThrow(/poslab\.js.*0 times/);
});
