// SPDX-License-Identifier: MIT
// Reading and writing safetensors: round trips, odd but valid files, and every kind of hostile file.

import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PosLabError } from "../../bindings/js/errors.js";
import { fromFloat16, toFloat16 } from "../../bindings/js/half-floats.js";
import { readSafetensors, writeSafetensors } from "../../bindings/js/safetensors.js";
import { sharedFolder } from "./shared.js";

/** A file by hand: any header text, any data. */
function file(header: string | Uint8Array, data: Uint8Array = new Uint8Array(), declared?: bigint): Uint8Array {
  const text = typeof header === "string" ? new TextEncoder().encode(header) : header;
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, declared ?? BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes;
}
const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const refusal = (bytes: Uint8Array): string => {
  try {
    readSafetensors(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(PosLabError);
    expect((error as PosLabError).code).toBe("format");
    return (error as PosLabError).message;
  }
  return "accepted";
};

describe("valid files", () => {
  it("come back as they were written, metadata included", () => {
    const written = writeSafetensors(
      [
        ["bytes", { data: new Uint8Array([1, 2, 3]), shape: [3] }],
        ["weights", { data: new Float32Array([1, -2.5, NaN, Infinity]), shape: [2, 2] }],
        ["ids", { data: new BigInt64Array([-(2n ** 63n), 2n ** 63n - 1n]), shape: [2] }],
        ["halves", { data: new Float32Array([1.5, 65504]), shape: [2], dtype: "F16" }],
        ["empty", { data: new Float32Array(), shape: [0, 4] }],
        ["scalar", { data: new Float64Array([Math.PI]), shape: [] }],
      ],
      { case: "{}" },
    );
    const { tensors, metadata } = readSafetensors(written);
    expect(metadata).toEqual(new Map([["case", "{}"]]));
    expect([...tensors.get("weights")!.data]).toEqual([1, -2.5, NaN, Infinity]);
    expect(tensors.get("weights")!.shape).toEqual([2, 2]);
    expect([...tensors.get("ids")!.data]).toEqual([-(2n ** 63n), 2n ** 63n - 1n]);
    expect([...tensors.get("bytes")!.data]).toEqual([1, 2, 3]);
    expect([...tensors.get("halves")!.data]).toEqual([1.5, 65504]);
    expect(tensors.get("empty")!.data).toHaveLength(0);
    expect(tensors.get("scalar")!.data[0]).toBe(Math.PI);
  });

  it("are read by bytes when the header is no multiple of 8 and an odd tensor stands before a float32 one", () => {
    const header =
      '{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"F32","shape":[1],"data_offsets":[3,7]}}';
    expect((8 + header.length + 3) % 4).not.toBe(0);
    const data = new Uint8Array([7, 8, 9, ...bytesOf(new Float32Array([0.1]))]);
    expect(readSafetensors(file(header, data)).tensors.get("b")!.data[0]).toBe(Math.fround(0.1));
  });

  it("may pad the header with spaces or zeros", () => {
    const header = '{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}';
    for (const padding of ["", "   ", "\0\0\0\0"]) {
      expect(readSafetensors(file(header + padding, new Uint8Array([0xc0, 0x3f]))).tensors.get("a")!.data[0]).toBe(1.5);
    }
  });

  it("give 1.5 for BF16 0x3FC0 and F16 0x3E00", () => {
    const header =
      '{"b":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]},"f":{"dtype":"F16","shape":[1],"data_offsets":[2,4]}}';
    const { tensors } = readSafetensors(file(header, new Uint8Array([0xc0, 0x3f, 0x00, 0x3e])));
    expect([tensors.get("b")!.data[0], tensors.get("f")!.data[0]]).toEqual([1.5, 1.5]);
  });

  it("take __proto__ for an ordinary name", () => {
    const header = '{"__proto__":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}';
    expect([...readSafetensors(file(header, new Uint8Array(4))).tensors.keys()]).toEqual(["__proto__"]);
  });

  it("survive a round trip whatever their names, shapes and numbers", () => {
    const tensor = fc.record({
      shape: fc.array(fc.nat(4), { maxLength: 3 }),
      dtype: fc.constantFrom("F64" as const, "F32" as const, "U8" as const),
    });
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().filter((name) => name !== "__metadata__"),
          tensor,
        ),
        fc.dictionary(fc.string(), fc.string()),
        (specs, metadata) => {
          const made = Object.entries(specs).map(([name, { shape, dtype }]) => {
            const data = Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, index) => index % 251);
            return [name, { data, shape, dtype }] as const;
          });
          const read = readSafetensors(writeSafetensors(made, metadata));
          expect(read.tensors.size).toBe(made.length);
          for (const [name, { data, shape }] of made) {
            expect(read.tensors.get(name)!.shape).toEqual(shape);
            expect([...read.tensors.get(name)!.data].map(Number)).toEqual([...data]);
          }
          expect(Object.fromEntries(read.metadata)).toEqual({ ...metadata });
        },
      ),
    );
  });
});

describe("half precision", () => {
  it("keeps every binary16 number through float32 and back", () => {
    for (let half = 0; half < 0x10000; half += 1) {
      const value = fromFloat16(half);
      if (Number.isNaN(value)) expect(fromFloat16(toFloat16(value))).toBeNaN();
      else expect(toFloat16(value)).toBe(half);
    }
  });

  it("rounds to the nearest number, ties to even", () => {
    // Between neighbours: their middle goes to the one with an even fraction, anything nearer to one goes there.
    for (let half = 0; half < 0x7bff; half += 7) {
      const [low, high] = [fromFloat16(half), fromFloat16(half + 1)];
      const middle = (low + high) / 2; // exact: 12 bits
      expect(toFloat16(middle)).toBe(half % 2 === 0 ? half : half + 1);
      expect(toFloat16(middle + (high - low) / 64)).toBe(half + 1);
      expect(toFloat16(-(middle - (high - low) / 64))).toBe(half | 0x8000);
    }
    expect(toFloat16(65519.99)).toBe(0x7bff);
    expect(toFloat16(65520)).toBe(0x7c00);
  });
});

describe("hostile files", () => {
  const entry = (fields: string): string => `{"w":{${fields}}}`;
  const four = new Uint8Array(4);
  it.each([
    ["a file shorter than its length field", new Uint8Array(5), "5 bytes"],
    ["a header longer than the file", file("{}", undefined, 1000n), "1000 bytes"],
    ["a header length that needs more than 32 bits", file("{}", undefined, 2n ** 32n + 2n), "4294967298"],
    ["a header length near 2^64", file("{}", undefined, 2n ** 64n - 1n), "18446744073709551615"],
    ["a header that is cut off", file('{"w":{"dtype":"F32"'), "its end"],
    ["bytes after the header's object", file("{}x"), "the end of the header"],
    ["a negative offset", file(entry('"dtype":"F32","shape":[1],"data_offsets":[-4,0]'), four), "whole number"],
    ["a fraction as offset", file(entry('"dtype":"F32","shape":[1],"data_offsets":[0,4.0]'), four), "whole number"],
    ["an exponent as offset", file(entry('"dtype":"F32","shape":[1],"data_offsets":[0,4e0]'), four), "whole number"],
    [
      "an offset past 2^53",
      file(entry('"dtype":"F32","shape":[1],"data_offsets":[0,9007199254740993]'), four),
      "too large",
    ],
    ["an end past the data", file(entry('"dtype":"F32","shape":[2],"data_offsets":[0,8]'), four), "has 4"],
    [
      "a shape whose size wraps around",
      file(entry('"dtype":"F32","shape":[4611686018427387908],"data_offsets":[0,16]'), new Uint8Array(16)),
      "too large",
    ],
    [
      "a shape whose product wraps around",
      file(entry('"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]')),
      "span 0",
    ],
    [
      "a dtype that is a name of Object.prototype",
      file(entry('"dtype":"constructor","shape":[1],"data_offsets":[0,4]'), four),
      "dtype",
    ],
    ["metadata twice", file('{"__metadata__":{},"__metadata__":{}}'), "twice"],
    [
      "the same name spelt with an escape",
      file(
        '{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\\u0077":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
      ),
      "twice",
    ],
  ])("%s is refused", (_, bytes, reason) => {
    expect(refusal(bytes)).toContain(reason);
  });

  it("never crash the reader, whatever is changed in a good file", () => {
    const good = writeSafetensors(
      [
        ["a", { data: new Float32Array([1, 2]), shape: [2] }],
        ["b", { data: new Uint8Array([1]), shape: [1] }],
      ],
      { k: "v" },
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
        fc.nat(good.length),
        (changes, cut) => {
          const bytes = good.slice();
          for (const [at, value] of changes) bytes[at] = value;
          for (const candidate of [bytes, bytes.subarray(0, cut)]) {
            try {
              readSafetensors(candidate);
            } catch (error) {
              expect(error).toBeInstanceOf(PosLabError);
            }
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  const folder = sharedFolder("data/hostile");
  describe.skipIf(!folder)("of the shared collection", () => {
    const manifest = folder
      ? (JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as {
          files: { file: string; expect: string; why: string }[];
        })
      : { files: [] };
    it.each(manifest.files.filter(({ file: name }) => name.endsWith(".safetensors")))(
      "$file: $expect ($why)",
      ({ file: name, expect: expected }) => {
        const answer = refusal(readFileSync(join(folder!, name)));
        if (expected === "accept") expect(answer).toBe("accepted");
        if (expected === "reject") expect(answer).not.toBe("accepted");
      },
    );
  });

  it("is read the same from a Buffer of Node, whose slice() is a view", () => {
    const file = writeSafetensors([
      ["x", { data: Float32Array.of(1, 2, 3), shape: [3] }],
      ["id", { data: BigInt64Array.of(7n), shape: [1] }],
    ]);
    const { tensors } = readSafetensors(Buffer.from(file));
    expect(tensors.get("x")!.data).toEqual(Float32Array.of(1, 2, 3));
    expect(tensors.get("id")!.data).toEqual(BigInt64Array.of(7n));
  });

  const fixtures = sharedFolder("data/fixtures");
  it.skipIf(!fixtures)("valid files of other projects are read", () => {
    for (const name of readdirSync(fixtures!).filter((entryName) => entryName.endsWith(".safetensors"))) {
      expect(readSafetensors(readFileSync(join(fixtures!, name))).tensors.size, name).toBeGreaterThan(0);
    }
  });
});
