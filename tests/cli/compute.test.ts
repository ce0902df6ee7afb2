// SPDX-License-Identifier: MIT
// table, bias, rotate and attention: what is printed and saved, in every format, is what the API computes.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { csvParseRows } from "d3-dsv";
import { beforeAll, describe, expect, test } from "vitest";
import { loadPosLab, type PosLab } from "poslab";
import { readSafetensors, writeSafetensors } from "../../bindings/js/safetensors.js";
import type { Tensor } from "../../bindings/js/types.js";
import { poslab, temporaryFolder } from "./support.js";

const folder = temporaryFolder();
let lab: PosLab;
beforeAll(async () => {
  lab = await loadPosLab();
});

interface SavedTensor {
  shape: number[];
  data: (number | null)[];
}

function fromJson({ shape, data }: SavedTensor): Tensor {
  return { shape, data: Float32Array.from(data, (value) => value ?? -Infinity) };
}

/** JSON and CSV write -0 as 0. */
function withoutMinusZero({ shape, data }: Tensor): Tensor {
  return { shape, data: data.map((value) => value + 0) };
}

function fromFile(path: string, name: string): Tensor {
  const { shape, data } = readSafetensors(readFileSync(path)).tensors.get(name)!;
  expect(data).toBeInstanceOf(Float32Array);
  return { shape, data: data as Float32Array };
}

/** The numbers of a CSV file, without its index columns. */
function fromCsv(path: string, indices: number): Float32Array {
  const rows = csvParseRows(readFileSync(path, "utf8")).slice(1);
  return Float32Array.from(
    rows.flatMap((row) => row.slice(indices)),
    (cell) => Number(cell),
  );
}

/** Runs a command with all formats and returns the paths by ending. */
async function saved(
  words: string[],
  name: string,
): Promise<{ json: string; csv: string; safetensors: string; svg: string }> {
  const path = (ending: string): string => join(folder, `${name}.${ending}`);
  const paths = { json: path("json"), csv: path("csv"), safetensors: path("safetensors"), svg: path("svg") };
  const { status, stdout, stderr } = await poslab([
    ...words,
    ...Object.values(paths).flatMap((file) => ["--out", file]),
  ]);
  expect({ status, stderr: stderr.replace(/^random numbers.*\n/, "") }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`written to ${paths.json}, ${paths.csv}, ${paths.safetensors}, ${paths.svg}`);
  return paths;
}

describe("table", () => {
  test("is the API's table in every format", async () => {
    const expected = lab.table({ type: "sinusoidal", layout: "concatenated" }, { length: 20, dim: 6, start: 5 });
    const paths = await saved(
      ["table", "--position", "sinusoidal", "--layout", "concatenated", "--length", "20", "--dim", "6", "--start", "5"],
      "table",
    );
    const json = JSON.parse(readFileSync(paths.json, "utf8")) as {
      op: string;
      position: object;
      length: number;
      table: SavedTensor;
    };
    expect(json).toMatchObject({ op: "table", position: { type: "sinusoidal", layout: "concatenated" }, length: 20 });
    expect(fromJson(json.table)).toEqual(expected);
    expect(fromFile(paths.safetensors, "expected.table")).toEqual(expected);
    expect(fromCsv(paths.csv, 1)).toEqual(expected.data);
    expect(readFileSync(paths.svg, "utf8")).toMatch(/^<svg [\s\S]*class="panel"[\s\S]*<\/svg>\n$/);
  });

  test("of an encoding that has none is refused with the encoding's name", async () => {
    const { status, stderr } = await poslab(["table", "--position", "alibi"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^poslab: option '--position': .*alibi.*\n$/);
  });

  test("of a learned encoding is the random table of the seed, the same every time", async () => {
    const run = (seed: string): Promise<{ stdout: string; stderr: string }> =>
      poslab(["table", "--position", "learned", "--length", "3", "--dim", "4", "--seed", seed]);
    const [first, again, other] = await Promise.all([run("5"), run("5"), run("6")]);
    expect(first.stderr).toBe("random numbers with seed 5: position.table\n");
    expect(again.stdout).toBe(first.stdout);
    expect(other.stdout).not.toBe(first.stdout);
  });
});

describe("bias", () => {
  test("is the API's bias in every format", async () => {
    const expected = lab.bias({ type: "alibi" }, { heads: 3, queryLength: 4, keyLength: 6 });
    const paths = await saved(["bias", "--heads", "3", "--query-length", "4", "--key-length", "6"], "bias");
    const json = JSON.parse(readFileSync(paths.json, "utf8")) as { bias: SavedTensor };
    expect(fromJson(json.bias)).toEqual(withoutMinusZero(expected));
    expect(fromFile(paths.safetensors, "expected.bias")).toEqual(expected);
    expect(fromCsv(paths.csv, 2)).toEqual(withoutMinusZero(expected).data);
    expect(readFileSync(paths.svg, "utf8").match(/class="panel"/g)).toHaveLength(3);
  });

  test("with a table from a file is computed with that table", async () => {
    const table = { data: Float32Array.from({ length: 8 * 2 }, (_, i) => i / 4), shape: [8, 2] };
    const input = join(folder, "t5-table.safetensors");
    writeFileSync(input, writeSafetensors([["position.table", table]]));
    const expected = lab.bias({ type: "t5", buckets: 8, table }, { heads: 2, queryLength: 5, keyLength: 5 });
    const { stdout } = await poslab([
      "bias",
      "--position",
      "t5",
      "--buckets",
      "8",
      "--heads",
      "2",
      "--query-length",
      "5",
      "--input",
      input,
      "--json",
    ]);
    expect(fromJson((JSON.parse(stdout) as { bias: SavedTensor }).bias)).toEqual(withoutMinusZero(expected));
  });
});

describe("rotate", () => {
  test("turns given vectors by given positions", async () => {
    const x = { data: Float32Array.from({ length: 2 * 3 * 8 }, (_, i) => Math.sin(i)), shape: [2, 3, 8] };
    const input = join(folder, "x.safetensors");
    writeFileSync(input, writeSafetensors([["x", x]]));
    const position = { type: "rope", theta: 500, layout: "interleaved", rotaryDim: 4 } as const;
    const expected = lab.rotate(x, position, { positions: [0, 7, 1000] });
    const paths = await saved(
      [
        "rotate",
        "--input",
        input,
        "--theta",
        "500",
        "--layout",
        "interleaved",
        "--rotary-dim",
        "4",
        "--positions",
        "0,7,1000",
      ],
      "rotate",
    );
    expect(fromFile(paths.safetensors, "expected.x")).toEqual(expected);
    expect(fromCsv(paths.csv, 2)).toEqual(expected.data);
    expect(fromJson((JSON.parse(readFileSync(paths.json, "utf8")) as { x: SavedTensor }).x)).toEqual(expected);
  });

  test("knows scalings by name with their factor, and by JSON", async () => {
    const byName = await poslab([
      "rotate",
      "--scaling",
      "yarn",
      "--factor",
      "4",
      "--original-length",
      "64",
      "--set",
      "scaling.betaFast=16",
      "--json",
    ]);
    const scaling = { ropeType: "yarn", factor: 4, originalMaxPositionEmbeddings: 64, betaFast: 16 };
    const byJson = await poslab(["rotate", "--position", JSON.stringify({ type: "rope", scaling }), "--json"]);
    expect(byName.status, byName.stderr).toBe(0);
    expect(byName.stdout).toBe(byJson.stdout);
    expect((JSON.parse(byName.stdout) as { position: object }).position).toEqual({ type: "rope", scaling });
  });

  test("makes nothing up beside a file with other tensors", async () => {
    const file = join(folder, "x.safetensors");
    const { status, stderr } = await poslab(["attention", "--input", file]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/option '--input': .* has .*x.*; input\.query is needed/);
  });

  test("refuses sizes that contradict the file", async () => {
    const { status, stderr } = await poslab(["rotate", "--input", join(folder, "x.safetensors"), "--heads", "5"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/option '--heads': 5 was given, and x in .* has 2/);
  });
});

describe("attention", () => {
  test("of the forgetting transformer has gates that a case can hold", async () => {
    const file = join(folder, "forgetting.safetensors");
    const { status, stderr } = await poslab(["attention", "--position", "forgetting", "--causal", "--out", file]);
    expect(status, stderr).toBe(0);
    expect(stderr).toContain("input.gates");
    const checked = await poslab(["check", file]);
    expect(checked.stdout).toContain("1 passed, 0 failed");
  });

  const words = [
    "attention",
    "--position",
    "alibi",
    "--causal",
    "--window",
    "4",
    "--heads",
    "4",
    "--key-value-heads",
    "2",
    "--query-length",
    "5",
    "--key-length",
    "9",
    "--head-dim",
    "8",
    "--value-dim",
    "6",
  ];

  test("saves inputs and results together, and they are the API's", async () => {
    const paths = await saved([...words, "--weights", "--scores", "--log-sum-exp"], "attention");
    const input = (name: string): Tensor => fromFile(paths.safetensors, `input.${name}`);
    const expected = lab.attention({
      query: input("query"),
      key: input("key"),
      value: input("value"),
      position: { type: "alibi" },
      mask: { causal: true, window: 4 },
      weights: true,
      scores: true,
      logSumExp: true,
    });
    const json = JSON.parse(readFileSync(paths.json, "utf8")) as Record<string, SavedTensor>;
    for (const name of ["output", "weights", "scores", "logSumExp"] as const)
      expect(fromJson(json[name]!), name).toEqual(withoutMinusZero(expected[name]!));
    expect(fromFile(paths.safetensors, "expected.output")).toEqual(expected.output);
    expect(fromFile(paths.safetensors, "expected.weights")).toEqual(expected.weights);
    expect(fromCsv(paths.csv, 2)).toEqual(expected.output.data);
    expect(input("key").shape).toEqual([2, 9, 8]);
    expect(input("value").shape).toEqual([2, 9, 6]);
  });

  test("--show chooses what is drawn and written as CSV", async () => {
    const path = join(folder, "weights.csv");
    expect((await poslab([...words, "--show", "weights", "--out", path])).status).toBe(0);
    const rows = fromCsv(path, 2);
    expect(rows).toHaveLength(4 * 5 * 9);
    for (let row = 0; row < 20; row += 1)
      expect(rows.subarray(row * 9, row * 9 + 9).reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 5);
  });

  test.each(["shaw", "transformer-xl", "t5", "kerple", "rope", "xpos", "none"])(
    "with random parameters works for %s",
    async (type) => {
      const { status, stdout, stderr } = await poslab(["attention", "--position", type, "--causal", "--json"]);
      expect(stderr).toBe("");
      expect(status).toBe(0);
      const { output } = JSON.parse(stdout) as { output: SavedTensor };
      expect(output.shape).toEqual([2, 8, 16]);
      expect(output.data.every((value) => typeof value === "number")).toBe(true);
    },
  );

  test("a window without a causal mask is refused", async () => {
    const { status, stderr } = await poslab(["attention", "--window", "3"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^poslab: .*window.*\n$/);
  });
});

describe("preview", () => {
  test("shows rounded numbers with their indices, and what was random", async () => {
    const { stdout, stderr, status } = await poslab(["bias", "--heads", "2", "--query-length", "3"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    // Slopes of two heads are 2^-4 and 2^-8.
    expect(stdout).toMatch(/^bias \[2, 3, 3\] {2}head × query × key, from -0\.125 to 0\n/);
    expect(stdout).toMatch(/head 0\n +0 +1 +2\n0 +0\.0000 +-0\.0625 +-0\.1250\n/);
    const random = await poslab(["rotate"]);
    expect(random.stderr).toBe("random numbers with seed 1: input.x\n");
  });

  test("a reader that closes the pipe early is no error", async () => {
    const { startPoslab } = await import("./support.js");
    const { child, ended } = startPoslab(["table", "--length", "20000", "--dim", "64", "--json"]);
    child.stdout.once("data", () => child.stdout.destroy());
    const { status, stderr } = await ended;
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

describe("inputs", () => {
  test("that cannot be read are refused with their name", async () => {
    const broken = join(folder, "broken.safetensors");
    writeFileSync(broken, "not a safetensors file at all");
    expect((await poslab(["rotate", "--input", broken])).stderr).toMatch(/option '--input': .*broken\.safetensors: /);
    expect((await poslab(["rotate", "--input", join(folder, "nowhere.safetensors")])).stderr).toMatch(
      /nowhere\.safetensors cannot be read: there is no such file/,
    );
    expect((await poslab(["rotate", "--input", folder])).stderr).toMatch(/cannot be read: it is a folder/);
  });

  test("too large to be had are refused with what was asked for", async () => {
    const { status, stderr } = await poslab(["bias", "--heads", "12", "--query-length", "60000"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/172,800,000,000 bytes/);
  });
});

describe("schemes", () => {
  test("lists those of the build with hooks and source", async () => {
    const { stdout, status } = await poslab(["schemes"]);
    expect(status).toBe(0);
    for (const { type, hooks } of lab.info.schemes)
      expect(stdout).toMatch(new RegExp(`^${type} +${hooks.join(", ") || "–"} +\\S`, "m"));
    const json = JSON.parse((await poslab(["schemes", "--json"])).stdout) as {
      type: string;
      hooks: string[];
      source: string;
    }[];
    expect(json.map(({ type, hooks }) => ({ type, hooks }))).toEqual(
      lab.info.schemes.map(({ type, hooks }) => ({ type, hooks })),
    );
  });
});
