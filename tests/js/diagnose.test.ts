// SPDX-License-Identifier: MIT
// The convention doctor: what a plain implementation with one deliberate mistake gives is named by the mistake, and what
// it gives without one passes.

import { describe, expect, it } from "vitest";
import { type Diagnosis, PosLabError, type TensorToWrite } from "../../bindings/js/index.js";
import {
  attention,
  at,
  bucket,
  type NaiveAttention,
  type NaiveRope,
  noise,
  rotate,
  type Rows,
  rows,
  slopes,
} from "./naive.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();

type Tensors = Record<string, TensorToWrite>;
const input = ({ data, shape }: Rows): TensorToWrite => ({ data: Float32Array.from(data), shape });
const ids = (values: readonly number[]): TensorToWrite => ({
  data: BigInt64Array.from(values, BigInt),
  shape: [values.length],
});

/** One mistake: the case as it should be, what a wrong implementation gives, and what must be said about it. */
interface Mistake {
  name: string;
  case: Record<string, unknown>;
  tensors?: Tensors;
  right: Tensors;
  wrong: Tensors;
  says: string;
}

// ------------------------------------------------------------------------------------------------ rotations

const x = noise([2, 5, 16], 1);
const positions = [0, 1, 7, 300, 4097];

function rotation(
  name: string,
  says: string,
  position: object,
  right: NaiveRope,
  wrong: NaiveRope,
  wrongIds = positions,
): Mistake {
  return {
    name,
    says,
    case: { op: "rotate", position: { type: "rope", ...position } },
    tensors: { "input.x": input(x), "input.positions": ids(positions) },
    right: { "expected.x": rotate(x, positions, right) },
    wrong: { "expected.x": rotate(x, wrongIds, wrong) },
  };
}

const linear = { scaling: { ropeType: "linear", factor: 4 } };
const slower = (factor: number) => (pair: number) => 10000 ** ((-2 * pair) / 16) / factor;

// ------------------------------------------------------------------------------------------------ attention

const query = noise([4, 6, 8], 2);
const key = noise([2, 9, 8], 3);
const value = noise([2, 9, 8], 4);
const keyMask = [1, 1, 0, 1, 1, 1, 0, 1, 1];

function call(
  name: string,
  says: string,
  fields: Record<string, unknown>,
  right: NaiveAttention,
  wrong: NaiveAttention,
  more: Tensors = {},
): Mistake {
  return {
    name,
    says,
    case: { op: "attention", position: { type: "none" }, ...fields },
    tensors: { "input.query": input(query), "input.key": input(key), "input.value": input(value), ...more },
    right: { "expected.output": attention(query, key, value, right) },
    wrong: { "expected.output": attention(query, key, value, wrong) },
  };
}

const linearBias =
  (all: readonly number[], form: (distance: number) => number = (distance) => -Math.abs(distance)) =>
  (head: number, i: number, j: number, start: number): number =>
    all[head]! * form(j - i - start);
const t5Table = noise([32, 4], 5);
const t5Bias =
  (change: (distance: number) => number = (distance) => distance, factor = 1, bidirectional = true) =>
  (head: number, i: number, j: number, start: number): number =>
    factor * at(t5Table, bucket(change(j - i - start), bidirectional, 32, 128), head);
const t5 = { position: { type: "t5", bidirectional: true }, scale: 1 };
const table: Tensors = { "position.table": input(t5Table) };
const causal = { mask: { causal: true } };

// ------------------------------------------------------------------------------------------------ tables and biases

const sinusoid = (length: number, dim: number, cell: (position: number, column: number) => number): Tensors => ({
  "expected.table": rows([length, dim], cell),
});
const wave = (position: number, frequency: number, isCosine: boolean): number =>
  isCosine ? Math.cos(position * frequency) : Math.sin(position * frequency);
const interleaved = (position: number, column: number): number =>
  wave(position, 10000 ** ((-2 * (column >> 1)) / 8), column % 2 === 1);
const sinusoidal = { op: "table", position: { type: "sinusoidal" }, length: 7, dim: 8 };
const alibi = { op: "bias", position: { type: "alibi" }, heads: 6, queryLength: 5, keyLength: 5 };
const biasOf = (bias: (head: number, i: number, j: number) => number): Tensors => ({
  "expected.bias": rows([6, 5, 5], bias),
});
const rightBias = biasOf((head, i, j) => -slopes(6)[head]! * Math.abs(i - j));
const learned = noise([12, 4], 6);
const lookUp = (offset: number): Tensors => ({
  "expected.table": rows([6, 4], (row, column) => at(learned, row + offset, column)),
});
const distances = [-200, -91, -64, -17, -5, 0, 3, 9, 40, 150];
const bucketsOf = (change: (distance: number) => number, bidirectional: boolean, maxDistance = 128): Tensors => ({
  "expected.buckets": ids(distances.map((distance) => bucket(change(distance), bidirectional, 32, maxDistance))),
});

const mistakes: readonly Mistake[] = [
  rotation("the other lanes pair", "layout: interleaved", {}, {}, { interleaved: true }),
  rotation("lanes pair in halves", "layout: half", { layout: "interleaved" }, { interleaved: true }, {}),
  rotation("theta is left at 10000", "theta: 10000", { theta: 500000 }, { theta: 500000 }, {}),
  rotation("the rotation runs backwards", "rotations by minus the position", {}, {}, { sign: -1 }),
  rotation("the scaling is forgotten", "no scaling", linear, { frequency: slower(4) }, {}),
  rotation(
    "the scaling is applied twice",
    "the factor applied twice",
    linear,
    { frequency: slower(4) },
    { frequency: slower(16) },
  ),
  rotation(
    "positions are multiplied by the factor",
    "the factor turned over",
    linear,
    { frequency: slower(4) },
    { frequency: slower(0.25) },
  ),
  rotation("the whole head turns", "rotaryDim: the whole head", { rotaryDim: 8 }, { rotaryDim: 8 }, {}),
  rotation(
    "the exponent is over the head",
    "exponents over the head's width",
    { rotaryDim: 8 },
    { rotaryDim: 8 },
    { rotaryDim: 8, denominator: 16 },
  ),
  rotation(
    "the last lanes turn",
    "the last rotaryDim lanes",
    { rotaryDim: 8 },
    { rotaryDim: 8 },
    { rotaryDim: 8, first: 8 },
  ),
  rotation(
    "positions count from 1",
    "positions counted from 1",
    {},
    {},
    {},
    positions.map((id) => id + 1),
  ),
  rotation("positions are bfloat16", "position ids rounded to bfloat16", {}, {}, {}, [0, 1, 7, 300, 4096]),
  rotation(
    "two mistakes at once",
    "layout: interleaved together with theta: 10000",
    { theta: 500000 },
    { theta: 500000 },
    { interleaved: true },
  ),

  call("the scale is missing", "scale: 1", causal, { causal: true }, { causal: true, scale: 1 }),
  call("queries are scaled twice", "scale: 1/D (scaled twice)", {}, {}, { scale: 1 / 8 }),
  call(
    "the mask begins at the top left",
    "alignment: top-left",
    causal,
    { causal: true },
    { causal: true, topLeft: true },
  ),
  call("the mask is not causal", "causal: false", causal, { causal: true }, {}),
  call(
    "the window sees one more",
    "window: 4",
    { mask: { causal: true, window: 3 } },
    { causal: true, window: 3 },
    { causal: true, window: 4 },
  ),
  call(
    "the key mask is turned over",
    "keyMask with 1 for hidden",
    {},
    { keyMask },
    { keyMask: keyMask.map((bit) => 1 - bit) },
    { "input.keyMask": ids(keyMask) },
  ),
  call("padding is seen", "keyMask not used", {}, { keyMask }, {}, { "input.keyMask": ids(keyMask) }),
  call("key heads are dealt out in turn", "key heads dealt out in turn", {}, {}, { keyHead: (head) => head % 2 }),
  call(
    "the bias is scaled together with q k",
    "the bias scaled together with q k",
    { position: { type: "alibi" }, ...causal },
    { causal: true, bias: linearBias(slopes(4)) },
    { causal: true, bias: linearBias(slopes(4).map((slope) => slope / 8 ** 0.5)) },
  ),
  call("T5 is scaled", "scale: 1/sqrt(D)", t5, { scale: 1, bias: t5Bias() }, { bias: t5Bias() }, table),
  call(
    "T5's distances are i - j",
    "distances of the other sign",
    t5,
    { scale: 1, bias: t5Bias() },
    { scale: 1, bias: t5Bias((distance) => -distance) },
    table,
  ),
  call(
    "T5's encoder has the decoder's buckets",
    "bidirectional: false",
    t5,
    { scale: 1, bias: t5Bias() },
    { scale: 1, bias: t5Bias(undefined, 1, false) },
    table,
  ),

  {
    name: "sines stand before cosines",
    says: "layout: concatenated",
    case: sinusoidal,
    right: sinusoid(7, 8, interleaved),
    wrong: sinusoid(7, 8, (p, c) => wave(p, 10000 ** ((-2 * (c % 4)) / 8), c >= 4)),
  },
  {
    name: "the table is fairseq's",
    says: "layout and denominator of tensor2tensor",
    case: sinusoidal,
    right: sinusoid(7, 8, interleaved),
    wrong: sinusoid(7, 8, (p, c) => wave(p, 10000 ** (-(c % 4) / 3), c >= 4)),
  },
  {
    name: "cosine comes first",
    says: "cosine before sine",
    case: sinusoidal,
    right: sinusoid(7, 8, interleaved),
    wrong: sinusoid(7, 8, (p, c) => interleaved(p, c ^ 1)),
  },
  {
    name: "the first row is padding",
    says: "offset: 2",
    case: { op: "table", position: { type: "learned" }, length: 6, dim: 4 },
    tensors: { "position.table": input(learned) },
    right: lookUp(0),
    wrong: lookUp(2),
  },
  {
    name: "slopes of six heads are one series",
    says: "slopes: 2^(-8h/H)",
    case: alibi,
    right: rightBias,
    wrong: biasOf((head, i, j) => -(2 ** ((-8 * (head + 1)) / 6)) * Math.abs(i - j)),
  },
  {
    name: "the bias is added with the wrong sign",
    says: "the other sign",
    case: alibi,
    right: rightBias,
    wrong: biasOf((head, i, j) => slopes(6)[head]! * Math.abs(i - j)),
  },
  {
    name: "the bias goes by the key's index",
    says: "slope times the key's index",
    case: alibi,
    right: rightBias,
    wrong: biasOf((head, _, j) => slopes(6)[head]! * j),
  },
  {
    name: "buckets are by i - j",
    says: "distances i - j",
    case: { op: "buckets", position: { type: "t5", bidirectional: true } },
    tensors: { "input.distances": ids(distances) },
    right: bucketsOf((distance) => distance, true),
    wrong: bucketsOf((distance) => -distance, true),
  },
  {
    name: "the largest distance is 128",
    says: "maxDistance: 128",
    case: { op: "buckets", position: { type: "t5", bidirectional: true, maxDistance: 256 } },
    tensors: { "input.distances": ids(distances) },
    right: bucketsOf((distance) => distance, true, 256),
    wrong: bucketsOf((distance) => distance, true),
  },
  {
    name: "yarn's range is not truncated",
    says: "truncate: false",
    case: {
      op: "frequencies",
      headDim: 64,
      position: {
        type: "rope",
        theta: 150000,
        scaling: { ropeType: "yarn", factor: 32, originalMaxPositionEmbeddings: 4096, truncate: true },
      },
    },
    right: { "expected.inverseFrequencies": yarn(8, 18) },
    // 64 ln(4096 / (2 pi beta)) / (2 ln 150000) for beta 32 and 1
    wrong: { "expected.inverseFrequencies": yarn(8.092779115512402, 17.39802450158856) },
  },
];

/** r = 64, theta 150000, factor 32, a ramp from `low` to `high`. */
function yarn(low: number, high: number): Rows {
  return rows([32], (pair) => {
    const frequency = 150000 ** (-pair / 32);
    const ramp = Math.min(1, Math.max(0, (pair - low) / (high - low)));
    return frequency * (1 - ramp) + (frequency / 32) * ramp;
  });
}

async function run({ name, case: fields, tensors = {} }: Mistake, expected: Tensors): Promise<Diagnosis> {
  const description = { name, tolerance: { absolute: 2e-5, relative: 2e-5 }, ...fields };
  return lab.diagnose({ case: description, tensors: { ...tensors, ...expected } });
}

describe("a mistake is named", () => {
  it.each(mistakes)("$name", async (mistake) => {
    expect(await run(mistake, mistake.right)).toMatchObject({ passed: true, matches: [], message: "" });
    const { passed, matches, message } = await run(mistake, mistake.wrong);
    expect(passed).toBe(false);
    expect(message).toContain("; matches ");
    // The first thing that is named is the mistake.
    expect(matches[0]!.join(" together with ")).toContain(mistake.says);
  });

  it("and there are enough of them", () => expect(mistakes.length).toBeGreaterThanOrEqual(20));

  it("nothing is named where nothing fits", async () => {
    const [first] = mistakes as [Mistake];
    const { passed, matches, message } = await run(first, { "expected.x": noise([2, 5, 16], 99) });
    expect({ passed, matches }).toEqual({ passed: false, matches: [] });
    expect(message).not.toContain("matches");
  });

  it("what is no case is refused", async () => {
    await expect(lab.diagnose(new Uint8Array([1]))).rejects.toThrow(PosLabError);
    await expect(lab.diagnose({ case: {}, tensors: {} })).rejects.toThrow(/not a case/);
  });
});
