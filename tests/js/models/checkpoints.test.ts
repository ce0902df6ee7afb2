// SPDX-License-Identifier: MIT
// Whole checkpoints: the tiny models with reference logits in double, stories260K in four files, weights of an
// experiment, and what does not fit together.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { PosLab } from "../../../bindings/js/index.js";
import { type Model, openModel } from "../../../bindings/js/models.js";
import { readSafetensors, writeSafetensors } from "../../../bindings/js/safetensors.js";
import type { TensorFile } from "../../../bindings/js/run-types.js";
import { sharedLab } from "../lab.js";
import { sharedFolder } from "../shared.js";
import { compareAll } from "../../../bindings/cli/model-check.js";

const models = sharedFolder("data/models");
const stories = sharedFolder("data/stories260K");
const texts = sharedFolder("data/text");
let lab: PosLab;
beforeAll(async () => {
  lab = await sharedLab();
});

const folders = models ? readdirSync(models).filter((name) => existsSync(join(models, name, "config.json"))) : [];
const configs = folders.flatMap((name) =>
  ["config.json", "config.v4.json"]
    .filter((config) => existsSync(join(models!, name, config)))
    .map((config) => [name, config] as const),
);
const reference = (name: string): TensorFile =>
  readSafetensors(readFileSync(join(models!, name, "reference.safetensors")));
const open = (name: string, config = "config.json"): Promise<Model> =>
  openModel(join(models!, name), { config: join(models!, name, config) });

describe.skipIf(!models)("tiny models", () => {
  it.each(configs)("%s with %s has the logits and attention weights of its reference", async (name, config) => {
    const model = await open(name, config);
    const lines = [...compareAll(model, reference(name))];
    model.dispose();
    expect(lines.length).toBeGreaterThanOrEqual(4);
    for (const line of lines) expect(line).toMatchObject({ passed: true });
  });

  it.each(["bert", "gpt2"])("%s refuses input past its table", async (name) => {
    const model = await open(name);
    expect(model.info.lengthLimit).toBe(32);
    expect(() => model.logits(Array.from({ length: 33 }, () => 1))).toThrow(/32/);
    expect(model.logits(Array.from({ length: 32 }, () => 1)).shape).toEqual([32, 96]);
    model.dispose();
  });

  it("answer an override with other logits, and without it with their own again", async () => {
    const model = await open("llama");
    const ids = [5, 6, 7, 8, 9];
    const own = model.logits(ids).data;
    const distance = (override: object): number =>
      model
        .logits(ids, { override })
        .data.reduce((largest, logit, index) => Math.max(largest, Math.abs(logit - own[index]!)), 0);
    expect(distance({ theta: 100 })).toBeGreaterThan(0.01);
    expect(distance({ position: { type: "none" } })).toBeGreaterThan(0.01);
    expect(distance({ window: 2 })).toBeGreaterThan(0.01);
    expect(distance({ shift: 1000 })).toBeLessThan(1e-3); // only distances count
    expect(distance({ window: 5 })).toBe(0);
    expect(distance({})).toBe(0);
    model.dispose();
  });

  it("give the attention of the last input, whole or of one head", async () => {
    const model = await open("gpt-neox");
    expect(() => model.attention(0)).toThrow(/call logits or losses first/);
    model.logits([1, 2, 3]);
    const all = model.attention(1);
    expect(all.shape).toEqual([4, 3, 3]);
    expect(model.attention(1, 2)).toEqual({ data: all.data.slice(18, 27), shape: [3, 3] });
    expect(() => model.attention(1, 4)).toThrow(/head: 4 was given; a whole number from 0 to 3/);
    model.dispose();
    expect(() => model.logits([1])).toThrow(/disposed/);
  });

  it("name every tensor that is missing, surplus or of the wrong shape in one message", async () => {
    const { tensors } = readSafetensors(readFileSync(join(models!, "llama/model.safetensors")));
    const norm = tensors.get("model.norm.weight")!;
    tensors.delete("model.layers.1.self_attn.q_proj.weight");
    tensors.set("model.norm.weight", { ...norm, shape: [2, 16] });
    tensors.set("model.layers.0.mlp.experts.weight", norm);
    const file = writeSafetensors([...tensors].map(([name, { data, shape }]) => [name, { data, shape }]));
    const config = JSON.parse(readFileSync(join(models!, "llama/config.json"), "utf8")) as object;
    await expect(openModel(file, { config })).rejects.toThrow(
      /missing: model\.layers\.1\.self_attn\.q_proj\.weight; not expected: model\.layers\.0\.mlp\.experts\.weight; of the wrong shape: model\.norm\.weight is \[2, 16\]/,
    );
    await expect(openModel(file, { config: { ...config, model_type: "mamba2" } })).rejects.toThrow(
      /the model type "mamba2" is not supported/,
    );
    await expect(openModel(file)).rejects.toThrow(/config\.json is missing/);
  });

  it("are read with progress that begins with the memory they will take, and can be cancelled", async () => {
    const heard: number[] = [];
    const model = await openModel(join(models!, "bloom"), {
      onProgress: ({ info, bytes }) => {
        expect(info.memory.weights).toBeGreaterThan(100_000);
        heard.push(bytes);
      },
    });
    expect(heard[0]).toBe(0);
    expect(heard.at(-1)).toBeGreaterThan(100_000);
    model.dispose();
    const controller = new AbortController();
    const cancelled = openModel(join(models!, "bloom"), {
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(cancelled).rejects.toMatchObject({ code: "aborted" });
  });
});

const storyFiles = ["stories260K.bin", "stories260K-f32.gguf", "stories260K-q8_0.gguf", "hf"];
const openStories = (file: string): Promise<Model> =>
  openModel(join(stories!, file), file === "hf" ? { tokenizer: join(stories!, "tok512.bin") } : {});

describe.skipIf(!stories || !texts)("stories260K", () => {
  /** Mean loss over the predictions after the token that begins a story, each cut at 512 tokens. */
  async function meanLoss(model: Model, text: string): Promise<number> {
    let sum = 0;
    let count = 0;
    for (const story of text
      .split("<|endoftext|>")
      .map((part) => part.trim())
      .filter(Boolean)) {
      const { loss, tokens } = await model.lossByPosition(model.encode(story).subarray(0, 512), {
        window: 512,
        windows: 1,
      });
      sum += loss * tokens;
      count += tokens;
    }
    return sum / count;
  }
  const read = (name: string): string => readFileSync(join(texts!, name), "utf8");

  it.each(storyFiles)("%s has llama2.c's mean loss on the text that it was trained on", async (file) => {
    const model = await openStories(file);
    const expected = file.includes("q8_0") ? 1.29895 : 1.29858;
    expect(Math.abs((await meanLoss(model, read("tinystories-v1-first50.txt"))) - expected)).toBeLessThan(0.001);
    model.dispose();
  });

  it("has llama2.c's mean loss on texts that it has not seen", async () => {
    const model = await openStories("stories260K.bin");
    const straight = read("tinystories-v2-sample.txt")
      .replace(/[\u201c\u201d]/g, '"')
      .replace(/[\u2018\u2019]/g, "'");
    expect(Math.abs((await meanLoss(model, read("tinystories-v2-valid-head.txt"))) - 1.42961)).toBeLessThan(0.001);
    expect(Math.abs((await meanLoss(model, straight)) - 1.26414)).toBeLessThan(0.001);
    model.dispose();
  });

  it.each(storyFiles.filter((file) => !file.includes("q8_0")))(
    "%s writes llama2.c's story, byte for byte",
    async (file) => {
      const model = await openStories(file);
      for (const tokens of [200, 256]) {
        const expected = readFileSync(join(stories!, `expected-greedy-n${tokens === 256 ? 257 : tokens}.txt`), "utf8");
        const pieces: string[] = [];
        const { text } = await model.generate({ tokens, onText: (piece) => pieces.push(piece) });
        expect(text).toBe(expected);
        expect(pieces.join("")).toBe(expected);
      }
      model.dispose();
    },
  );

  it("draws the same story for the same seed, goes on with a prompt, and ends where it is told to", async () => {
    const model = await openStories("stories260K.bin");
    const options = { tokens: 30, temperature: 1, topP: 0.9, seed: 3, prompt: "Tom had a dog" };
    const first = await model.generate(options);
    expect(first.text).toMatch(/^Tom had a dog/);
    expect((await model.generate(options)).text).toBe(first.text);
    expect((await model.generate({ ...options, seed: 4 })).text).not.toBe(first.text);
    const controller = new AbortController();
    const aborted = await model.generate({ tokens: 400, signal: controller.signal, onText: () => controller.abort() });
    expect(aborted.ended).toBe("aborted");
    expect(aborted.ids.length).toBeLessThan(5);
    model.dispose();
  });

  it("loses the thread past its trained length, and less so under a window or a stretched rotation", async () => {
    const model = await openStories("stories260K.bin");
    const ids = model.encode(read("tinystories-v1-first50.txt").replaceAll("<|endoftext|>", "")).subarray(0, 4 * 2048);
    const end = async (override?: object): Promise<number> => {
      const { byPosition } = await model.lossByPosition(ids, { window: 2048, ...(override ? { override } : {}) });
      const last = byPosition.subarray(1536);
      return last.reduce((sum, loss) => sum + loss, 0) / last.length;
    };
    const trained = await end();
    expect(await end({ window: 512 })).toBeLessThan(trained - 0.2);
    expect(await end({ scaling: { ropeType: "yarn", factor: 2 } })).toBeLessThan(trained - 0.1);
    model.dispose();
  });
});

describe("weights of an experiment", () => {
  it.each([
    ["learned", {}],
    ["rope", { norm: "rms", gated: true, bias: true, tied: true, keyValueHeads: 1, activation: "silu" }],
    ["shaw", { normPlacement: "post", bias: false }],
    ["t5", { parallel: true }],
    ["forgetting", { keyValueHeads: 1 }],
    ["rope", { keyValueHeads: 1, sinks: "learned" }],
    ["alibi", { sinks: "zero" }],
  ])("with %s positions open again and write the same text", async (type, shape) => {
    const corpus = lab.corpus("the cat sat on the mat and the dog sat on the log ".repeat(40));
    const experiment = lab.checkExperiment(
      {
        task: { type: "text" },
        model: { dim: 16, heads: 2, layers: 2, feedForward: 24, ...shape },
        training: { length: 16, batch: 2, steps: 3, warmup: 0, learningRate: 0.05 },
        encodings: [{ type, ...(type === "learned" ? { rows: 64 } : {}) }],
        test: { lengths: [16], windows: 1 },
      },
      corpus,
    );
    const run = lab.createRun(experiment, 0, 1, corpus);
    run.advance(3);
    const model = await openModel({ name: "weights.safetensors", data: run.weights() });
    expect(model.info.modelType).toBe("poslab");
    expect(model.encode("the cat")).toEqual(corpus.encode("the cat"));
    // The same weights look at the same places, and continue a text alike.
    const text = "the cat sat on";
    model.logits(model.encode(text));
    const seen = run.attention({ text, layer: 1 }).weights;
    const got = model.attention(1);
    expect(got.shape).toEqual(seen.shape);
    got.data.forEach((weight, index) => expect(weight).toBeCloseTo(seen.data[index]!, 5));
    const { pieces, losses } = run.generate({ prompt: text, count: 8, temperature: 0 });
    expect((await model.generate({ prompt: text, tokens: 8 })).text).toBe(text + pieces.join(""));
    const ids = model.encode(text + pieces.join(""));
    const { data, shape: size } = model.logits(ids);
    const outputs = size.at(-1)!;
    losses.forEach((loss, index) => {
      const row = ids.length - pieces.length + index;
      const logits = data.subarray((row - 1) * outputs, row * outputs);
      const sum = logits.reduce((all, logit) => all + Math.exp(logit), 0);
      expect(Math.log(sum) - logits[ids[row]!]!).toBeCloseTo(loss, 4);
    });
    model.dispose();
    run.dispose();
    corpus.dispose();
  });
});
