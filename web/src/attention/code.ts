// SPDX-License-Identifier: MIT
// One query's row, and the mean weight by distance, as JavaScript that computes them with the package.

import type { AttentionOptions, Tensor } from "../engine/poslab.js";
import { callBlocks, callCode } from "../save/call-code.js";

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

export interface DistanceCodeOptions {
  /** one line */ comment: string;
  /** whole calls, of all queries */ items: readonly { name: string; call: AttentionOptions }[];
  heads: readonly number[];
}

/** The mean over the queries that see a key at a distance i - j, and over the heads, for every encoding. */
export function distanceCode({ comment, items, heads }: DistanceCodeOptions): string {
  const before = `const heads = ${JSON.stringify(heads)};
const meanByDistance = (options) => {
  const { data, shape } = lab.attention({ ...options, weights: true }).weights;
  const [, queries, keys] = shape;
  const { causal, window = keys } = options.mask;
  const first = causal ? 0 : 1 - keys;
  const sums = new Float64Array(queries - first);
  const counts = new Float64Array(queries - first);
  for (const head of heads)
    for (let i = 0; i < queries; i += 1)
      for (let j = causal ? Math.max(0, i - window + 1) : 0; j < (causal ? i + 1 : keys); j += 1) {
        sums[i - j - first] += data[(head * queries + i) * keys + j];
        counts[i - j - first] += 1;
      }
  return sums.map((sum, n) => sum / counts[n]); // of distance first + n
};
const data = [];`;
  const use = (options: string, index: number): string =>
    `data.push([${JSON.stringify(items[index]!.name)}, meanByDistance({ ${options} })]);`;
  const calls = items.map(({ call }) => call);
  return `${callBlocks(calls, comment, [before], use)}for (const [name, mean] of data) console.log(name, ...mean);\n`;
}
