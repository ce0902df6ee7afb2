// SPDX-License-Identifier: MIT
// The next token from logits: the most likely one, or one drawn from softmax(logits / temperature), of the smallest set
// of tokens whose probabilities reach top-p (Holtzman et al. 2020).

import { randomLcg } from "d3-random";
import { wrongArgument } from "../errors.js";

export interface SamplingOptions {
  /** 0 (default): always the most likely token */ temperature?: number;
  /** above 0 and up to 1; default 1: every token */ topP?: number;
  /** default 1 */ seed?: number;
}

export type Sampler = (logits: Float32Array) => number;

export function makeSampler({ temperature = 0, topP = 1, seed = 1 }: SamplingOptions): Sampler {
  if (!(temperature >= 0 && temperature < Infinity))
    throw wrongArgument("range", "temperature", temperature, "a number, 0 or larger,");
  if (!(topP > 0 && topP <= 1)) throw wrongArgument("range", "topP", topP, "a number above 0 and up to 1");
  if (!Number.isSafeInteger(seed) || seed < 0) throw wrongArgument("range", "seed", seed, "a whole number from 0");
  if (temperature === 0) return mostLikely;
  const random = randomLcg(seed);
  return (logits) => draw(logits, temperature, topP, random());
}

/** Of equals the first. */
function mostLikely(logits: Float32Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id += 1) if (logits[id]! > logits[best]!) best = id;
  return best;
}

function draw(logits: Float32Array, temperature: number, topP: number, random: number): number {
  const largest = logits[mostLikely(logits)]!;
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - largest) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const order = Uint32Array.from(weights.keys());
  if (topP < 1) order.sort((a, b) => weights[b]! - weights[a]! || a - b);
  let kept = order.length;
  let mass = total;
  if (topP < 1) {
    mass = 0;
    kept = 0;
    while (kept < order.length && mass < topP * total) mass += weights[order[kept++]!]!;
  }
  let left = random * mass;
  for (let index = 0; index < kept; index += 1) {
    left -= weights[order[index]!]!;
    if (left < 0) return order[index]!;
  }
  return order[kept - 1]!;
}
