// SPDX-License-Identifier: MIT
// `poslab check`: cases pass and fail one by one, files that are no cases do not end the run, and the status says which it was.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readSafetensors, writeSafetensors } from "../../bindings/js/safetensors.js";
import { poslab, temporaryFolder } from "./support.js";

const folder = temporaryFolder();
const path = (name: string): string => join(folder, name);

interface CaseLine {
  name: string;
  op: string;
  passed: boolean;
  maxAbsolute: number | null;
  maxRelative: number | null;
  message: string;
}

function lines(stdout: string): CaseLine[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as CaseLine);
}

/** good.safetensors: a bias that PosLab computed itself; bad.safetensors: the same with one number changed. */
beforeAll(async () => {
  expect(
    (await poslab(["bias", "--heads", "2", "--query-length", "4", "--out", path("good.safetensors")])).status,
  ).toBe(0);
  const { tensors, metadata } = readSafetensors(readFileSync(path("good.safetensors")));
  const bias = tensors.get("expected.bias")!;
  bias.data[5] = 0.25;
  writeFileSync(
    path("bad.safetensors"),
    writeSafetensors([["expected.bias", { ...bias, dtype: "F32" }]], Object.fromEntries(metadata)),
  );
  writeFileSync(path("plain.safetensors"), writeSafetensors([["x", { data: new Float32Array(2), shape: [2] }]]));
  writeFileSync(path("broken.safetensors"), "what is this");
});

describe("check", () => {
  test("a good case passes with status 0", async () => {
    const { status, stdout, stderr } = await poslab(["check", path("good.safetensors")]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const [line, count] = stdout.trimEnd().split("\n");
    expect(line).toMatch(/^pass +bias-alibi .*absolute 0.*relative 0/);
    expect(count).toBe("1 passed, 0 failed");
  });

  test("a wrong case fails with status 1 and says by how much", async () => {
    const { status, stdout } = await poslab(["check", path("good.safetensors"), path("bad.safetensors")]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^FAIL +bias-alibi/im);
    expect(stdout).toMatch(/\n1 passed, 1 failed\n$/);
  });

  test("a file that is no case does not end the run, and makes the status 2", async () => {
    const { status, stdout } = await poslab([
      "check",
      path("broken.safetensors"),
      path("plain.safetensors"),
      path("good.safetensors"),
      path("bad.safetensors"),
    ]);
    expect(status).toBe(2);
    expect(stdout).toMatch(/broken\.safetensors/);
    expect(stdout).toMatch(/^pass +bias-alibi/m);
    expect(stdout).toMatch(/\n1 passed, 3 failed\n$/);
  });

  test("a file that is not there makes the status 2 as well", async () => {
    const { status, stdout } = await poslab(["check", path("nowhere.safetensors"), path("good.safetensors")]);
    expect(status).toBe(2);
    expect(stdout).toMatch(/nowhere\.safetensors.*there is no such file/);
    expect(stdout).toMatch(/\n1 passed, 1 failed\n$/);
  });

  test("of a folder only the safetensors files are taken, in order", async () => {
    const cases = path("cases");
    mkdirSync(cases);
    writeFileSync(join(cases, "README.md"), "no case");
    copyFileSync(path("good.safetensors"), join(cases, "b.safetensors"));
    copyFileSync(path("bad.safetensors"), join(cases, "a.safetensors"));
    const { status, stdout } = await poslab(["check", cases, "--json"]);
    expect(status).toBe(1);
    expect(lines(stdout).map(({ passed }) => passed)).toEqual([false, true]);
  });

  test("an empty folder is said to be empty, and is no success", async () => {
    const empty = path("empty");
    mkdirSync(empty);
    const { status, stdout, stderr } = await poslab(["check", empty]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "0 passed, 0 failed\n" });
    expect(stderr).toMatch(/there is no \*\.safetensors in .*empty/);
  });

  test("a case without a name is called by its file, and what nothing reads is told when it fails", async () => {
    const x = { data: new Float32Array([1, 2]), shape: [1, 1, 2] };
    const write = (name: string, description: object, expected: number): void =>
      writeFileSync(
        path(name),
        writeSafetensors(
          [
            ["input.x", x],
            ["input.positions", { data: new BigInt64Array([0n]), shape: [1] }],
            ["expected.x", { data: new Float32Array([expected, 2]), shape: [1, 1, 2] }],
            ["y", x],
          ],
          { case: JSON.stringify({ op: "rotate", position: { type: "rope" }, ...description }) },
        ),
      );
    write("unnamed.safetensors", {}, 1);
    write("unread.safetensors", { causal: true }, 3);
    write("no-op.safetensors", { op: undefined }, 1);
    const paths = ["unnamed", "unread", "no-op"].map((name) => path(`${name}.safetensors`));
    const { status, stdout } = await poslab(["check", ...paths]);
    expect(status).toBe(2);
    expect(stdout).toMatch(/^pass +.*unnamed\.safetensors/m);
    expect(stdout).toMatch(/^fail +.*unread\.safetensors.*; not read: causal, y$/m);
    expect(stdout).toMatch(/no-op\.safetensors .*it has no op; known are table, /);
  });

  test("--json prints one object a case and nothing else", async () => {
    const { status, stdout, stderr } = await poslab([
      "check",
      "--json",
      path("good.safetensors"),
      path("bad.safetensors"),
      path("broken.safetensors"),
    ]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: "" });
    const results = lines(stdout);
    expect(results).toHaveLength(3);
    for (const result of results)
      expect(Object.keys(result).sort()).toEqual(["maxAbsolute", "maxRelative", "message", "name", "op", "passed"]);
    expect(results[0]).toMatchObject({ name: "bias-alibi", op: "bias", passed: true, maxAbsolute: 0, maxRelative: 0 });
    expect(results[1]).toMatchObject({ passed: false });
    expect(results[1]!.maxAbsolute).toBeGreaterThan(0.1);
    expect(results[2]).toMatchObject({ passed: false, maxAbsolute: null, maxRelative: null });
    expect(results[2]!.message).not.toBe("");
  });

  test("what attention and rotate save is a case that passes", async () => {
    const attention = path("attention.safetensors"),
      rotated = path("rotated.safetensors"),
      table = path("table.safetensors");
    await poslab([
      "attention",
      "--position",
      "shaw",
      "--max-distance",
      "4",
      "--causal",
      "--weights",
      "--scores",
      "--out",
      attention,
    ]);
    await poslab(["rotate", "--position", "rope", "--scaling", "linear", "--factor", "2", "--out", rotated]);
    await poslab(["table", "--position", "learned", "--offset", "2", "--out", table]);
    const { status, stdout } = await poslab(["check", attention, rotated, table]);
    expect(stdout).toMatch(/\n3 passed, 0 failed\n$/);
    expect(status).toBe(0);
  });
});
