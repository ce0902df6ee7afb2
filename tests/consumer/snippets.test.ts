// SPDX-License-Identifier: MIT
/// <reference types="node" />
// The C++ programs of the Encodings page, as the page shows them: compiled against the library that the kind `consumer`
// has installed, run, and their numbers compared with those beside them on the page.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { loadPosLab } from "poslab";
import { fingerprint } from "../../web/src/encodings/data/fingerprint.js";
import { cppSnippet } from "../../web/src/encodings/use/snippets.js";
import type { SchemeObject } from "../../web/src/state/page-link.js";

const run = promisify(execFile);
const place = (path: string) => fileURLToPath(new URL(`../../build/consumer/${path}`, import.meta.url));
const install = place("install");
const lab = await loadPosLab();

/** With fields of every kind: numbers, words, lists, nested objects. */
const withFields: Record<string, SchemeObject> = {
  "sinusoidal-concatenated": { type: "sinusoidal", layout: "concatenated", base: 500 },
  "rope-linear": { type: "rope", theta: 500, layout: "interleaved", scaling: { ropeType: "linear", factor: 4 } },
  "alibi-given-slopes": { type: "alibi", slopes: [0.5, 0.125] },
  "t5-both-ways": { type: "t5", buckets: 8, bidirectional: true },
};
const programs = new Map<string, SchemeObject>([
  ...lab.info.schemes.map(({ type }): [string, SchemeObject] => [type, { type }]),
  ...Object.entries(withFields),
]);

/** A unit of the last printed digit: printf and JavaScript round the middle between two apart. */
const kLastDigit = 1.001e-6;

describe.skipIf(!existsSync(install))("the C++ program (the library is installed by npm test -- consumer)", () => {
  beforeAll(async () => {
    const [sources, build] = [place("snippets"), place("snippets-build")];
    for (const folder of [sources, build]) rmSync(folder, { recursive: true, force: true });
    mkdirSync(sources, { recursive: true });
    for (const [name, scheme] of programs)
      writeFileSync(`${sources}/${name}.cpp`, cppSnippet(scheme, fingerprint(lab, scheme)));
    const project = fileURLToPath(new URL(".", import.meta.url));
    const definitions = {
      CMAKE_PREFIX_PATH: install,
      POSLAB_CONSUMER_PROGRAMS: sources,
      CMAKE_CXX_COMPILER_LAUNCHER: "ccache",
    };
    const settings = Object.entries(definitions).map(([name, value]) => `-D${name}=${value}`);
    await run("cmake", ["-S", project, "-B", build, "-G", "Ninja", ...settings]);
    await run("cmake", ["--build", build, "--parallel", "2"], { maxBuffer: 1 << 26 }).catch((error: unknown) => {
      throw new Error((error as { stdout: string }).stdout);
    });
  });

  it.each([...programs])("of %s prints the numbers of the page", async (name, scheme) => {
    const { stdout } = await run(`${place("snippets-build")}/${name}`);
    const printed = stdout.trim().split(" ").map(Number);
    const { numbers } = fingerprint(lab, scheme);
    expect(printed).toHaveLength(numbers.length);
    printed.forEach((number, index) => expect(Math.abs(number - numbers[index]!)).toBeLessThan(kLastDigit));
  });
});
