// SPDX-License-Identifier: MIT
// Files that mean harm, or are merely broken: the collection of ../shared, kinds of our own, and good files with something
// changed. Each is refused with a reason or read right, without a call or an allocation that a declared size asked for.

import fc from "fast-check";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { inspectModel } from "../../../bindings/js/models.js";
import { readConfigFile } from "../../../bindings/js/config.js";
import { projectRoot, sharedFolder } from "../shared.js";
import { type Format, llama2cFile, readWhole, refusal } from "./files.js";

const folder = mkdtempSync(join(tmpdir(), "poslab-hostile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fuzzFolder = join(projectRoot, "tests/fuzz");

interface Manifest {
  files: { file: string; bytes: number; expect: "accept" | "reject" | "reject-or-accept"; why: string }[];
}
const formats: Record<string, Format> = { safetensors: "safetensors", gguf: "gguf", bin: "llama2.c" };

describe("files", () => {
  const hostile = sharedFolder("data/hostile");
  const manifest: Manifest = hostile
    ? (JSON.parse(readFileSync(join(hostile, "manifest.json"), "utf8")) as Manifest)
    : { files: [] };

  it.skipIf(!hostile).each(manifest.files)("$file: $why", async ({ file, expect: wanted }) => {
    const bytes = readFileSync(join(hostile!, file));
    const started = performance.now();
    const message = await refusal(readWhole(bytes, formats[file.split(".").at(-1)!]!));
    expect(performance.now() - started).toBeLessThan(2000);
    if (wanted === "accept") expect(message).toBe("accepted");
    if (wanted === "reject") expect(message).toMatch(/^(safetensors|GGUF|llama2\.c): /);
  });

  const seeds = [
    ...readdirSync(fuzzFolder).flatMap((name): [Format, Uint8Array][] => {
      const format = formats[name.split(".").at(-1)!];
      return format ? [[format, readFileSync(join(fuzzFolder, name))]] : [];
    }),
    ["llama2.c", llama2cFile({ dim: 4, hidden: 2, layers: 1, vocabulary: -3, length: 2 })] as [Format, Uint8Array],
  ];

  it.each(seeds)("made of %s are refused or read, whatever is changed in a good one", async (format, seed) => {
    const change = fc.record({
      at: fc.oneof(fc.nat(Math.min(seed.length, 400) - 1), fc.nat(seed.length - 1)),
      bytes: fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 8 }),
        fc.constantFrom(
          ...[0, 1, 2 ** 31, 2 ** 32 + 1, 2 ** 53, 2 ** 63].map(
            (value) => new Uint8Array(BigUint64Array.of(BigInt(value)).buffer),
          ),
        ),
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat(seed.length)),
        async (changes, cut) => {
          const bytes = seed.slice(0, cut ?? seed.length);
          for (const { at, bytes: put } of changes)
            bytes.set(put.slice(0, Math.max(0, bytes.length - at)), Math.min(at, bytes.length));
          expect(await refusal(readWhole(bytes, format))).toMatch(
            /^(accepted$|safetensors: |GGUF: |llama2\.c: |tensors of the type )/,
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});

// ------------------------------------------------------------------------------------------------- of our own

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const u32 = (value: number): Uint8Array => new Uint8Array(Uint32Array.of(value).buffer);
const u64 = (value: number | bigint): Uint8Array => new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);
const bytesOf = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

/** A safetensors file with this header, whatever it says. */
const safetensors = (header: string | Uint8Array, data = 8): Uint8Array => {
  const bytes = typeof header === "string" ? utf8(header) : header;
  return bytesOf(u64(bytes.length), bytes, new Uint8Array(data));
};
const entry = (name: string, rest: string): string => `"${name}":{"dtype":"F32",${rest}}`;
const good = entry("a", `"shape":[2],"data_offsets":[0,8]`);

const safetensorsKinds: readonly [what: string, file: Uint8Array, message: RegExp][] = [
  ["a header that ends one byte past the file", bytesOf(u64(3), utf8("{}")), /said to have 3 bytes, and 2 follow/],
  ["a header of no bytes", safetensors(""), /does not begin with \{/],
  ["a header of 2^63 bytes", bytesOf(u64(2n ** 63n), utf8("{}")), /9223372036854775808 bytes/],
  ["a byte order mark", safetensors(`\ufeff{${good}}`), /does not begin with \{/],
  ["the same bytes for two tensors", safetensors(`{${good},${good.replace("a", "b")}}`), /inside the one before it/],
  [
    "a name twice, once as an escape",
    safetensors(`{${good},${good.replace('"a"', '"\\u0061"')}}`),
    /"a" is there twice/,
  ],
  ["offsets past 2^53", safetensors(`{${entry("a", `"shape":[2],"data_offsets":[0,9007199254740993]`)}}`), /too large/],
  ["an axis of 2^53", safetensors(`{${entry("a", `"shape":[9007199254740992,0],"data_offsets":[0,0]`)}}`), /too large/],
  ["1e1 as an axis", safetensors(`{${entry("a", `"shape":[1e1],"data_offsets":[0,8]`)}}`), /whole number/],
  ["-0 as an axis", safetensors(`{${entry("a", `"shape":[-0],"data_offsets":[0,0]`)}}`), /whole number/],
  ["a leading zero", safetensors(`{${entry("a", `"shape":[02],"data_offsets":[0,8]`)}}`), /needs|whole number/],
  ["true as an offset", safetensors(`{${entry("a", `"shape":[2],"data_offsets":[0,true]`)}}`), /whole number/],
  ["three offsets", safetensors(`{${entry("a", `"shape":[2],"data_offsets":[0,8,8]`)}}`), /must be two numbers/],
  ["a shape inside a shape", safetensors(`{${entry("a", `"shape":[[2]],"data_offsets":[0,8]`)}}`), /whole number/],
  ["a dtype of another size", safetensors(`{${good.replace("F32", "F64")}}`), /takes 16 bytes, and its offsets span 8/],
  ["a dtype in small letters", safetensors(`{${good.replace("F32", "f32")}}`), /has the dtype "f32"/],
  ["a dtype called __proto__", safetensors(`{${good.replace("F32", "__proto__")}}`), /has the dtype "__proto__"/],
  [
    "a tensor of nothing inside another",
    safetensors(`{${good},${entry("b", `"shape":[0],"data_offsets":[4,4]`)}}`),
    /inside/,
  ],
  ["two lists of metadata", safetensors(`{"__metadata__":{},"__metadata__":{},${good}}`), /there twice/],
  ["metadata of numbers", safetensors(`{"__metadata__":{"format":1},${good}}`), /needs a text/],
  [
    "a field that is not known",
    safetensors(`{${entry("a", `"shape":[2],"data_offsets":[0,8],"run":"x"`)}}`),
    /a field "run"/,
  ],
  ["a comma too many", safetensors(`{${good},}`), /needs a name in quotes/],
  ["something after the header", safetensors(`{${good}}{}`), /needs the end of the header/],
  ["half a character", safetensors(bytesOf(utf8("{"), Uint8Array.of(0xc3), utf8("}"))), /not UTF-8/],
  ["a character cut off inside its name", safetensors('{"a'), /needs a text that ends/],
];

const key = (name: string, type: number, ...value: readonly Uint8Array[]): Uint8Array =>
  bytesOf(u64(utf8(name).length), utf8(name), u32(type), ...value);
const info = (name: string, dims: readonly (number | bigint)[], type: number, offset: number | bigint): Uint8Array =>
  bytesOf(u64(utf8(name).length), utf8(name), u32(dims.length), ...dims.map(u64), u32(type), u64(offset));

/** A GGUF file of version 3: counts as they are, or as they are said to be. */
function gguf(
  keys: readonly Uint8Array[],
  infos: readonly Uint8Array[] = [],
  said: { tensors?: bigint; keys?: bigint; data?: number } = {},
): Uint8Array {
  const counts = bytesOf(u64(said.tensors ?? infos.length), u64(said.keys ?? keys.length));
  const header = bytesOf(utf8("GGUF"), u32(3), counts, ...keys, ...infos);
  return bytesOf(header, new Uint8Array((32 - (header.length % 32)) % 32), new Uint8Array(said.data ?? 32));
}
const array = (type: number, count: number | bigint, ...rest: readonly Uint8Array[]): Uint8Array =>
  bytesOf(u32(type), u64(count), ...rest);
const nested = (depth: number): Uint8Array =>
  depth === 0 ? array(0, 1, Uint8Array.of(7)) : array(9, 1, nested(depth - 1));

const ggufKinds: readonly [what: string, file: Uint8Array, message: RegExp][] = [
  ["2^60 tensors", gguf([], [], { tensors: 2n ** 60n }), /1152921504606846976 tensors are declared/],
  ["2^60 keys", gguf([], [], { keys: 2n ** 60n }), /1152921504606846976 keys are declared/],
  ["2^64 - 1 tensors", gguf([], [], { tensors: 2n ** 64n - 1n }), /tensors are declared/],
  ["one tensor more than there is room for", gguf([], [], { tensors: 3n }), /at most 2/],
  ["arrays six deep", gguf([key("x", 9, nested(5))]), /arrays 5 deep; 4 are read/],
  ["2^60 arrays in an array", gguf([key("x", 9, array(9, 2n ** 60n))]), /arrays in "x" are declared/],
  ["2^61 numbers of eight bytes", gguf([key("x", 9, array(10, 2n ** 61n))]), /entries of "x" are declared/],
  ["2^40 booleans", gguf([key("x", 9, array(7, 2n ** 40n))]), /entries of "x" are declared/],
  ["an array of a type that is none", gguf([key("x", 9, array(13, 1, u64(0)))]), /value type 13/],
  ["a text of 2^63 bytes", gguf([key("x", 8, u64(2n ** 63n))]), /9223372036854775808 bytes/],
  ["a key that is not UTF-8", gguf([bytesOf(u64(2), Uint8Array.of(0xff, 0xfe), u32(4), u32(1))]), /not UTF-8/],
  [
    "a tensor whose name is not UTF-8",
    gguf([], [bytesOf(u64(1), Uint8Array.of(0x80), u32(1), u64(1), u32(0), u64(0))]),
    /not UTF-8/,
  ],
  ["alignment 0", gguf([key("general.alignment", 4, u32(0))]), /general\.alignment is 0/],
  ["alignment 12", gguf([key("general.alignment", 4, u32(12))]), /general\.alignment is 12; a multiple of 8/],
  ["alignment 2^32 - 1", gguf([key("general.alignment", 4, u32(2 ** 32 - 1))]), /general\.alignment is 4294967295/],
  ["alignment 2^63", gguf([key("general.alignment", 10, u64(2n ** 63n))]), /general\.alignment is 9223372036854775808/],
  ["a list as alignment", gguf([key("general.alignment", 9, array(4, 1, u32(32)))]), /general\.alignment is a list/],
  [
    "the same tensor twice",
    gguf([], [info("a", [4], 0, 0), info("a", [4], 0, 32)], { data: 64 }),
    /"a" is there twice/,
  ],
  ["two tensors in one place", gguf([], [info("a", [8], 0, 0), info("b", [8], 0, 0)]), /inside the tensor "a"/],
  ["five dimensions", gguf([], [info("a", [1, 1, 1, 1, 1], 0, 0)]), /5 dimensions; at most 4/],
  ["axes of 2^53 each", gguf([], [info("a", [2 ** 53 - 1, 2 ** 53 - 1, 2 ** 53 - 1], 0, 0)]), /past any file's end/],
  ["an axis of 2^63", gguf([], [info("a", [2n ** 63n], 0, 0)]), /an axis of 9223372036854775808/],
  ["an offset of 2^64 - 32", gguf([], [info("a", [8], 0, 2n ** 64n - 32n)]), /past any file's end/],
  ["a tensor that ends one row past the file", gguf([], [info("a", [9], 0, 0)]), /ends at byte \d+, and the file has/],
  ["a quantised row of half a block", gguf([], [info("a", [16], 2, 0)]), /rows that are not whole blocks/],
  ["a type with a number past all", gguf([], [info("a", [8], 2 ** 31, 0)]), /type 2147483648/],
];

const accepted: readonly [what: string, format: Format, file: Uint8Array][] = [
  ["no tensors", "safetensors", safetensors("{}", 0)],
  ["a tensor of nothing", "safetensors", safetensors(`{${entry("a", `"shape":[3,0],"data_offsets":[0,0]`)}}`, 0)],
  ["a number alone", "safetensors", safetensors(`{${entry("a", `"shape":[],"data_offsets":[0,4]`)}}`, 4)],
  [
    "a lone surrogate in a name",
    "safetensors",
    safetensors(`{${entry("\\ud800", `"shape":[2],"data_offsets":[0,8]`)}}`),
  ],
  ["no keys and no tensors", "gguf", gguf([])],
  ["a text value that is not UTF-8", "gguf", gguf([key("x", 8, u64(2), Uint8Array.of(0xff, 0xfe))])],
  ["a tensor of nothing", "gguf", gguf([], [info("a", [0, 4], 0, 0)])],
  ["a tensor without axes", "gguf", gguf([], [info("a", [], 0, 0)])],
];

const kinds = [
  ...safetensorsKinds.map(([what, file, message]) => ["safetensors", what, file, message] as const),
  ...ggufKinds.map(([what, file, message]) => ["gguf", what, file, message] as const),
];

describe("a file with", () => {
  it.each(kinds)("%s: %s is refused", async (format, _, file, message) => {
    expect(await refusal(readWhole(file, format))).toMatch(message);
  });

  it.each(accepted)("%s (%s) is read", async (_, format, file) => {
    expect(await refusal(readWhole(file, format))).toBe("accepted");
  });

  it.each(["small.gguf", "small.safetensors", "small.bin"])("%s cut off anywhere is refused", async (name) => {
    const whole = readFileSync(join(fuzzFolder, name));
    for (let length = 0; length < whole.length; length += 1)
      expect(await refusal(readWhole(whole.subarray(0, length), formats[name.split(".")[1]!]!))).toMatch(
        /^(safetensors|GGUF|llama2\.c): /,
      );
  });
});

describe("an index of shards", () => {
  const header = safetensors(`{${good}}`);
  const config = { model_type: "llama" };
  const open = async (index: unknown): Promise<string> => {
    const place = join(folder, "sharded");
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "model-00001-of-00001.safetensors"), header);
    writeFileSync(join(place, "model.safetensors.index.json"), JSON.stringify(index));
    const messages = await Promise.all(
      ["", "model.safetensors.index.json", "model-00001-of-00001.safetensors"].map((name) =>
        refusal(inspectModel(join(place, name), { config })),
      ),
    );
    expect(new Set(messages).size).toBe(1);
    return messages[0]!;
  };

  it.each([
    [
      { a: "../../../etc/passwd" },
      /names 1 tensors that are not in the files given, from \.\.\/\.\.\/\.\.\/etc\/passwd$/,
    ],
    [{ a: "/etc/passwd" }, /not in the files given/],
    [{ a: "model-00002-of-00002.safetensors" }, /from model-00002-of-00002\.safetensors$/],
    [{ a: 7 }, /not in the files given, from 7$/],
    [{ a: "model-00001-of-00001.safetensors", b: "model-00001-of-00001.safetensors" }, /names 1 tensors/],
    ["everything", /the index has no weight_map/],
    [null, /the index has no weight_map/],
  ])("that says %j opens no other file", async (weightMap, message) => {
    expect(await open({ weight_map: weightMap })).toMatch(message);
  });

  it("that is no object says so", async () => {
    for (const index of [[], 3, null, "x"]) expect(await open(index)).toMatch(/the index has no weight_map/);
  });
});

describe("a config.json with", () => {
  const model = join(projectRoot, "tests/models/mistral");
  const config = JSON.parse(readFileSync(join(model, "config.json"), "utf8")) as Record<string, unknown>;
  const rope = { rope_theta: 1e4, rope_type: "default" };
  it.each([
    ["num_hidden_layers", 2 ** 31 - 1],
    ["num_hidden_layers", 1e308],
    ["hidden_size", 2 ** 31],
    ["vocab_size", 2 ** 31],
    ["num_key_value_heads", 0],
    ["num_attention_heads", 1.5],
    ["head_dim", -4],
    ["intermediate_size", "20"],
    ["intermediate_size", [20]],
    ["max_position_embeddings", 1e300],
    ["sliding_window", -1],
    ["sliding_window", Infinity],
    ["rms_norm_eps", "NaN"],
    ["model_type", ["mistral"]],
    ["model_type", "__proto__"],
    ["layer_types", [7, 8]],
    ["rope_parameters", { ...rope, rope_theta: -1 }],
    ["rope_parameters", { ...rope, rope_theta: Infinity }],
    ["rope_parameters", { ...rope, rope_type: "yarn", factor: -2 }],
    ["rope_parameters", { ...rope, rope_type: "longrope", short_factor: [], long_factor: [] }],
    ["rope_parameters", "default"],
  ])("%s %j is refused by name, at once", async (name, value) => {
    const started = performance.now();
    const message = await refusal(inspectModel(model, { config: { ...config, [name]: value } }));
    expect(message).not.toBe("accepted");
    expect(message.length).toBeLessThan(2000);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it.each([
    ["{", /is not JSON/],
    ["[1]", /must be a JSON object|model_type/],
    ["[".repeat(200_000), /is not JSON/],
    [`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, /model_type|is not JSON/],
    ['{"model_type":"mistral"}', /is missing/],
    ["", /is not JSON/],
  ])("the text %#", async (text, message) => {
    const given = { name: "config.json", data: utf8(text) };
    expect(await refusal(inspectModel(model, { config: given }))).toMatch(message);
  });
});

describe("anything at all", () => {
  it("is refused or read", async () => {
    const start = fc.constantFrom(
      new Uint8Array(),
      bytesOf(utf8("GGUF"), u32(3), u64(1), u64(1)),
      bytesOf(utf8("GGUF"), u32(2), u64(0), u64(2)),
      safetensors(`{${good}}`),
      bytesOf(u64(40), utf8('{"a":{"dtype":"F32","shape":[')),
      utf8('{"model_type":"'),
    );
    await fc.assert(
      fc.asyncProperty(start, fc.uint8Array({ maxLength: 200 }), async (begin, rest) => {
        const file = bytesOf(begin, rest);
        for (const name of ["x.gguf", "x.safetensors", "x.bin", "x"])
          expect(await refusal(inspectModel({ name, data: file }))).not.toBe("accepted");
        await refusal(readConfigFile(file));
      }),
      { numRuns: 200 },
    );
  });
});
