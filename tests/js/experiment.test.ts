// SPDX-License-Identifier: MIT
// Experiments as JSON: defaults, messages, links and verdicts. No module is needed for any of it.

import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PosLabError } from "../../bindings/js/errors.js";
import { atTestLabel, completeExperiment, encodingLabel } from "../../bindings/js/experiment.js";
import { differencesFromDefaults, experimentFromLink } from "../../bindings/js/experiment-link.js";
import type { ExperimentResult, LengthEntry, RunResult } from "../../bindings/js/types.js";
import { computeVerdict, verdictSentence } from "../../bindings/js/verdict.js";

const failure = (json: unknown): PosLabError => {
  try {
    completeExperiment(json);
  } catch (error) {
    expect(error).toBeInstanceOf(PosLabError);
    return error as PosLabError;
  }
  throw new Error("the experiment was accepted");
};

describe("defaults", () => {
  it("of {} are the built-in experiment", () => {
    expect(completeExperiment({})).toEqual({
      task: { type: "text", corpus: "moby-dick", unit: "characters" },
      model: {
        dim: 64,
        heads: 4,
        layers: 2,
        feedForward: 256,
        keyValueHeads: 4,
        norm: "layer",
        normPlacement: "pre",
        activation: "gelu",
        gated: false,
        tied: false,
        parallel: false,
        sinks: "none",
      },
      training: {
        length: 64,
        batch: 16,
        steps: 976,
        learningRate: 0.006,
        warmup: 100,
        weightDecay: 0.1,
        clip: 1,
        beta1: 0.9,
        beta2: 0.98,
      },
      encodings: [
        { type: "sinusoidal" },
        { type: "learned" },
        { type: "t5", maxDistance: 32 },
        { type: "rope" },
        { type: "alibi" },
      ],
      atTest: [
        { of: 3, position: { type: "rope", scaling: { ropeType: "ntk" } } },
        { of: 3, window: 64 },
      ],
      test: { lengths: [64, 80, 96, 112, 128, 192, 256, 512, 1024], windows: 128 },
      seeds: [1],
    });
  });

  it("of test lengths follow the trained length, rounded down", () => {
    expect(completeExperiment({ training: { length: 30 } }).test.lengths).toEqual([
      30, 37, 45, 52, 60, 90, 120, 240, 480,
    ]);
    expect(completeExperiment({ training: { length: 1 } }).test.lengths).toEqual([1, 2, 3, 4, 8, 16]);
  });

  it("of toy tasks are 400,000 tokens at rate 0.003; needle is shorter and wider", () => {
    expect(completeExperiment({ task: { type: "first" } }).training).toMatchObject({
      steps: 390,
      learningRate: 0.003,
      warmup: 100,
      length: 64,
      batch: 16,
    });
    expect(completeExperiment({ task: { type: "needle" } }).training).toMatchObject({
      steps: 390,
      length: 32,
      batch: 32,
    });
    expect(completeExperiment({ task: { type: "lookback" } }).task).toEqual({ type: "lookback", distance: 5 });
  });

  it("have no changes at test time once the encodings are given", () => {
    expect(completeExperiment({ encodings: [{ type: "alibi" }] }).atTest).toEqual([]);
  });

  it("turn tokens into steps, rounded down", () => {
    expect(completeExperiment({ training: { tokens: 1_000_000 } }).training.steps).toBe(976);
  });

  it("of a complete experiment are itself", () => {
    for (const json of [{}, { task: { type: "needle" } }, { model: { bias: true, heads: 2 } }]) {
      const complete = completeExperiment(json);
      expect(completeExperiment(complete)).toEqual(complete);
    }
  });
});

describe("messages", () => {
  it.each([
    [{ trainng: {} }, "trainng", 'trainng is not known; did you mean "training"?'],
    [{ training: { lenght: 64 } }, "training.lenght", 'training.lenght is not known; did you mean "length"?'],
    [
      { training: { length: 0 } },
      "training.length",
      "training.length: 0 was given; a whole number from 1 to 16777216 is allowed",
    ],
    [{ training: { length: 1.5 } }, "training.length", "training.length: 1.5 was given; a whole number from 1"],
    [{ training: { length: "64" } }, "training.length", 'training.length: "64" was given; a whole number from 1'],
    [
      { training: { learningRate: NaN } },
      "training.learningRate",
      "training.learningRate: NaN was given; a number larger than 0 is allowed",
    ],
    [
      { training: { beta1: 1 } },
      "training.beta1",
      "training.beta1: 1 was given; a number from 0 to less than 1 is allowed",
    ],
    [{ training: { steps: 5, tokens: 5000 } }, "training.tokens", "either training.steps or training.tokens, not both"],
    [{ training: { tokens: 1000 } }, "training.tokens", "1024 tokens"],
    [{ task: { type: "lookbak" } }, "task.type", 'task.type: "lookbak" is not known; did you mean "lookback"?'],
    [{ task: { type: "first", distance: 3 } }, "task.distance", "task.distance is not known"],
    [{ task: { type: "text", text: "a", corpus: "b" } }, "task.corpus", "either task.text or task.corpus"],
    [{ model: { norm: "batch" } }, "model.norm", 'model.norm: "batch" was given; "layer" or "rms" is allowed'],
    [
      { model: { dim: 64, heads: 5 } },
      "model.heads",
      "model.heads: 5 was given; a divisor of model.dim (64) is allowed",
    ],
    [
      { model: { heads: 4, keyValueHeads: 3 } },
      "model.keyValueHeads",
      "model.keyValueHeads: 3 was given; a divisor of model.heads (4) is allowed",
    ],
    [{ encodings: [] }, "encodings", "a list of one or more scheme objects"],
    [{ encodings: ["rope"] }, "encodings[0]", 'encodings[0]: "rope" was given; a scheme object'],
    [
      { encodings: [{ theta: 1 }] },
      "encodings[0].type",
      "encodings[0].type is missing; the name of a scheme is needed",
    ],
    [
      { atTest: [{ of: 5, window: 3 }] },
      "atTest[0].of",
      "atTest[0].of: 5 was given; the number of an encoding, from 0 to 4",
    ],
    [{ atTest: [{ of: 0 }] }, "atTest[0]", "atTest[0] changes nothing"],
    [{ atTest: [{ of: 0, window: 0 }] }, "atTest[0].window", "atTest[0].window: 0 was given; a whole number from 1"],
    [
      { atTest: [{ of: 0, distances: { policy: "spread", window: 3 } }] },
      "atTest[0].distances.policy",
      'atTest[0].distances.policy: "spread" was given; "grouped" or "clamped" is allowed',
    ],
    [
      { atTest: [{ of: 0, distances: { policy: "grouped" } }] },
      "atTest[0].distances.window",
      "atTest[0].distances.window is missing; a whole number from 1",
    ],
    [
      { atTest: [{ of: 0, distances: { policy: "clamped", window: 3, group: 2 } }] },
      "atTest[0].distances.group",
      "atTest[0].distances.group is not known",
    ],
    [{ atTest: [{ window: 3 }] }, "atTest[0].of", "atTest[0].of is missing; a whole number from 0"],
    [{ test: { lengths: [64, 0] } }, "test.lengths[1]", "test.lengths[1]: 0 was given; a whole number from 1"],
    [{ test: { lengths: [] } }, "test.lengths", "one or more lengths"],
    [{ seeds: [1, 1] }, "seeds[1]", "seeds[1]: 1 was given; a seed that is not in the list already"],
    [{ seeds: [-1] }, "seeds[0]", "seeds[0]: -1 was given; a whole number from 0"],
    [[], "", "an object"],
    ["text", "", "an object"],
  ])("of %j name %s", (json, argument, message) => {
    const error = failure(json);
    expect(error.message).toContain(message);
    expect(error.argument).toBe(argument || "the experiment");
  });
});

describe("links", () => {
  it("carry nothing for the built-in experiment and only differences otherwise", () => {
    expect(differencesFromDefaults(completeExperiment({}))).toEqual({});
    const json = { training: { length: 32 }, encodings: [{ type: "rope" as const }], seeds: [1, 2] };
    expect(differencesFromDefaults(completeExperiment(json))).toEqual(json);
    expect(differencesFromDefaults(completeExperiment({ task: { type: "needle" } }))).toEqual({
      task: { type: "needle" },
    });
  });

  it("come back as the same experiment", () => {
    const complete = completeExperiment({
      task: { type: "lookback", distance: 7 },
      training: { length: 48, steps: 100 },
      model: { dim: 32 },
    });
    const { experiment, notices } = experimentFromLink(JSON.parse(JSON.stringify(differencesFromDefaults(complete))));
    expect(experiment).toEqual(complete);
    expect(notices).toEqual([]);
  });

  it("lose what is not known or not allowed, with a notice each", () => {
    const { experiment, notices } = experimentFromLink({
      training: { length: 32, futureField: 1, batch: -3 },
      atTest: [
        { of: 9, window: 3 },
        { of: 0, window: 8 },
      ],
      colour: "red",
    });
    expect(experiment.training).toMatchObject({ length: 32, batch: 16 });
    expect(experiment.atTest).toEqual([{ of: 0, window: 8 }]);
    expect(notices.map(({ path }) => path).sort()).toEqual([
      "atTest[0].of",
      "colour",
      "training.batch",
      "training.futureField",
    ]);
  });

  it("that are no object at all give the built-in experiment", () => {
    for (const json of [null, 3, "x", []]) expect(experimentFromLink(json).experiment).toEqual(completeExperiment({}));
  });

  it("never fail, whatever they hold, nor does validation in any other way than by name", () => {
    const known = [
      "task",
      "model",
      "training",
      "encodings",
      "atTest",
      "test",
      "seeds",
      "type",
      "of",
      "length",
      "lengths",
    ];
    const key = fc.oneof(fc.constantFrom(...known), fc.string());
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: "medium", withCrossShrink: true },
        fc.oneof(fc.constantFrom("rope", "text", "first", null, 0, -1, 1e9, 64, true), fc.double(), fc.string()),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(key, tie("tree"), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (json) => {
        const { experiment } = experimentFromLink(json);
        expect(completeExperiment(experiment)).toEqual(experiment);
        try {
          completeExperiment(json);
        } catch (error) {
          expect(error).toBeInstanceOf(PosLabError);
        }
      }),
      { numRuns: 500 },
    );
    let deep: unknown = 1;
    for (let n = 0; n < 20_000; n += 1) deep = [deep];
    expect(experimentFromLink({ encodings: deep }).experiment).toEqual(completeExperiment({}));
  });

  it("drop what a further check refuses", () => {
    const { experiment, notices } = experimentFromLink(
      { encodings: [{ type: "alibi" }, { type: "nonsense" }] },
      ({ encodings }) => {
        const wrong = encodings.findIndex(({ type }) => (type as string) === "nonsense");
        if (wrong >= 0) throw new PosLabError("unknownName", "no", { argument: `encodings[${wrong}].type` });
      },
    );
    expect(experiment.encodings).toEqual([{ type: "alibi" }]);
    expect(notices).toHaveLength(1);
  });
});

describe("labels", () => {
  it("name the type and what was given", () => {
    expect(encodingLabel({ type: "t5", maxDistance: 32 })).toBe("t5 (maxDistance 32)");
    expect(encodingLabel({ type: "rope", label: "mine" })).toBe("mine");
    const [ntk, window] = completeExperiment({}).atTest;
    const { encodings } = completeExperiment({});
    expect(atTestLabel(ntk!, encodings)).toBe("rope, ntk");
    expect(atTestLabel(window!, encodings)).toBe("rope, window 64");
    expect(atTestLabel({ of: 3, distances: { policy: "grouped", window: 32, group: 8 } }, encodings)).toBe(
      "rope, Self-Extend, window 32, group 8",
    );
    expect(atTestLabel({ of: 4, distances: { policy: "clamped", window: 63 } }, encodings)).toBe(
      "alibi, ReRoPE, window 63",
    );
  });
});

describe("verdicts", () => {
  const recorded = new URL("../../web/public/recorded/", import.meta.url);
  const files = readdirSync(recorded).filter((name) => name.endsWith(".json") && name !== "index.json");

  it.each(files)("of the recorded run %s is what its numbers say", (file) => {
    const { experiment, runs, verdict } = JSON.parse(readFileSync(new URL(file, recorded), "utf8")) as ExperimentResult;
    expect(verdict).toBe(verdictSentence(computeVerdict(experiment, runs)));
  });

  const experiment = completeExperiment({
    encodings: [{ type: "sinusoidal" }, { type: "learned" }, { type: "alibi" }],
    training: { length: 64 },
    test: { lengths: [64, 80, 1024] },
  });
  const run = (encoding: number, losses: (number | null)[]): RunResult => ({
    encoding,
    seed: 1,
    parameters: 1,
    steps: 1,
    seconds: 1,
    tokensPerSecond: 1,
    training: [],
    byPosition: { binWidth: 4, loss: [] },
    atTest: [],
    byLength: losses.map((loss, index): LengthEntry => ({
      length: experiment.test.lengths[index]!,
      loss,
      lossAtEnd: loss,
    })),
  });

  it("say who breaks, who is not defined and who holds", () => {
    const verdict = computeVerdict(experiment, [
      run(0, [1.8, 3, 3.1]),
      run(1, [1.9, null, null]),
      run(2, [1.81, 1.83, 1.82]),
    ]);
    expect(verdict.encodings.map(({ outcome }) => outcome)).toEqual(["breaks", "not-defined", "holds"]);
    expect(verdict.bestAtLongest).toBe(2);
    expect(verdict.bestAtTrained).toBe(0);
    expect(verdictSentence(verdict)).toBe(
      "Past 64, sinusoidal loses 1.20 nats by 80; learned is not defined past 64; alibi stays within 0.02 nats up to 1,024. Best at 1,024: alibi, 1.82 nats.",
    );
  });

  it("call nothing what rounds to nothing, and one point a point", () => {
    const losses = computeVerdict(experiment, [run(0, [1.8, 1.804, 1.7]), run(2, [1.8, 1.8, 1.806])]);
    expect(verdictSentence(losses)).toContain("Past 64, sinusoidal loses nothing up to 1,024; alibi holds too.");
    const accuracy = verdictSentence({
      ...losses,
      measure: "accuracy",
      encodings: losses.encodings.map((entry) => ({ ...entry, worst: 0.01, atLongest: 0.9 })),
    });
    expect(accuracy).toContain("sinusoidal stays within 1 point of accuracy up to 1,024;");
  });

  it("average over seeds", () => {
    const verdict = computeVerdict(experiment, [run(2, [1.8, 1.8, 2]), { ...run(2, [1.8, 1.8, 1.9]), seed: 2 }]);
    expect(verdict.encodings[2]).toMatchObject({
      outcome: "breaks",
      breaksAt: 1024,
      breaksBy: expect.closeTo(0.15, 10) as number,
    });
  });

  it("take a length that was not measured for no sign of anything", () => {
    const toy = completeExperiment({ ...experiment, task: { type: "copy" } });
    const answers = (accuracies: (number | undefined)[]): LengthEntry[] =>
      accuracies.map((accuracyAtEnd, index): LengthEntry => ({
        length: experiment.test.lengths[index]!,
        loss: 1.5,
        lossAtEnd: accuracyAtEnd === undefined ? null : 1.5,
        ...(accuracyAtEnd === undefined ? {} : { accuracyAtEnd }),
      }));
    const unfinished = {
      ...run(2, [1.8]),
      byLength: [run(2, [1.8]).byLength[0]!, run(2, [1.8, 1.8, 1.81]).byLength[2]!],
    };
    expect(computeVerdict(experiment, [unfinished]).encodings[2]).toMatchObject({
      outcome: "holds",
      lastDefined: 1024,
    });
    const silent = computeVerdict(toy, [{ ...run(2, []), byLength: answers([0.9, 0.89, undefined]) }]);
    expect(silent.encodings[2]).toMatchObject({ outcome: "holds", lastDefined: 80 });
    expect(verdictSentence(silent)).toContain("alibi stays within 1 point of accuracy up to 80");
  });

  it("say so when there is nothing to judge", () => {
    expect(verdictSentence(computeVerdict(experiment, []))).toContain("no verdict");
  });
});
