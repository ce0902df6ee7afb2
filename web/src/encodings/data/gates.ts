// SPDX-License-Identifier: MIT
// Forget gates of a subject's tokens. The row that a gate is read off, in a model as wide as the model, is here the key.

import type { Tensor } from "../../engine/poslab.js";
import { logGates } from "../../schemes/gates.js";
import type { Tokens } from "./scores.js";
import type { Subject } from "./subject.js";

/** [heads, tokens]; `undefined` for a scheme without gates. */
export function gatesOf({ gateReaders }: Subject, { dim, data, positions }: Tokens): Tensor | undefined {
  const count = positions.length;
  return gateReaders ? logGates(gateReaders, data, count, (head, token) => (head * count + token) * dim) : undefined;
}
