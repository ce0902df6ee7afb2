// SPDX-License-Identifier: MIT
// llama2.c's tokenizer.bin: the longest piece's length, then for each piece a float32 score, its length and its bytes.
// Ids 0, 1 and 2 are unknown, begin and end; 3 to 258 are single bytes.

import { PosLabError } from "../../errors.js";
import { tokenizerJson } from "./embedded-vocabulary.js";
import { type ModelTokenizer, tokenizerFromJson } from "./tokenizer.js";

/** @throws PosLabError (format) when it is no such file, or not for `vocabulary` ids. */
export function llama2cTokenizer(bytes: Uint8Array, vocabulary: number): ModelTokenizer {
  const refuse = (reason: string): PosLabError =>
    new PosLabError("format", `llama2.c tokenizer: ${reason}`, { argument: "tokenizer" });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder();
  const tokens: string[] = [];
  const scores: number[] = [];
  for (let at = 4; at < bytes.length;) {
    if (at + 8 > bytes.length) throw refuse(`the file ends inside piece ${tokens.length}`);
    const length = view.getInt32(at + 4, true);
    if (length < 0 || at + 8 + length > bytes.length)
      throw refuse(`piece ${tokens.length} is said to have ${length} bytes, and ${bytes.length - at - 8} follow`);
    scores.push(view.getFloat32(at, true));
    tokens.push(decoder.decode(bytes.subarray(at + 8, at + 8 + length)).replaceAll(" ", "\u2581"));
    at += 8 + length;
  }
  if (tokens.length !== vocabulary) throw refuse(`it has ${tokens.length} pieces, and the model ${vocabulary} ids`);
  const types = tokens.map((_, id) => (id === 1 || id === 2 ? 3 : 1));
  const { json } = tokenizerJson({ kind: "llama", tokens, scores, types, bos: 1, eos: 2, unknown: 0, addBos: true });
  return tokenizerFromJson(json, {}, { source: "llama2.c", bos: 1, eos: [2] });
}
