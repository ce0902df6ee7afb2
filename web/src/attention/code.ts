// SPDX-License-Identifier: MIT
// One query's row as JavaScript that computes it with the package.

import type { AttentionOptions, Tensor } from "../engine/poslab.js";
import { callCode } from "../save/call-code.js";

export interface CodeOptions {
  /** one line */ comment: string;
  call: AttentionOptions;
  head: number;
  keyNames: readonly string[];
}

export function rowCode({ comment, call, head, keyNames }: CodeOptions): string {
  const { opening, options } = callCode(call, comment);
  const keys = (call.key as Tensor).shape[1]!;
  return `${opening}
const { weights, scores } = lab.attention({
  ${options},
  weights: true,
  scores: true,
});
const tokens = ${JSON.stringify(keyNames.slice(0, keys))};
const head = ${head};
tokens.forEach((token, j) => {
  console.log(token, scores.data[head * ${keys} + j], weights.data[head * ${keys} + j]);
});
`;
}
