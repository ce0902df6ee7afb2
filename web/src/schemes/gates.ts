// SPDX-License-Identifier: MIT
// Forget gates of tokens, for schemes that take them beside vectors: in a model the scheme's own tensors read them off the
// rows that attention gets.

import type { Tensor } from "../engine/poslab.js";

/** What reads gates off tokens; a single call takes the gates instead of these. */
export interface GateReaders {
  /** [heads, width] */ gateWeight: Tensor;
  /** [heads] */ gateBias: Tensor;
}
export const gateReaderNames = ["gateWeight", "gateBias"] as const satisfies readonly (keyof GateReaders)[];

/** Logarithms of the gates, log sigmoid(w . x + b): [heads, count]. `rowAt` gives where a token's row begins in `rows`. */
export function logGates(
  { gateWeight, gateBias }: GateReaders,
  rows: Float32Array,
  count: number,
  rowAt: (head: number, token: number) => number,
): Tensor {
  const [heads = 0, width = 0] = gateWeight.shape;
  const data = new Float32Array(heads * count);
  for (let head = 0; head < heads; head += 1) {
    for (let token = 0; token < count; token += 1) {
      const from = rowAt(head, token);
      let sum = gateBias.data[head]!;
      for (let lane = 0; lane < width; lane += 1) sum += gateWeight.data[head * width + lane]! * rows[from + lane]!;
      data[head * count + token] = -Math.log1p(Math.exp(-sum));
    }
  }
  return { data, shape: [heads, count] };
}
