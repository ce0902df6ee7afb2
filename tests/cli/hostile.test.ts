// SPDX-License-Identifier: MIT
// Hostile files, as a process of its own sees them: an answer within two seconds, and a process that grows by no more than
// twice the file (and what its collector leaves lying about, which is measured with good files of the same size).

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { sharedFolder } from "../js/shared.js";
import { projectRoot, temporaryFolder } from "./support.js";

interface Opened {
  file: string;
  milliseconds: number;
  grown: number;
  model: string;
  config: string;
}
const hostile = sharedFolder("data/hostile");
const folder = temporaryFolder();
const warm = join(projectRoot, "tests/models/mistral/model.safetensors");
const script = join(projectRoot, "tests/cli/open-hostile.mjs");
/** of a process that reads anything at all, in bytes */
const slack = 24 * 2 ** 20;

function open(files: readonly string[]): Opened[] {
  const words = ["--expose-gc", script, warm, ...files];
  const lines = execFileSync(process.execPath, words, { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Opened);
}

function check({ file, milliseconds, grown, model, config }: Opened): void {
  const { size } = statSync(file);
  expect(`${model} ${config}`, file).not.toMatch(/not a PosLabError/);
  expect(milliseconds, file).toBeLessThan(2000);
  expect(grown, file).toBeLessThan(2 * size + slack);
}

describe.skipIf(!hostile)("the collection of hostile files", () => {
  test("is answered file by file", () => {
    const files = readdirSync(hostile!).filter((name) => name !== "manifest.json");
    const opened = open(files.map((name) => join(hostile!, name)));
    expect(opened).toHaveLength(files.length);
    for (const one of opened) check(one);
    // All of them together are no more than one.
    expect(opened.reduce((sum, { grown }) => sum + grown, 0)).toBeLessThan(2 * slack);
  });
});

describe("large files", () => {
  const size = 48 * 2 ** 20;
  const put = (name: string, begin: Uint8Array): string => {
    const bytes = new Uint8Array(size);
    bytes.set(begin);
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const small = (name: string): Uint8Array => readFileSync(join(projectRoot, "tests/fuzz", name));
  const header = (...numbers: readonly [bits: 32 | 64, value: number][]): Uint8Array =>
    Uint8Array.from([
      ...new TextEncoder().encode("GGUF"),
      ...numbers.flatMap(([bits, value]) => [
        ...new Uint8Array(bits === 32 ? Uint32Array.of(value).buffer : BigUint64Array.of(BigInt(value)).buffer),
      ]),
    ]);
  const oneKey: [32 | 64, number][] = [
    [32, 3],
    [64, 0],
    [64, 1],
    [64, 1],
  ];
  let opened: Opened[];

  beforeAll(() => {
    opened = open([
      put("trailing.safetensors", small("small.safetensors")),
      put("trailing.gguf", small("small.gguf")),
      put("trailing.bin", small("small.bin")),
      put("zeros.safetensors", new Uint8Array()),
      put("zeros.bin", new Uint8Array()),
      // A header of 48 MiB of nothing, and one that is an unending text.
      put("spaces.safetensors", writeSafetensorsLength(size - 8)),
      // As many tensors, and as many keys, as the file has room for; a list of empty texts; a list of bytes.
      put("tensors.gguf", header([32, 3], [64, 260_000], [64, 0])),
      put("keys.gguf", header([32, 3], [64, 0], [64, 65_000])),
      put("texts.gguf", Uint8Array.from([...header(...oneKey), 0x78, ...word(9), ...word(8), ...long(6_000_000)])),
      put("bytes.gguf", Uint8Array.from([...header(...oneKey), 0x78, ...word(9), ...word(0), ...long(size - 100)])),
    ]);
  });

  const word = (value: number): number[] => [...new Uint8Array(Uint32Array.of(value).buffer)];
  const long = (value: number): number[] => [...new Uint8Array(BigUint64Array.of(BigInt(value)).buffer)];
  const writeSafetensorsLength = (length: number): Uint8Array =>
    Uint8Array.from([...long(length), ...new TextEncoder().encode('{"a":"')]);

  test("are answered as soon, and not held twice", () => {
    expect(opened).toHaveLength(10);
    for (const one of opened) {
      check(one);
      expect(one.model, one.file).not.toBe("accepted");
    }
  });
});
