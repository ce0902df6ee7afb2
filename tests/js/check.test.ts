// SPDX-License-Identifier: MIT
// Conformance cases: those of the project and all shared ones pass; a wrong one fails and says what it matches; what is
// no case is refused.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkCase } from "../../bindings/js/check.js";
import {
  PosLabError,
  type Position,
  readSafetensors,
  type TensorToWrite,
  writeSafetensors,
} from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";
import { projectRoot, sharedFolder } from "./shared.js";

const lab = await sharedLab();

function casesOf(folder: string | null): { name: string; path: string }[] {
  if (!folder || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".safetensors"))
    .map((name) => ({ name, path: join(folder, name) }));
}

const own = casesOf(join(projectRoot, "tests/cases"));
it("the project has cases of its own", () => {
  expect(own.length).toBeGreaterThan(120);
});
describe.each([
  ["of the project", own],
  ["shared", casesOf(sharedFolder("cases"))],
])("cases %s", (_, cases) => {
  it.skipIf(cases.length === 0).each(cases.length ? cases : [{ name: "none", path: "" }])("$name", ({ path }) => {
    const result = checkCase(lab, readFileSync(path));
    expect(result.message.startsWith("refused") ? "" : result.message).toBe("");
    expect(result.passed).toBe(true);
  });
});

/** A case made here from what the library gives for another scheme: it must fail and name the difference. */
function wrongCase(position: Position, fields: object, tensors: [string, TensorToWrite][]): Uint8Array {
  const description = { name: "wrong", position, tolerance: { absolute: 1e-6, relative: 1e-6 }, ...fields };
  return writeSafetensors(tensors, { case: JSON.stringify(description) });
}

describe("wrong cases", () => {
  it("say which layout a rotation matches", () => {
    const x = { data: Float32Array.from({ length: 16 }, (_, index) => Math.sin(index)), shape: [1, 2, 8] };
    const rotated = lab.rotate(x, { type: "rope", layout: "interleaved" }, { positions: [3, 9] });
    const file = wrongCase({ type: "rope", layout: "half" }, { op: "rotate" }, [
      ["input.x", x],
      ["input.positions", { data: new BigInt64Array([3n, 9n]), shape: [2] }],
      ["expected.x", { data: Float64Array.from(rotated.data), shape: rotated.shape }],
    ]);
    const result = checkCase(lab, file);
    expect(result).toMatchObject({ passed: false, op: "rotate", name: "wrong" });
    expect(result.message).toContain("matches layout: interleaved");
    expect(result.maxAbsolute).toBeGreaterThan(0.01);
  });

  it.each<[string, Position, object, Position, object]>([
    [
      "denominator: half-dim-minus-one",
      { type: "sinusoidal", layout: "concatenated" },
      { op: "table", length: 9, dim: 8 },
      { type: "sinusoidal", layout: "concatenated", denominator: "half-dim-minus-one" },
      {},
    ],
    ["start: 1", { type: "sinusoidal" }, { op: "table", length: 9, dim: 8 }, { type: "sinusoidal" }, { start: 1 }],
  ])("of a table say: matches %s", (hint, position, fields, real, change) => {
    const { length, dim } = fields as { length: number; dim: number };
    const table = lab.table(real, { length, dim, ...change });
    expect(
      checkCase(
        lab,
        wrongCase(position, fields, [["expected.table", { data: Float64Array.from(table.data), shape: table.shape }]]),
      ).message,
    ).toContain(`matches ${hint}`);
  });

  it("name slopes of another form and the other sign", () => {
    const slopes = Array.from({ length: 6 }, (_, head) => 2 ** ((-8 * (head + 1)) / 6));
    const fields = { op: "bias", heads: 6, queryLength: 4, keyLength: 4 };
    const naive = lab.bias({ type: "alibi", slopes }, { heads: 6, queryLength: 4, keyLength: 4 });
    const file = wrongCase({ type: "alibi" }, fields, [
      ["expected.bias", { data: Float64Array.from(naive.data), shape: naive.shape }],
    ]);
    expect(checkCase(lab, file).message).toContain("matches slopes: 2^(-8h/H)");
    const right = lab.bias({ type: "alibi" }, { heads: 6, queryLength: 4, keyLength: 4 });
    const flipped = wrongCase({ type: "alibi" }, fields, [
      ["expected.bias", { data: Float64Array.from(right.data, (value) => -value), shape: right.shape }],
    ]);
    expect(checkCase(lab, flipped).message).toContain("the other sign");
  });

  it("name the alignment and the scale of attention", () => {
    const tensor = (rows: number, seed: number): { data: Float32Array; shape: number[] } => ({
      data: Float32Array.from({ length: rows * 4 }, (_, index) => Math.cos(seed * (index + 1))),
      shape: [1, rows, 4],
    });
    const call = { query: tensor(2, 1), key: tensor(5, 2), value: tensor(5, 3) };
    const inputs = Object.entries(call).map(([name, value]) => [`input.${name}`, value] as [string, TensorToWrite]);
    for (const [hint, options] of [
      ["alignment: top-left", { mask: { causal: true, alignment: "top-left" as const } }],
      ["scale: 1", { mask: { causal: true }, scale: 1 }],
    ] as const) {
      const { output } = lab.attention({ ...call, ...options });
      const file = wrongCase({ type: "none" }, { op: "attention", mask: { causal: true } }, [
        ...inputs,
        ["expected.output", { data: Float64Array.from(output.data), shape: output.shape }],
      ]);
      expect(checkCase(lab, file).message).toContain(`matches ${hint}`);
    }
  });

  it("are told apart by shape, NaN and accepted calls", () => {
    const slopes = (data: number[]): Uint8Array =>
      wrongCase({ type: "alibi" }, { op: "slopes", heads: 2 }, [
        ["expected.slopes", { data: Float64Array.from(data), shape: [data.length] }],
      ]);
    expect(checkCase(lab, slopes([1, 2, 3])).message).toContain("has the shape [3], and [2] came out");
    expect(checkCase(lab, slopes([NaN, NaN]))).toMatchObject({ passed: false, maxAbsolute: Infinity });
    const accepted = writeSafetensors([], {
      case: JSON.stringify({
        name: "n",
        op: "reject",
        call: "slopes",
        heads: 2,
        position: { type: "alibi" },
        reason: "no reason",
      }),
    });
    expect(checkCase(lab, accepted)).toMatchObject({
      passed: false,
      message: "the call was accepted, though no reason",
    });
    const failing = wrongCase({ type: "alibbi" } as unknown as Position, { op: "slopes", heads: 2 }, [
      ["expected.slopes", { data: Float64Array.from([1, 2]), shape: [2] }],
    ]);
    expect(checkCase(lab, failing).message).toContain("the call failed: ");
  });
});

describe("what Python writes", () => {
  const attention = (case_: string): ReturnType<typeof checkCase> => {
    const rows = { data: Float32Array.from([1, 2, 3, 4]), shape: [1, 2, 2] };
    const { output } = lab.attention({ query: rows, key: rows, value: rows, mask: { causal: true } });
    const inputs = ["query", "key", "value"].map((name): [string, TensorToWrite] => [`input.${name}`, rows]);
    return checkCase(lab, writeSafetensors([...inputs, ["expected.output", output]], { case: case_ }));
  };

  it("for None is not given", () => {
    expect(
      attention(
        '{"name":null,"op":"attention","position":{"type":"none"},"scale":null,"distances":null,"tolerance":null,"mask":{"causal":true,"alignment":null,"window":null}}',
      ),
    ).toMatchObject({ name: "", passed: true });
  });

  it("for numbers that are none reaches the call, which refuses it", () => {
    const rejected = '"op":"reject","call":"attention","position":{"type":"alibi","slopes":[NaN]}';
    expect(attention(`{${rejected},"reason":"a slope of NaN"}`)).toMatchObject({
      passed: true,
      message: expect.stringContaining("position.slopes") as string,
    });
    expect(attention('{"op":"attention","position":{"type":"none"},"scale":-Infinity}')).toMatchObject({
      passed: false,
      message: expect.stringContaining("scale") as string,
    });
  });
});

describe("what is no case", () => {
  const file = (metadata: Record<string, string>): Uint8Array =>
    writeSafetensors([["x", { data: new Float32Array(1), shape: [1] }]], metadata);
  it.each<[string, Uint8Array, string]>([
    ["bytes", new Uint8Array([1, 2, 3]), "safetensors"],
    ["weights", file({ format: "pt" }), "no text called case"],
    ["a text that is no JSON", file({ case: "{" }), "no JSON"],
    ["JSON that is no object", file({ case: "[1]" }), "no object"],
    ["an unknown operation", file({ case: '{"name":"n","op":"turn","position":{}}' }), 'the operation "turn"'],
    ["no operation", file({ case: '{"position":{}}' }), "it has no op; known are table,"],
    [
      "a rejected reject",
      file({ case: '{"op":"reject","call":"reject","position":{"type":"rope"}}' }),
      "a call is one of the other operations",
    ],
    ...['"loose"', "3", "[]", '{"absolute":null}', '{"absolute":-1}', '{"abs":1}'].map(
      (tolerance): [string, Uint8Array, string] => [
        `the tolerance ${tolerance}`,
        file({ case: `{"op":"rotate","position":{"type":"rope"},"tolerance":${tolerance}}` }),
        "tolerance: ",
      ],
    ),
    [
      "a missing tensor",
      file({ case: '{"name":"n","op":"rotate","position":{"type":"rope"}}' }),
      "no tensor is called expected.NAME",
    ],
    [
      "a missing input",
      writeSafetensors([["expected.x", { data: new Float32Array(1), shape: [1] }]], {
        case: '{"name":"n","op":"rotate","position":{"type":"rope"}}',
      }),
      "input.x is missing",
    ],
  ])("%s: it is refused", (_, bytes, message) => {
    expect(() => checkCase(lab, bytes)).toThrowError(PosLabError);
    expect(() => checkCase(lab, bytes)).toThrowError(message);
  });
});

describe("training cases", () => {
  const { tensors, metadata } = readSafetensors(
    readFileSync(join(projectRoot, "tests/cases/training-none.safetensors")),
  );
  const description = JSON.parse(metadata.get("case")!) as { model: object; training: object };
  const ids = (shape: number[], id: number): TensorToWrite => ({
    data: new BigInt64Array(shape.reduce((size, extent) => size * extent, 1)).fill(BigInt(id)),
    shape,
  });
  const refused = (fields: object, changed: Record<string, TensorToWrite> = {}): string => {
    const all = [...tensors].map(([name, { data, shape }]): [string, TensorToWrite] => [
      name,
      changed[name] ?? { data: data as TensorToWrite["data"], shape },
    ]);
    const result = checkCase(lab, writeSafetensors(all, { case: JSON.stringify({ ...description, ...fields }) }));
    expect(result.passed).toBe(false);
    return result.message;
  };

  it.each<[string, object, string]>([
    ["an unknown norm", { norm: "batch" }, "model.norm"],
    ["a misspelt field", { headds: 2 }, 'did you mean "heads"?'],
    ["a text for a number", { dim: "16" }, "model.dim"],
    ["a text for a truth", { tied: "yes" }, "model.tied"],
  ])("%s in the model is refused", (_, fields, message) => {
    expect(refused({ model: { ...description.model, ...fields } })).toContain(message);
  });

  it.each<[string, object, string]>([
    ["a text for the rate", { learningRate: "fast" }, "training.learningRate"],
    ["a misspelt field", { stepps: 8 }, 'did you mean "steps"?'],
  ])("%s in the training is refused", (_, fields, message) => {
    expect(refused({ training: { ...description.training, ...fields } })).toContain(message);
  });

  it("ids that 32 bits cannot hold are refused, not wrapped into others", () => {
    expect(refused({}, { "input.batches": ids([8, 3, 13], 2 ** 32) })).toContain("input.batches: 4294967296 was given");
  });

  it("ids of another shape are refused", () => {
    expect(refused({}, { "input.batches": ids([8, 39], 0) })).toContain("input.batches: [8, 39] was given");
    expect(refused({}, { "input.test": ids([13], 0) })).toContain("input.test: [13] was given");
    expect(refused({}, { "input.test": ids([2, 0], 0) })).toContain("input.test: [2, 0] was given");
  });
});
