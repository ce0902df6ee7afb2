// SPDX-License-Identifier: MIT
// Attention through the package: shapes, masks, positions, what is asked for and what is not, gradients, refusals.

import { describe, expect, it } from "vitest";
import { type AttentionOptions, type Position, PosLabError, type Tensor } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();
const tensor = (shape: number[], seed = 1): Tensor => ({
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, index) => Math.sin(seed + 1.7 * index)),
  shape,
});
const causal = { causal: true };

/** softmax(scale q k + bias) v for one head in double, the plain way. */
function plainAttention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  score: (i: number, j: number) => number,
): number[][] {
  const [, queries = 0, dim = 0] = query.shape;
  const [, keys = 0, width = 0] = value.shape;
  return Array.from({ length: queries }, (_, i) => {
    const logits = Array.from({ length: keys }, (__, j) => {
      let dot = 0;
      for (let c = 0; c < dim; c += 1) dot += query.data[i * dim + c]! * key.data[j * dim + c]!;
      return dot / Math.sqrt(dim) + score(i, j);
    });
    const largest = Math.max(...logits);
    const weights = logits.map((logit) => Math.exp(logit - largest));
    const sum = weights.reduce((a, b) => a + b, 0);
    return Array.from({ length: width }, (__, c) =>
      weights.reduce((total, weight, j) => total + (weight / sum) * value.data[j * width + c]!, 0),
    );
  });
}

describe("attention", () => {
  it("is the softmax of scaled products plus the bias, whatever the lengths", () => {
    for (const [queries, keys] of [
      [1, 1],
      [3, 7],
      [5, 33],
      [2, 130],
    ] as const) {
      const [query, key, value] = [tensor([1, queries, 8]), tensor([1, keys, 8], 2), tensor([1, keys, 6], 3)];
      const { output } = lab.attention({
        query,
        key,
        value,
        position: { type: "alibi", slopes: [0.25] },
        mask: causal,
      });
      const shift = keys - queries;
      const expected = plainAttention(query, key, value, (i, j) =>
        j > i + shift ? -Infinity : -0.25 * Math.abs(i + shift - j),
      );
      expected.flat().forEach((wanted, index) => expect(output.data[index]).toBeCloseTo(wanted, 5));
      expect(output.shape).toEqual([1, queries, 6]);
    }
  });

  it("gives weights, scores and log-sum-exp only when asked", () => {
    const call = { query: tensor([2, 3, 4]), key: tensor([1, 5, 4]), value: tensor([1, 5, 4]), mask: causal };
    expect(Object.keys(lab.attention(call))).toEqual(["output"]);
    const { weights, scores, logSumExp } = lab.attention({ ...call, weights: true, scores: true, logSumExp: true });
    expect([weights!.shape, scores!.shape, logSumExp!.shape]).toEqual([
      [2, 3, 5],
      [2, 3, 5],
      [2, 3],
    ]);
    for (let row = 0; row < 6; row += 1) {
      const sum = weights!.data.subarray(row * 5, row * 5 + 5).reduce((a, b) => a + b, 0);
      expect(sum).toBeCloseTo(1, 6);
      for (let j = 0; j < 5; j += 1)
        expect(weights!.data[row * 5 + j]).toBeCloseTo(Math.exp(scores!.data[row * 5 + j]! - logSumExp!.data[row]!), 5);
    }
    expect(scores!.data[3]).toBe(-Infinity);
    expect(weights!.data[3]).toBe(0);
  });

  it("sees 1, 2, 3, 3, 3 keys with a window of 3, only itself with 1, and everything with a wide one", () => {
    const visible = (mask: AttentionOptions["mask"] & object): number[] => {
      const { weights } = lab.attention({
        query: tensor([1, 5, 4]),
        key: tensor([1, 5, 4]),
        value: tensor([1, 5, 4]),
        mask,
        weights: true,
      });
      return Array.from(
        { length: 5 },
        (_, row) => weights!.data.subarray(row * 5, row * 5 + 5).filter((weight) => weight > 0).length,
      );
    };
    expect(visible({ causal: true, window: 3 })).toEqual([1, 2, 3, 3, 3]);
    expect(visible({ causal: true, window: 1 })).toEqual([1, 1, 1, 1, 1]);
    expect(visible({ causal: true, window: 50 })).toEqual(visible({ causal: true }));
    expect(visible({ causal: true, alignment: "top-left" })).toEqual([1, 2, 3, 4, 5]);
  });

  it("gives zeros, never NaN, where no key is seen: all hidden, no keys, more queries than keys", () => {
    const query = tensor([1, 2, 4]);
    const hidden = lab.attention({
      query,
      key: tensor([1, 2, 4]),
      value: tensor([1, 2, 4]),
      keyMask: [0, 0],
      logSumExp: true,
    });
    expect([...hidden.output.data]).toEqual(new Array(8).fill(0));
    expect([...hidden.logSumExp!.data]).toEqual([-Infinity, -Infinity]);
    const none = lab.attention({ query, key: { data: [], shape: [1, 0, 4] }, value: { data: [], shape: [1, 0, 4] } });
    expect([...none.output.data]).toEqual(new Array(8).fill(0));
    const more = lab.attention({
      query: tensor([1, 5, 4]),
      key: tensor([1, 2, 4]),
      value: tensor([1, 2, 4]),
      mask: causal,
    });
    expect([...more.output.data.subarray(0, 12)]).toEqual(new Array(12).fill(0));
    expect(
      lab.attention({ query: { data: [], shape: [1, 0, 4] }, key: tensor([1, 2, 4]), value: tensor([1, 2, 4]) }).output
        .shape,
    ).toEqual([1, 0, 4]);
  });

  it("never looks at hidden keys and values", () => {
    const poisoned = (shape: number[]): Tensor => {
      const made = tensor(shape);
      made.data.fill(NaN, 4, 8);
      return made;
    };
    const call = { query: tensor([1, 3, 4]), mask: {}, keyMask: [1, 0, 1] };
    const clean = lab.attention({ ...call, key: tensor([1, 3, 4]), value: tensor([1, 3, 4]) });
    expect(lab.attention({ ...call, key: poisoned([1, 3, 4]), value: poisoned([1, 3, 4]) }).output).toEqual(
      clean.output,
    );
  });

  it("does not move with all positions under relative schemes, and follows given ones", () => {
    const call = { query: tensor([2, 4, 8]), key: tensor([2, 4, 8]), value: tensor([2, 4, 8]), mask: causal };
    const ids = [0, 1, 2, 3];
    for (const position of [{ type: "rope" }, { type: "alibi" }, { type: "xpos" }] as Position[]) {
      const near = lab.attention({ ...call, position });
      const far = lab.attention({
        ...call,
        position,
        queryPositions: ids.map((id) => id + 1000),
        keyPositions: new BigInt64Array(ids.map((id) => BigInt(id + 1000))),
      });
      near.output.data.forEach((value, index) => expect(far.output.data[index]).toBeCloseTo(value, 4));
      const spread = lab.attention({
        ...call,
        position,
        queryPositions: ids.map((id) => id * 50),
        keyPositions: ids.map((id) => id * 50),
      });
      expect(spread.output.data).not.toEqual(near.output.data);
    }
  });

  it("at 9,459 places works without the matrix that would not fit", () => {
    const [query, key, value] = [1, 2, 3].map((seed) => tensor([12, 9459, 4], seed)) as [Tensor, Tensor, Tensor];
    const { output } = lab.attention({ query, key, value, position: { type: "alibi" }, mask: causal });
    expect(output.data.every(Number.isFinite)).toBe(true);
    let refused: unknown;
    try {
      lab.attention({ query, key, value, position: { type: "alibi" }, mask: causal, weights: true });
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ code: "memory", argument: "weights" });
    expect((refused as PosLabError).message).toMatch(/4,294,\d{3},\d{3} bytes were asked for/);
    expect(
      lab.attention({ query: tensor([1, 1, 4]), key: tensor([1, 1, 4]), value: tensor([1, 1, 4]) }).output.data,
    ).toHaveLength(4);
  });
});

describe("documents packed into one row", () => {
  const lengths = [5, 12, 1, 9];
  const documents = lengths.flatMap((length, index) => Array<number>(length).fill(index));
  const total = documents.length;
  const [query, key, value] = [tensor([2, total, 8]), tensor([2, total, 8], 2), tensor([2, total, 8], 3)];
  const part = ({ data, shape: [heads = 0, , width = 0] }: Tensor, from: number, length: number): Tensor => ({
    data: Float32Array.from({ length: heads * length * width }, (_, index) => {
      const head = Math.floor(index / (length * width));
      return data[(head * total + from) * width + (index % (length * width))]!;
    }),
    shape: [heads, length, width],
  });

  it.each<Position>([{ type: "rope" }, { type: "alibi" }, { type: "shaw", maxDistance: 2, keys: tensor([5, 8], 4) }])(
    "do not see each other, and with restarted ids give what each gives alone: $type",
    (position) => {
      const positions = lengths.flatMap((length) => Array.from({ length }, (_, index) => index));
      const packed = lab.attention({
        query,
        key,
        value,
        position,
        mask: { causal: true, documents },
        queryPositions: positions,
        keyPositions: positions,
      }).output;
      let from = 0;
      for (const length of lengths) {
        const alone = lab.attention({
          query: part(query, from, length),
          key: part(key, from, length),
          value: part(value, from, length),
          position,
          mask: causal,
        }).output;
        const got = part(packed, from, length).data;
        alone.data.forEach((wanted, index) => expect(got[index]).toBeCloseTo(wanted, 5));
        from += length;
      }
    },
  );

  it("are refused when they are not in order, or not one number a key", () => {
    const call = (given: number[]): unknown =>
      lab.attention({ query, key, value, mask: { causal: true, documents: given } });
    expect(() => call(documents.toReversed())).toThrowError(/mask\.documents/);
    expect(() => call(documents.slice(1))).toThrowError(/mask\.documents/);
    expect(() => call(documents.map((number) => number + 0.5))).toThrowError(/mask\.documents/);
  });
});

describe("a key cache under dynamic NTK", () => {
  const position: Position = {
    type: "rope",
    theta: 10000,
    maxPositionEmbeddings: 2048,
    scaling: { ropeType: "dynamic", factor: 2 },
  };
  const [query, key, value] = [tensor([1, 4097, 128]), tensor([1, 4097, 128], 2), tensor([1, 4097, 2], 3)];
  const rows = ({ data, shape }: Tensor, from: number, to: number): Tensor => ({
    data: data.slice(from * shape[2]!, to * shape[2]!),
    shape: [1, to - from, shape[2]!],
  });
  const step = (length: number, scheme = position): Float32Array =>
    lab.attention({
      query: rows(query, length - 1, length),
      key: rows(key, 0, length),
      value: rows(value, 0, length),
      position: scheme,
      mask: causal,
    }).output.data;

  it.each([1, 512, 2047, 2048, 2049, 3000, 4097])("of %d tokens gives the last row of one pass", (length) => {
    const whole = lab.attention({
      query: rows(query, 0, length),
      key: rows(key, 0, length),
      value: rows(value, 0, length),
      position,
      mask: causal,
    }).output.data;
    expect([...step(length)]).toEqual([...whole.slice(-2)]);
  });

  it("goes back to the plain base for a short text after a long one", () => {
    const plain = step(512, { type: "rope", theta: 10000 });
    expect(step(4097)).not.toEqual(step(4097, { type: "rope", theta: 10000 }));
    expect(step(512)).toEqual(plain);
  });
});

describe("gradients", () => {
  it("agree with differences of the output, the scheme's tensors included", () => {
    const table = tensor([32, 2], 5);
    const call = { query: tensor([2, 3, 4]), key: tensor([1, 4, 4], 2), value: tensor([1, 4, 4], 3), mask: causal };
    const outputGradient = tensor([2, 3, 4], 4);
    const position = { type: "t5" as const, table };
    const gradients = lab.attentionGradients({ ...call, position, outputGradient });
    expect(Object.keys(gradients.position)).toEqual(["table"]);
    const loss = (): number =>
      lab
        .attention({ ...call, position })
        .output.data.reduce((sum, value, index) => sum + value * outputGradient.data[index]!, 0);
    const checked: [Tensor, Tensor][] = [
      [call.query, gradients.query],
      [call.key, gradients.key],
      [call.value, gradients.value],
      [table, gradients.position.table!],
    ];
    for (const [input, gradient] of checked) {
      expect(gradient.shape).toEqual(input.shape);
      for (let index = 0; index < input.data.length; index += 5) {
        const before = input.data[index]!;
        const step = 2 ** -7; // float32 loss: rounding 1e-7 / 2^-6 and curvature 2^-14 both stay below 1e-3
        input.data[index] = before + step;
        const above = loss();
        input.data[index] = before - step;
        const below = loss();
        input.data[index] = before;
        expect((above - below) / (2 * step)).toBeCloseTo(gradient.data[index]!, 2);
      }
    }
  });
});

describe("refusals", () => {
  const good = { query: tensor([2, 3, 8]), key: tensor([2, 3, 8]), value: tensor([2, 3, 8]) };
  it.each<[string, object, string]>([
    ["heads that do not divide", { query: tensor([3, 3, 8]) }, "2"],
    ["another width of keys", { key: tensor([2, 3, 4]) }, "key"],
    ["other numbers of keys and values", { value: tensor([2, 4, 8]) }, "value"],
    ["a mask that is a word", { mask: "causal" }, 'mask: "causal" was given; an object'],
    ["a mask that is a number", { mask: 1 }, "mask: 1 was given; an object"],
    ["a window of 0", { mask: { causal: true, window: 0 } }, "mask.window"],
    ["a window without causal", { mask: { window: 2 } }, "mask.window"],
    ["an unknown alignment", { mask: { alignment: "left" } }, "mask.alignment"],
    ["an unknown mask field", { mask: { casual: true } }, 'mask.casual is not known; did you mean "causal"?'],
    ["a NaN scale", { scale: NaN }, "scale"],
    ["a key mask of another length", { keyMask: [1] }, "keyMask: 1 was given; a list of 3"],
    // pytorch/pytorch #21518: masks to be added say the opposite, and would hide what should be seen
    [
      "a key mask to be added",
      { keyMask: [0, 0, -Infinity] },
      "keyMask[2]: -Infinity was given; 0 (hidden) or 1 (seen)",
    ],
    ["a key mask with a large negative number", { keyMask: [-1e9, 0, 0] }, "keyMask[0]"],
    ["a key mask of words", { keyMask: ["seen", "seen", "hidden"] }, "keyMask[0]"],
    ["a key mask with NaN", { keyMask: [1, NaN, 1] }, "keyMask[1]"],
    ["positions of another length", { keyPositions: [1] }, "keyPositions: 1 was given; a list of 3 ids"],
    ["an embedding scheme", { position: { type: "sinusoidal" } }, "acts on attention"],
    ["an unknown option", { postion: { type: "alibi" } }, 'did you mean "position"?'],
    ["a missing tensor", { key: undefined }, "key is missing"],
    ["an odd rotary dim", { position: { type: "rope", rotaryDim: 3 } }, "position.rotaryDim: 3"],
    [
      "Shaw's vectors of another width",
      { position: { type: "shaw", maxDistance: 1, keys: [[1], [2], [3]] } },
      "position.keys",
    ],
  ])("%s", (_, change, message) => {
    expect(() => lab.attention({ ...good, ...change } as never)).toThrowError(message);
    expect(() => lab.attention({ ...good, ...change } as never)).toThrowError(PosLabError);
  });
});
