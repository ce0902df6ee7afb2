// SPDX-License-Identifier: MIT
import { loadPosLab } from "poslab";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { completeExperiment, type Encoding, type PosLab } from "../engine/poslab.js";
import { Panel } from "./panels.js";
import { Refusal } from "./sources.js";
import { TrainedModels, TrainedSource, type RaceModels } from "./trained.js";

// The module starts and trains here: a busy machine takes longer than the usual five seconds.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let lab: PosLab;
let race: RaceModels;
const encodings: Encoding[] = [
  { type: "rope" },
  { type: "t5", maxDistance: 20 },
  { type: "sinusoidal" },
  { type: "learned" },
  { type: "shaw", maxDistance: 4 },
  { type: "forgetting" },
];
const text = "the sea, the sea! ".repeat(30);
const look = { model: null, layer: 0, text: "the sea, the" };
const sight = { causal: true, window: null };
const every = { offset: 0, heads: [0, 1], show: "weights", side: 600 } as const;

beforeAll(async () => {
  lab = await loadPosLab();
  const experiment = completeExperiment({
    task: { type: "text", corpus: "own" },
    model: { dim: 16, heads: 2, layers: 2, feedForward: 16 },
    training: { length: 16, batch: 4, steps: 8, learningRate: 0.01 },
    encodings,
    atTest: [],
    test: { lengths: [16], windows: 2 },
    seeds: [1],
  });
  race = { id: "test", experiment, corpus: new TextEncoder().encode(text), weights: encodings.map(() => null) };
  await lab.experiment(experiment, {
    corpora: { own: text },
    onRun: ({ encoding, seed }, bytes) => (race.weights[encoding] = { seed, bytes }),
  });
});

const pictures = (source: TrainedSource, encoding: Encoding, more = {}) =>
  new Panel(lab, source, encoding, sight).result({ ...every, ...more });

describe("each encoding with its own model", () => {
  it("has the weights that the model itself has, in every layer and wherever the text stands", () => {
    const models = new TrainedModels(lab, race);
    for (const layer of [0, 1]) {
      const source = new TrainedSource(models, { ...look, layer });
      expect(source.symbols).toEqual([..."the sea, the"]);
      encodings.forEach((encoding, index) => {
        for (const offset of encoding.type === "learned" ? [0, 3] : [0, 3, 500]) {
          const own = models.run(index).attention({ text: look.text, layer, change: { shift: offset } }).weights.data;
          const { pictures: drawn, cells } = pictures(source, encoding, { offset });
          drawn.forEach((picture, head) =>
            picture.forEach((value, at) => {
              if (Number.isFinite(value))
                expect(value, `${encoding.type} ${layer} ${offset}`).toBeCloseTo(own[head * cells * cells + at]!, 5);
            }),
          );
        }
      });
    }
    models.dispose();
  });

  it("says where the table ends, and which encoding was not in the race", () => {
    const source = new TrainedSource(new TrainedModels(lab, race), look);
    expect(() => pictures(source, { type: "learned" }, { offset: 5 })).toThrow(new Refusal("past-table", 16));
    expect(() => pictures(source, { type: "alibi" })).toThrow(new Refusal("not-in-race"));
  });
});

describe("one model's queries and keys under every encoding", () => {
  it("are the same ones, with what the others learned in the same race", () => {
    const models = new TrainedModels(lab, race);
    const source = new TrainedSource(models, { ...look, model: 0 });
    const [rope, t5, alibi] = (["rope", "t5", "alibi"] as const).map((type) => source.inputs({ type } as Encoding, 7));
    expect(t5!.query.data).toEqual(rope!.query.data);
    expect(alibi!.key.data).toEqual(rope!.key.data);
    expect(t5!.position).toMatchObject({ type: "t5", maxDistance: 20, table: models.tensors(1, 0)["table"] });
    expect(pictures(source, { type: "alibi" }).cells).toBe(12);
    // Gates are read off the tokens of the model that learned them.
    expect(() => pictures(source, { type: "forgetting" })).toThrow(new Refusal("no-gates"));
    const own = new TrainedSource(models, { ...look, model: 5 });
    expect(own.inputs({ type: "forgetting" }, 0).gates!.shape).toEqual([2, 12]);
    expect(own.inputs({ type: "rope" }, 0).gates).toBeUndefined();
    models.dispose();
  });

  it("carry what an embedding adds, and nothing else", () => {
    const models = new TrainedModels(lab, race);
    const [ofRope, ofWaves] = [0, 2].map((model) => new TrainedSource(models, { ...look, model }));
    const at = (source: TrainedSource, type: string, offset: number) =>
      source.inputs({ type } as Encoding, offset).query.data;
    expect(at(ofRope!, "sinusoidal", 0)).not.toEqual(at(ofRope!, "rope", 0));
    expect(at(ofRope!, "sinusoidal", 9)).not.toEqual(at(ofRope!, "sinusoidal", 0));
    expect(at(ofWaves!, "sinusoidal", 0)).not.toEqual(at(ofWaves!, "rope", 0));
    expect(at(ofWaves!, "rope", 0)).toEqual(at(ofWaves!, "alibi", 50));
    expect(() => ofRope!.inputs({ type: "learned" }, 0)).toThrow(new Refusal("other-model"));
    models.dispose();
  });

  it("show why an encoding cannot run that nobody trained", () => {
    const source = new TrainedSource(new TrainedModels(lab, race), { ...look, model: 0 });
    expect(() => pictures(source, { type: "transformer-xl" })).toThrowError(/missing/);
  });
});

it("without a text, the models read the first symbols of the test part", () => {
  expect(new TrainedSource(new TrainedModels(lab, race), { ...look, text: "" }).symbols).toHaveLength(48);
});
