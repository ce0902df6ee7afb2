// SPDX-License-Identifier: MIT
// One query's row as JavaScript that computes it with the package: queries, keys and what the scheme learns are written
// out as base64, so that the numbers are those of the page to the last digit.

import type { AttentionOptions, Tensor } from "../engine/poslab.js";

export interface CodeOptions {
  /** one line */ comment: string;
  call: AttentionOptions;
  head: number;
  keyNames: readonly string[];
}

export function callCode({ comment, call, head, keyNames }: CodeOptions): string {
  const { query, key, position, gates, mask, queryPositions, keyPositions } = call;
  const keys = (key as Tensor).shape[1]!;
  const first = Number((keyPositions as ArrayLike<number>)[0] ?? 0);
  const fields = Object.entries(position ?? { type: "none" }).map(([name, value]) => `${name}: ${literal(value)}`);
  return `import { loadPosLab } from "poslab";

// ${comment.replaceAll(/\s+/g, " ")}
const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const lab = await loadPosLab();
const query = ${literal(query)};
const key = ${literal(key)};
const { weights, scores } = lab.attention({
  query,
  key,
  value: key, // only the weights are looked at
  position: { ${fields.join(", ")} },${gates ? `\n  gates: ${literal(gates)},` : ""}
  mask: ${JSON.stringify(mask ?? {})},
  queryPositions: ${JSON.stringify(queryPositions)},
  keyPositions: Array.from({ length: ${keys} }, (_, j) => ${first} + j),
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

function literal(value: unknown): string {
  if (!isTensor(value)) return JSON.stringify(value);
  return `{ data: floats("${base64(value.data)}"), shape: ${JSON.stringify(value.shape)} }`;
}

const isTensor = (value: unknown): value is Tensor =>
  typeof value === "object" && value !== null && (value as Tensor).data instanceof Float32Array;

function base64({ buffer, byteOffset, byteLength }: Float32Array): string {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
