// SPDX-License-Identifier: MIT
// What calls take beside their arguments: options that are misspelt or of the wrong type are refused by name, and what a
// caller's own function throws comes back to the caller.

import { describe, expect, it } from "vitest";
import { explainConfig } from "../../bindings/js/config.js";
import { laneOrder } from "../../bindings/js/convert.js";
import { loadPosLab, PosLabError } from "../../bindings/js/index.js";
import { openExperiment, runExperiment } from "../../bindings/js/run.js";
import { failure, sharedLab } from "./lab.js";

const lab = await sharedLab();

const tiny = {
  task: { type: "lookback", distance: 2 },
  model: { dim: 8, heads: 2, layers: 1, feedForward: 8 },
  encodings: [{ type: "alibi" }],
  training: { length: 8, batch: 2, steps: 3 },
  test: { lengths: [8], windows: 2 },
  atTest: [],
};
const x = { data: [1, 2, 3, 4], shape: [1, 1, 4] };
const rope = { type: "rope" } as const;
const call = { query: x, key: x, value: x };

async function refusal(promise: Promise<unknown>): Promise<PosLabError> {
  const error: unknown = await promise.then(
    () => "it was accepted",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PosLabError);
  return error as PosLabError;
}

describe("options", () => {
  it.each<[string, () => unknown, string]>([
    ["null", () => lab.rotate(x, rope, null as never), "options: null was given"],
    ["a number", () => lab.rotate(x, rope, 7 as never), "options: 7 was given"],
    ["nothing where something is needed", () => lab.table({ type: "sinusoidal" }, undefined as never), "options"],
    [
      "a truth that is a text",
      () => lab.attention({ ...call, weights: "false" as never }),
      'weights: "false" was given',
    ],
    ["distances that are null", () => lab.attention({ ...call, distances: null as never }), "distances: null"],
    ["sinks that are a number", () => lab.attention({ ...call, sinks: 5 as never }), "sinks: 5 was given"],
    ["sinks in a text", () => lab.attention({ ...call, sinks: ["1"] as never }), 'sinks[0]: "1" was given'],
    ["gates without a scheme of gates", () => lab.attention({ ...call, gates: [[1]] as never }), "gates:"],
    ["ids without a shape", () => lab.rotate(x, rope, { positions: { data: [1], shape: null } as never }), "positions"],
    ["a running length below 0", () => lab.rotate(x, rope, { length: -1 }), "length: -1 was given"],
    ["a start past what is exact", () => lab.rotate(x, rope, { start: 2 ** 53 }), `up to ${Number.MAX_SAFE_INTEGER}`],
    ["BigInts in a list", () => lab.rotate(x, rope, { positions: [0n] as never }), "0n (a BigInt) was given"],
    ["a unit of text", () => lab.corpus("some text that is long enough", "words" as never), 'task.unit: "words"'],
    ["a text that is a number", () => lab.corpus(5 as never), "task.text: 5 was given"],
    ["an encoding that is not there", () => lab.createRun(tiny as never, 5, 1), "encoding: 5 was given"],
    ["a seed below 0", () => lab.createRun(tiny as never, 0, -1), "seed: -1 was given"],
    ["a corpus of another kind", () => lab.createRun(tiny as never, 0, 1, 5 as never), "corpus: 5 was given"],
    ["an endless head", () => laneOrder("half", 2 ** 31), "headDim: 2147483648 was given"],
  ])("are refused: %s", (_, work, message) => {
    expect(failure(work).message).toContain(message);
  });

  it("are refused where a promise is given", async () => {
    const given = (options: object): Promise<unknown> => lab.experiment(tiny, options);
    expect((await refusal(given({ onrun() {} }))).message).toContain('did you mean "onRun"?');
    expect((await refusal(given({ onProgress: 5 }))).message).toContain("onProgress: 5 was given; a function");
    expect((await refusal(given({ signal: 5 }))).message).toContain("signal: 5 was given; an AbortSignal");
    expect((await refusal(given({ resume: {} }))).argument).toBe("resume");
    const corpora = { mine: 5 };
    const text = { ...tiny, task: { type: "text", corpus: "mine" } };
    expect((await refusal(lab.experiment(text, { corpora } as never))).message).toContain("corpora.mine: 5 was given");
    for (const workers of [0, -1, 1.5, "2"])
      expect((await refusal(runExperiment(tiny, { workers } as never))).argument).toBe("workers");
    expect((await refusal(runExperiment(tiny, { nope: 5 } as never))).message).toContain("nope is not known");
    expect((await refusal(openExperiment(tiny, { onEvent: 5 } as never))).argument).toBe("onEvent");
    expect((await refusal(loadPosLab(5 as never))).message).toContain("options: 5 was given");
    expect((await refusal(lab.exportRotation(rope, { program: "onnx", headDim: 4, length: 2 ** 40 }))).code).toBe(
      "memory",
    );
  });

  it("say of a list that contains itself that it is no tensor", () => {
    const endless: unknown[] = [];
    endless.push(endless);
    expect(failure(() => lab.rotate(endless as never, rope)).message).toContain("at most 8 axes");
  });
});

describe("schemes that cannot do what is asked", () => {
  it("are told apart before their tensors are looked for", () => {
    const table = failure(() => lab.table({ type: "t5" } as never, { length: 2, dim: 4 }));
    expect(table.message).toMatch(
      /position: "t5" was given; a scheme that adds a table to tokens \(sinusoidal, learned/,
    );
    expect(failure(() => lab.rotate(x, { type: "shaw" } as never)).message).toContain("a scheme that rotates (rope");
  });
});

describe("functions of the caller that throw", () => {
  const mine = new Error("mine");
  const thrower = (): never => {
    throw mine;
  };

  it("end lab.experiment with their error", async () => {
    await expect(lab.experiment(tiny, { onProgress: thrower })).rejects.toBe(mine);
    await expect(lab.experiment(tiny, { onRun: thrower })).rejects.toBe(mine);
  });
});

describe("chunks of positions in training", () => {
  it("are refused beside a policy that has none", () => {
    const positions = { policy: "shift", maximum: 3, chunks: 2 };
    const { message } = failure(() => lab.checkExperiment({ ...tiny, training: { ...tiny.training, positions } }));
    expect(message).toContain('training.positions.chunks: 2 was given; only the policy "pose" together with it');
  });
});

describe("an experiment with its text inside", () => {
  it("is checked without a corpus, and says that a run needs one", () => {
    const own = {
      ...tiny,
      task: { type: "text", text: "a text that is long enough to be cut into two parts ".repeat(4) },
    };
    const complete = lab.checkExperiment(own);
    expect(failure(() => lab.createRun(complete, 0, 1)).message).toContain("corpus is missing; what lab.corpus makes");
  });
});

describe("names in a config that JavaScript's objects have", () => {
  const llama = { model_type: "llama", hidden_size: 64, num_attention_heads: 4, num_hidden_layers: 2 };
  it.each(["constructor", "toString", "hasOwnProperty", "__proto__", "foo"])("%s is no scaling", (type) => {
    const { cautions } = explainConfig({ ...llama, rope_scaling: { type, factor: 2 } });
    expect(cautions.map(({ code }) => code)).toContain("unknown-rope-type");
  });

  it("layers that are not there are refused, of models with one kind of layers too", () => {
    expect(Object.keys(explainConfig({ ...llama, rope_theta: 1e4 }, { layer: 1 }).layers)).toEqual(["all"]);
    const { message } = failure(() => explainConfig({ ...llama, rope_theta: 1e4 }, { layer: 99 }));
    expect(message).toContain("layer: 99 was given; a layer from 0 to 1 is allowed");
  });

  it("a kind of embedding that nobody knows is a caution", () => {
    const bert = { model_type: "bert", hidden_size: 64, num_attention_heads: 4, position_embedding_type: "foo" };
    expect(explainConfig(bert).cautions.map(({ code }) => code)).toContain("unknown-position-embedding-type");
    const absolute = explainConfig({ ...bert, position_embedding_type: "absolute" }).cautions.map(({ code }) => code);
    expect(absolute).not.toContain("unknown-position-embedding-type");
  });
});
