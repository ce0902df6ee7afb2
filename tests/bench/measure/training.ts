// SPDX-License-Identifier: MIT
// The training step and the evaluation of the experiment's model (width 64, 4 heads, 2 layers, feed-forward 256,
// vocabulary 80, batch 8 x 128), every scheme, beside jax-js doing the same step from the same weights.

import { largestError } from "../peers/peer.js";
import { makeJaxTraining } from "../peers/jax-training.js";
import { kBatch, kModel, kOptimizer, type Batch } from "./training-task.js";
import { attempt, schemesOf, variantName, type Bench, type Table, type Variant } from "./place.js";
import { timeRows, type Subject } from "./timing.js";

const kTokens = kBatch.batch * kBatch.length;
/** Losses of the first steps are compared; they are near 5, and sums differ in their order. */
const kStepsToCompare = 6;
const kLossTolerance = 2e-3;

/** A made-up text in which the next symbol can be learned, so that the losses fall. */
function batchOf(): Batch {
  const symbol = (n: number): number => (n * n + 3 * n + (n >> 3)) % kModel.vocabulary;
  return {
    ids: Int32Array.from({ length: kTokens }, (_, n) => symbol(n)),
    targets: Int32Array.from({ length: kTokens }, (_, n) => symbol(n + 1)),
  };
}

type Trainer = Awaited<ReturnType<typeof makeTrainer>>;

async function makeTrainer(bench: Bench, variant: Variant, type: string, layers = kModel.layers) {
  const { core } = await bench.place.lab(variant);
  const outcome = core.makeTrainer({ ...kModel, layers }, { type, fields: [], tensors: [], lists: [] }, kOptimizer);
  if (outcome.failure !== undefined) throw new Error(`${type}: ${outcome.failure.argument} ${outcome.failure.allowed}`);
  return outcome.Trainer;
}

function step(trainer: Trainer, { ids, targets }: Batch): number {
  const loss = trainer.loss(ids, targets, kBatch.batch, kBatch.length);
  if (loss.failure !== undefined) throw new Error(loss.failure.argument);
  const update = trainer.update();
  if (update.failure !== undefined) throw new Error(update.failure.argument);
  return loss.loss;
}

async function stepSubject(bench: Bench, variant: Variant, type: string, batch: Batch): Promise<Subject> {
  const trainer = await makeTrainer(bench, variant, type);
  return {
    name: `${variantName(variant)}, ${type}`,
    kind: "ours",
    contains: "ids and targets copied in; loss, gradients, clipping, AdamW",
    run: () => step(trainer, batch),
    variant,
    dispose: () => trainer.delete(),
  };
}

async function scoreSubject(bench: Bench, variant: Variant, type: string, { ids, targets }: Batch): Promise<Subject> {
  const trainer = await makeTrainer(bench, variant, type);
  return {
    name: `${variantName(variant)}, ${type}`,
    kind: "ours",
    contains: "ids and targets copied in, losses of all places copied out",
    run: () => trainer.score(ids, targets, kBatch.batch, kBatch.length),
    variant,
    dispose: () => trainer.delete(),
  };
}

/** jax-js from the weights that our model starts with, its losses compared with ours. */
async function jaxSubject(bench: Bench, batch: Batch): Promise<Subject> {
  const trainer = await makeTrainer(bench, "simd", "none");
  const weights = trainer.weights();
  const parameters = trainer.parameters().map(({ name, shape, offset, size }) => ({
    name,
    shape,
    data: weights.slice(offset, offset + size),
  }));
  const expected = Array.from({ length: kStepsToCompare }, () => step(trainer, batch));
  trainer.delete();
  const training = makeJaxTraining(parameters, batch);
  return {
    name: "jax-js, valueAndGrad and AdamW in one jit",
    kind: "peer",
    contains: "the same step, compiled beforehand; ids and targets resident, the loss downloaded",
    run: () => training.step(),
    check: async () => {
      const losses: number[] = [];
      for (let n = 0; n < kStepsToCompare; n += 1) losses.push(await training.step());
      return largestError(losses, expected);
    },
    tolerance: kLossTolerance,
    dispose: () => training.dispose(),
  };
}

export async function measureTraining(bench: Bench): Promise<Table[]> {
  const batch = batchOf();
  const shown = bench.quick && bench.place.engine.startsWith("Chromium") ? ["none"] : schemesOf(bench);
  const steps: Subject[] = [];
  const scores: Subject[] = [];
  for (const type of shown) {
    for (const variant of bench.kernels.keys()) {
      steps.push(await stepSubject(bench, variant, type, batch));
      scores.push(await scoreSubject(bench, variant, type, batch));
    }
  }
  if (bench.peers.some(({ name }) => name === "jax-js")) steps.push(await jaxSubject(bench, batch));
  const what = "width 64, 4 heads, 2 layers, feed-forward 256, batch 8 x 128, vocabulary 80";
  const table = async (id: string, title: string, subjects: Subject[]): Promise<Table> => ({
    id,
    topic: "training",
    engine: bench.place.engine,
    title: `${title}: ${what}`,
    unit: "tokens/s",
    rows: await timeRows(subjects, { amount: kTokens, unit: "tokens/s" }, bench.timing),
  });
  const tables = [
    ...(await attempt(bench, "training step, every scheme", () => table("training", "Training step", steps))),
    ...(await attempt(bench, "evaluation, every scheme", () =>
      table("evaluation", "Evaluation, forward only", scores),
    )),
  ];
  if (!bench.quick) tables.push(...(await attempt(bench, "training step by layers", () => layersTable(bench, batch))));
  return tables;
}

async function layersTable(bench: Bench, batch: Batch): Promise<Table> {
  const subjects: Subject[] = [];
  for (const layers of [2, 1, 4, 8]) {
    const trainer = await makeTrainer(bench, "simd", "none", layers);
    subjects.push({
      name: `PosLab SIMD, ${layers} ${layers === 1 ? "layer" : "layers"}`,
      kind: "ours",
      contains: "ids and targets copied in; loss, gradients, clipping, AdamW",
      run: () => step(trainer, batch),
      variant: "simd",
      dispose: () => trainer.delete(),
    });
  }
  return {
    id: "layers",
    topic: "training",
    engine: bench.place.engine,
    title: "Training step by number of layers",
    unit: "tokens/s",
    rows: await timeRows(subjects, { amount: kTokens, unit: "tokens/s" }, bench.timing),
  };
}
