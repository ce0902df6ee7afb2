// SPDX-License-Identifier: MIT
// The experiment's model and its training step in jax-js: pre-norm decoder without positions, GELU in its tanh form,
// cross-entropy, gradients clipped by their global norm, AdamW with decay of matrices; gradients and update in one jit.

import { blockUntilReady, jit, nn, numpy as np, valueAndGrad, tree, type Array as JaxArray } from "@jax-js/jax";
import { kBatch, kModel, kOptimizer, type Batch } from "../measure/training-task.js";

type Weights = Record<string, JaxArray>;
type State = { weights: Weights; first: Weights; second: Weights };

export interface GivenParameter {
  name: string;
  shape: number[];
  data: Float32Array;
}

const { batch, length } = kBatch;
const { dim, heads, layers, vocabulary } = kModel;
const kEpsilon = 1e-8;
const kNormEpsilon = 1e-5;
/** The cosine ends at this part of the peak. */
const kFloor = 0.1;

const decays = (name: string): boolean => name.endsWith(".weight") && name !== "embedding.weight";

/** y = x W^T (+ b), W [outputs, inputs]. */
function linear(x: JaxArray, weights: Weights, name: string): JaxArray {
  const y = np.matmul(x, weights[`${name}.weight`]!.ref.transpose());
  const bias = weights[`${name}.bias`];
  return bias ? y.add(bias.ref) : y;
}

function norm(x: JaxArray, weights: Weights, name: string): JaxArray {
  return nn
    .standardize(x, -1, { epsilon: kNormEpsilon })
    .mul(weights[`${name}.gain`]!.ref)
    .add(weights[`${name}.bias`]!.ref);
}

function attention(x: JaxArray, weights: Weights, block: string): JaxArray {
  const split = (part: string): JaxArray =>
    linear(x.ref, weights, `${block}.attention.${part}`).reshape([batch, length, heads, dim / heads]);
  const query = split("query");
  const key = split("key");
  const value = split("value");
  x.dispose();
  const output = nn.dotProductAttention(query, key, value, { isCausal: true });
  return linear(output.reshape([batch * length, dim]), weights, `${block}.attention.output`);
}

function lossOf(weights: Weights, ids: JaxArray, targets: JaxArray): JaxArray {
  let x = np.matmul(ids, weights["embedding.weight"]!.ref);
  for (let layer = 0; layer < layers; layer += 1) {
    const block = `blocks.${layer}`;
    x = x.ref.add(attention(norm(x, weights, `${block}.norm1`), weights, block));
    const inner = linear(norm(x.ref, weights, `${block}.norm2`), weights, `${block}.feedForward.in`);
    x = x.add(linear(nn.gelu(inner, { approximate: true }), weights, `${block}.feedForward.out`));
  }
  const logits = linear(norm(x, weights, "norm"), weights, "head");
  const loss = nn
    .logSoftmax(logits)
    .mul(targets)
    .sum()
    .div(-batch * length);
  tree.dispose(weights);
  return loss;
}

function learningRate(step: number): number {
  const { learningRate: peak, warmup, steps } = kOptimizer;
  if (step < warmup) return (peak * (step + 1)) / warmup;
  const done = (step - warmup) / Math.max(1, steps - warmup);
  return peak * (kFloor + ((1 - kFloor) / 2) * (1 + Math.cos(Math.PI * done)));
}

/** scalars: rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t), 1 - rate * decay. */
function update(state: State, gradients: Weights, scalars: JaxArray[]): State {
  const { beta1, beta2, clip } = kOptimizer;
  const [rate, correction, shrink] = scalars as [JaxArray, JaxArray, JaxArray];
  let squares: JaxArray | null = null;
  for (const gradient of Object.values(gradients)) {
    const sum = gradient.ref.mul(gradient.ref).sum();
    squares = squares ? squares.add(sum) : sum;
  }
  const scale = np.minimum(1, np.reciprocal(np.sqrt(squares!)).mul(clip));
  const next: State = { weights: {}, first: {}, second: {} };
  for (const [name, given] of Object.entries(gradients)) {
    const gradient = given.mul(scale.ref);
    const first = state.first[name]!.mul(beta1).add(gradient.ref.mul(1 - beta1));
    const second = state.second[name]!.mul(beta2).add(gradient.ref.mul(gradient).mul(1 - beta2));
    next.first[name] = first.ref;
    next.second[name] = second.ref;
    const change = first.mul(rate.ref).div(np.sqrt(second).mul(correction.ref).add(kEpsilon));
    const weight = state.weights[name]!;
    next.weights[name] = (decays(name) ? weight.mul(shrink.ref) : weight).sub(change);
  }
  scale.dispose();
  for (const scalar of scalars) scalar.dispose();
  return next;
}

export interface JaxTraining {
  /** one step; resolves to the loss before it */ step: () => Promise<number>;
  dispose: () => void;
}

export function makeJaxTraining(parameters: readonly GivenParameter[], { ids, targets }: Batch): JaxTraining {
  const all = (make: (parameter: GivenParameter) => Float32Array): Weights =>
    Object.fromEntries(parameters.map((given) => [given.name, np.array(make(given), { shape: given.shape })]));
  let state: State = {
    weights: all(({ data }) => data),
    first: all(({ data }) => new Float32Array(data.length)),
    second: all(({ data }) => new Float32Array(data.length)),
  };
  const hot = (numbers: Int32Array): JaxArray => nn.oneHot(np.array(numbers, { dtype: np.int32 }), vocabulary);
  const hotIds = hot(ids);
  const hotTargets = hot(targets);
  const compiled = jit((given: State, rows: JaxArray, wanted: JaxArray, scalars: JaxArray[]) => {
    const [loss, gradients] = valueAndGrad(lossOf)(tree.ref(given.weights), rows, wanted);
    return { loss, state: update(given, gradients, scalars) };
  });
  let count = 0;
  return {
    step: async () => {
      const rate = learningRate(count);
      count += 1;
      const scalars = [
        rate / (1 - kOptimizer.beta1 ** count),
        1 / Math.sqrt(1 - kOptimizer.beta2 ** count),
        1 - rate * kOptimizer.weightDecay,
      ].map((number) => np.array(number));
      const result = compiled(state, hotIds.ref, hotTargets.ref, scalars);
      state = result.state;
      const [loss] = await result.loss.data();
      await blockUntilReady(state);
      return loss!;
    },
    dispose: () => {
      tree.dispose(state);
      hotIds.dispose();
      hotTargets.dispose();
    },
  };
}
