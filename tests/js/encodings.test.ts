// SPDX-License-Identifier: MIT
// What the functions about encodings give, against published numbers and double-precision formulas, and how they
// refuse.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Position, PosLabError, type Tensor } from "../../bindings/js/index.js";
import { failure, sharedLab } from "./lab.js";

const lab = await sharedLab();
const at = ({ data, shape }: Tensor, ...index: number[]): number =>
  data[index.reduce((offset, i, axis) => offset * shape[axis]! + i, 0)]!;

describe("info", () => {
  it("names version, variant and every scheme with its hooks", () => {
    expect(lab.info.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(lab.info.variant).toBe("simd");
    const hooks = Object.fromEntries(lab.info.schemes.map((scheme) => [scheme.type, scheme.hooks]));
    expect(hooks).toMatchObject({
      none: [],
      sinusoidal: ["embedding"],
      learned: ["embedding"],
      rope: ["rotation"],
      alibi: ["score"],
      shaw: ["score", "value"],
    });
  });
});

describe("start parameters", () => {
  it("complete any scheme, the same for the same seed", () => {
    for (const { type } of lab.info.schemes) {
      const position = { type } as Position;
      const sizes = { heads: 2, headDim: 8, dim: 16, length: 8 };
      const tensors = lab.startParameters(position, sizes);
      expect(lab.startParameters(position, { ...sizes, seed: 1 })).toEqual(tensors);
      for (const { data, shape } of Object.values(tensors))
        expect(data.length).toBe(shape.reduce((product, extent) => product * extent, 1));
      const zeros = { data: new Float32Array(2 * 8 * 8), shape: [2, 8, 8] };
      // Alone, attention takes the gates themselves, which a model makes with these tensors.
      const gated = "gateWeight" in tensors;
      const call = {
        query: zeros,
        key: zeros,
        value: zeros,
        position: (gated ? position : { ...position, ...tensors }) as Position,
        ...(gated ? { gates: { data: new Float32Array(2 * 8), shape: [2, 8] } } : {}),
      };
      if (!lab.info.schemes.find((scheme) => scheme.type === type)!.hooks.includes("embedding"))
        expect(lab.attention(call).output.shape, type).toEqual([2, 8, 8]);
    }
    const seeds = [1, 2].map((seed) => lab.startParameters({ type: "t5" }, { heads: 1, seed }).table!.data[3]);
    expect(seeds[0]).not.toBe(seeds[1]);
  });

  it("say what is missing or wrong", () => {
    expect(failure(() => lab.startParameters({ type: "t5" })).message).toMatch(/heads/);
    expect(failure(() => lab.startParameters({ type: "t5" }, { heads: 1.5 })).argument).toBe("heads");
    expect(failure(() => lab.startParameters({ type: "t5", buckets: 1 }, { heads: 2 })).argument).toMatch(/buckets/);
  });
});

describe("tables", () => {
  it("are the sinusoids of Vaswani et al. at any start", () => {
    const table = lab.table({ type: "sinusoidal" }, { length: 4, dim: 6, start: 100_000 });
    expect(table.shape).toEqual([4, 6]);
    for (let n = 0; n < 4; n += 1) {
      for (let c = 0; c < 6; c += 1) {
        const angle = (100_000 + n) / 10000 ** ((2 * Math.floor(c / 2)) / 6);
        expect(at(table, n, c)).toBeCloseTo(c % 2 ? Math.cos(angle) : Math.sin(angle), 7);
      }
    }
  });

  it("come from learned rows given as nested arrays, and are not defined past them", () => {
    const table = [
      [1, 2],
      [3, 4],
      [5, 6],
    ];
    expect([...lab.table({ type: "learned", table }, { length: 2, dim: 2, start: 1 }).data]).toEqual([3, 4, 5, 6]);
    const error = failure(() => lab.table({ type: "learned", table }, { length: 3, dim: 2, start: 1 }));
    expect(error.code).toBe("notDefined");
    expect(error.message).toContain("3");
  });

  it("of no columns are empty, whatever width the scheme's own tables have", () => {
    const tables = { rows: [[1, 2, 3, 4]], columns: [[1, 2, 3, 4]] };
    const position: Position = { type: "axial-learned", gridHeight: 1, gridWidth: 1, ...tables };
    expect(lab.table(position, { length: 1, dim: 0 })).toMatchObject({ shape: [1, 0] });
  });

  it("of length 0 and of one row work", () => {
    expect(lab.table({ type: "sinusoidal" }, { length: 0, dim: 8 })).toEqual({
      data: new Float32Array(),
      shape: [0, 8],
    });
    expect([...lab.table({ type: "sinusoidal" }, { length: 1, dim: 2 }).data]).toEqual([0, 1]);
  });
});

describe("rotations", () => {
  it("turn [1, 2, 3, 4] at position 1 as both layouts do", () => {
    const x = { data: new Float32Array([1, 2, 3, 4]), shape: [1, 1, 4] };
    const rotated = (layout: "half" | "interleaved"): number[] => [
      ...lab.rotate(x, { type: "rope", layout }, { positions: [1] }).data,
    ];
    const near = (values: number[], expected: number[]): void =>
      values.forEach((value, index) => expect(value).toBeCloseTo(expected[index]!, 5));
    near(rotated("interleaved"), [-1.14264, 1.922076, 2.959851, 4.0298]);
    near(rotated("half"), [-1.984111, 1.959901, 2.462378, 4.0198]);
  });

  it("keep float32 angles right far out", () => {
    const x = { data: new Float32Array(32).fill(0), shape: [1, 1, 32] };
    x.data[1] = 1;
    const { data } = lab.rotate(x, { type: "rope" }, { start: 1857 });
    expect(data[1]).toBeCloseTo(Math.cos(1857 * 10000 ** (-1 / 16)), 6); // half precision gives -0.408
  });

  it("leave the input as it was", () => {
    const x = { data: new Float32Array([1, 2]), shape: [1, 1, 2] };
    lab.rotate(x, { type: "rope" }, { start: 3 });
    expect([...x.data]).toEqual([1, 2]);
  });

  it.each<[Position, string]>([
    [{ type: "rope", rotaryDim: 5 }, "position.rotaryDim: 5 was given; an even number"],
    [{ type: "rope", rotaryDim: 16 }, "position.rotaryDim: 16 was given"],
    [{ type: "rope", theta: NaN }, "position.theta: NaN was given"],
    [{ type: "rope", thetta: 3 } as unknown as Position, "position.thetta"],
    [{ type: "rope", layout: "third" } as unknown as Position, "position.layout"],
    [{ type: "rope", scaling: { ropeType: "yarnn" } } as unknown as Position, "position.scaling.ropeType"],
    [{ type: "alibi" }, "rotates"],
  ])("refuse %j and say why", (position, message) => {
    expect(failure(() => lab.rotate({ data: new Float32Array(16), shape: [1, 2, 8] }, position)).message).toContain(
      message,
    );
  });
});

describe("frequencies", () => {
  it("of dynamic NTK follow the running length and stay below it", () => {
    const position: Position = {
      type: "rope",
      maxPositionEmbeddings: 2048,
      scaling: { ropeType: "dynamic", factor: 2 },
    };
    const base = (length: number): number =>
      lab.frequencies(position, { headDim: 128, length }).inverseFrequencies[1]! ** -64;
    expect(base(2048)).toBeCloseTo(10000, 6);
    expect(base(2049)).toBeCloseTo(10009.9207, 3);
    expect(base(8192)).toBeCloseTo(72195.8601, 3);
  });

  const learned = { type: "rope", learnedFrequencies: true } as const;

  it.each([{ data: new Float32Array([0.5, 3]), shape: [2] }, [0.5, 3]])(
    "that are learned are multiplied by their factors, and turn as they say (%j)",
    (frequencyFactors) => {
      const position: Position = { ...learned, frequencyFactors };
      const { inverseFrequencies } = lab.frequencies(position, { headDim: 4 });
      expect(inverseFrequencies[0]).toBeCloseTo(0.5, 12);
      expect(inverseFrequencies[1]).toBeCloseTo(0.03, 12);
      const { data } = lab.rotate([[[1, 0, 0, 0]]], position, { start: 2 });
      expect(data[0]).toBeCloseTo(Math.cos(1), 6);
      expect(data[2]).toBeCloseTo(Math.sin(1), 6);
    },
  );

  it("that are learned start as they are without learning", () => {
    expect(lab.frequencies(learned, { headDim: 4 })).toEqual(lab.frequencies({ type: "rope" }, { headDim: 4 }));
  });

  it.each<[Position, number, string]>([
    [{ type: "rope" }, 0, "headDim: 0 was given; 1 to 1048576 lanes"],
    [{ ...learned, frequencyFactors: [1, 2, 3] }, 4, 'position.frequencyFactors: "[3]" was given; shape [2]'],
    [{ type: "rope", sections: [1, 2, 3] }, 16, "position.sections: 6 was given; in all as many pairs as turn, 8"],
  ])("of %j for a head of %i are refused", (position, headDim, message) => {
    expect(failure(() => lab.frequencies(position, { headDim })).message).toContain(message);
  });
});

describe("slopes, buckets and biases", () => {
  it("of ALiBi are the authors' for heads that are no power of two", () => {
    expect([...lab.slopes({ type: "alibi" }, { heads: 3 })]).toEqual([0.0625, 0.00390625, 0.25]);
    const slopes = lab.slopes({ type: "alibi" }, { heads: 40 });
    expect([slopes[0], slopes[32], slopes[39]].map((slope) => slope!.toFixed(7))).toEqual([
      "0.8408964",
      "0.9170040",
      "0.2726269",
    ]);
  });

  it("take slopes of the caller's own", () => {
    const bias = lab.bias({ type: "alibi", slopes: [0.5, 2] }, { heads: 2, queryLength: 1, keyLength: 3 });
    expect([...bias.data].map((value) => value + 0)).toEqual([-1, -0.5, 0, -4, -2, 0]);
  });

  it("of T5 clamp, halve and have exact edges", () => {
    const both = lab.buckets({ type: "t5", bidirectional: true }, [-64, -90, -91, -200, 200]);
    expect([...both]).toEqual([14, 14, 15, 15, 31]);
    expect([...lab.buckets({ type: "t5" }, [-112, -113, -1000, 5])]).toEqual([30, 31, 31, 0]);
    expect([...lab.buckets({ type: "t5" }, new BigInt64Array([-(2n ** 62n)]))]).toEqual([31]);
  });

  it("of KERPLE take flat lists as learnable tensors", () => {
    const { data } = lab.bias({ type: "kerple", r1: [2], r2: [0.5] }, { heads: 1, queryLength: 1, keyLength: 3 });
    expect(data[0]).toBeCloseTo(-2 * Math.log1p(0.5 * 2), 6);
    expect(data[2]).toBeCloseTo(0, 12);
  });

  it.each<Position>([
    { type: "shaw", maxDistance: 3 },
    { type: "transformer-xl" },
    { type: "cope" },
    { type: "deberta" },
    { type: "pope" },
    { type: "rope", learnedFrequencies: true },
    { type: "sinusoidal", scaled: true },
  ])("are not to be had of what needs more than positions (%j)", (position) => {
    const sizes = { heads: 2, headDim: 4, dim: 8, length: 4 };
    const complete = { ...position, ...lab.startParameters(position, sizes) };
    expect(failure(() => lab.bias(complete, { heads: 2, queryLength: 4, keyLength: 4 })).message).toContain(
      `position: "${position.type}" was given; a scheme with a bias of head and positions alone`,
    );
  });

  it("go by given positions", () => {
    const { data } = lab.bias(
      { type: "alibi", slopes: [1] },
      { heads: 1, queryLength: 1, keyLength: 2, queryPositions: [100], keyPositions: [90n, 400n].map(Number) },
    );
    expect([...data]).toEqual([-10, -300]);
  });
});

describe("errors", () => {
  it("name the nearest scheme", () => {
    const error = failure(() => lab.slopes({ type: "alibbi" } as unknown as Position, { heads: 8 }));
    expect(error).toMatchObject({ code: "unknownName", suggestion: "alibi" });
    expect(error.message).toContain('did you mean "alibi"?');
  });

  it.each<[string, () => unknown, string]>([
    ["a missing option", () => lab.table({ type: "sinusoidal" }, { length: 3 } as never), "dim is missing"],
    [
      "a misspelt option",
      () => lab.table({ type: "sinusoidal" }, { length: 3, dims: 4 } as never),
      'dims is not known; did you mean "dim"?',
    ],
    [
      "a size that is no number",
      () => lab.table({ type: "sinusoidal" }, { length: NaN, dim: 4 }),
      "length: NaN was given",
    ],
    ["a negative size", () => lab.table({ type: "sinusoidal" }, { length: -1, dim: 4 }), "length: -1 was given"],
    ["a fraction as size", () => lab.slopes({ type: "alibi" }, { heads: 1.5 }), "heads: 1.5 was given; a whole number"],
    [
      "a scheme that is no object",
      () => lab.slopes("alibi" as never, { heads: 1 }),
      'position: "alibi" was given; a scheme object',
    ],
    ["a scheme without a type", () => lab.slopes({} as never, { heads: 1 }), "position.type is missing"],
    [
      "a tensor of another shape",
      () => lab.rotate({ data: new Float32Array(8), shape: [2, 4] }, { type: "rope" }),
      "x: [2, 4] was given; a tensor [heads, length, headDim]",
    ],
    [
      "data that do not fill the shape",
      () => lab.rotate({ data: new Float32Array(7), shape: [1, 2, 4] }, { type: "rope" }),
      "x.data: 7 was given; 8 numbers for the shape [1, 2, 4]",
    ],
    [
      "an empty object in the place of a field",
      () => lab.rotate({ data: new Float32Array(8), shape: [1, 2, 4] }, { type: "rope", scaling: {} } as never),
      "position.scaling: an object was given; an object with fields is allowed",
    ],
    [
      "a field that the scaling does not use",
      () =>
        lab.rotate(
          { data: new Float32Array(8), shape: [1, 2, 4] },
          { type: "rope", scaling: { ropeType: "ntk", factor: 2, betaFast: 16 } },
        ),
      "position.scaling.betaFast: 16 was given; left out or beside a ropeType that uses it (yarn) is allowed",
    ],
    ["ragged nested arrays", () => lab.rotate([[[1, 2], [3]]], { type: "rope" }), "x[0][1]: 1 was given; 2 entries"],
    [
      "a text among numbers",
      () => lab.rotate([[[1, "2"]]] as never, { type: "rope" }),
      'x[0][0][1]: "2" was given; a number',
    ],
    [
      "positions of another length",
      () => lab.rotate([[[1, 2]]], { type: "rope" }, { positions: [1, 2] }),
      "positions: 2 was given; a list of 1 ids",
    ],
    [
      "a fraction among positions",
      () => lab.rotate([[[1, 2]]], { type: "rope" }, { positions: [0.5] }),
      "positions[0]: 0.5 was given; a whole number",
    ],
    [
      "a tensor that the scheme does not have",
      () => lab.bias({ type: "alibi", table: [[1]] } as never, { heads: 1, queryLength: 1, keyLength: 1 }),
      "position.table",
    ],
    [
      "a table of another shape",
      () => lab.bias({ type: "t5", table: [[1]] }, { heads: 1, queryLength: 1, keyLength: 1 }),
      "position.table",
    ],
    [
      "a missing table",
      () => lab.bias({ type: "t5" }, { heads: 1, queryLength: 1, keyLength: 1 }),
      "position.table is missing",
    ],
  ])("name %s", (_, call, message) => {
    expect(failure(call).message).toContain(message);
  });

  it("are all that comes of nonsense: scheme objects with anything in them", () => {
    const types = lab.info.schemes.map(({ type }) => type);
    const fields = [
      "theta",
      "base",
      "slopes",
      "table",
      "keys",
      "r1",
      "r2",
      "scaling",
      "buckets",
      "maxDistance",
      "layout",
    ];
    const value = fc.oneof(
      fc.double(),
      fc.string(),
      fc.boolean(),
      fc.array(fc.double(), { maxLength: 3 }),
      fc.array(fc.array(fc.double(), { maxLength: 3 }), { maxLength: 3 }),
      fc.record({ ropeType: fc.constantFrom("ntk", "yarn", "longrope", "x"), factor: fc.double() }),
      fc.constant(null),
    );
    const scheme = fc
      .tuple(
        fc.constantFrom(...types),
        fc.dictionary(fc.oneof(fc.constantFrom(...fields), fc.string()), value, { maxKeys: 3 }),
      )
      .map(([type, rest]) => ({ ...rest, type }) as unknown as Position);
    const x = { data: Float32Array.from({ length: 16 }, (_, index) => index), shape: [2, 2, 4] };
    fc.assert(
      fc.property(scheme, (position) => {
        for (const call of [
          () => lab.table(position, { length: 2, dim: 4 }),
          () => lab.rotate(x, position),
          () => lab.bias(position, { heads: 2, queryLength: 2, keyLength: 3 }),
          () => lab.attention({ query: x, key: x, value: x, position }),
        ]) {
          try {
            call();
          } catch (error) {
            expect(error).toBeInstanceOf(PosLabError);
          }
        }
      }),
      { numRuns: 300 },
    );
    let deep: unknown = 1;
    for (let n = 0; n < 50_000; n += 1) deep = { deep };
    expect(failure(() => lab.rotate(x, { type: "rope", scaling: deep } as never)).code).toBe("format");
  });

  it("say how many bytes were asked for when memory cannot be had, and the module lives on", () => {
    const error = failure(() => lab.bias({ type: "alibi" }, { heads: 12, queryLength: 9459, keyLength: 9459 }));
    expect(error.code).toBe("memory");
    expect(error.message).toContain("4,294,688,688 bytes were asked for");
    expect(failure(() => lab.table({ type: "sinusoidal" }, { length: 2 ** 40, dim: 2 ** 40 })).code).toBe("memory");
    expect(lab.table({ type: "sinusoidal" }, { length: 1, dim: 2 }).data).toHaveLength(2);
  });
});
