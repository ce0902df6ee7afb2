// SPDX-License-Identifier: MIT
// Which learnable tensors a scheme needs before anything can be computed with it, and how they start in training. A scheme
// that learns nothing needs no entry; one that is missing here is told apart by the core, which names the tensor that it lacks.

import type { Position } from "../js/types.js";
import type { ParameterNeed } from "./inputs.js";

export interface Dimensions { heads?: number; headDim?: number; valueDim?: number; modelDim?: number; /** positions of a table */ rows?: number }

/** As in the core's schemes: clipped distance of Shaw, buckets of T5. */
const kShawDistance = 16;
const kBuckets = 32;
const kStart = { normal: 0.02 };

export function parameterNeeds(position: Position, { heads = 1, headDim = 1, valueDim = headDim, modelDim = heads * headDim, rows = 0 }: Dimensions): ParameterNeed[] {
  switch (position.type) {
    case "learned":
      return [{ name: "table", shape: [Math.max(position.rows ?? 0, rows + (position.offset ?? 0)), modelDim], start: kStart }];
    case "shaw": {
      const count = 2 * (position.maxDistance ?? kShawDistance) + 1;
      return [{ name: "keys", shape: [count, headDim], start: kStart }, { name: "values", shape: [count, valueDim], start: kStart }];
    }
    case "transformer-xl":
      return [
        { name: "projection", shape: [heads * headDim, modelDim], start: { normal: modelDim ** -0.5 } },
        { name: "contentBias", shape: [heads, headDim], start: { constant: 0 } },
        { name: "positionBias", shape: [heads, headDim], start: { constant: 0 } },
      ];
    case "t5":
      return [{ name: "table", shape: [position.buckets ?? kBuckets, heads], start: kStart }];
    case "kerple":
      return [{ name: "r1", shape: [heads], start: { uniform: [0, 2] } }, { name: "r2", shape: [heads], start: { uniform: [0, 1] } }];
    default:
      return [];
  }
}
