// SPDX-License-Identifier: MIT
// A config.json as text: parsed with messages that name the key, and what only the text tells (8 or 8.0).

import { PosLabError } from "../errors.js";

/** A config's text. @throws PosLabError when it is no JSON. */
export function parseConfig(text: string): unknown {
  try {
    return parsePythonJson(text);
  } catch (error) {
    const message = `config must be JSON: ${error instanceof Error ? error.message : String(error)}`;
    throw new PosLabError("format", message, { argument: "config", cause: error });
  }
}

/** Python writes Infinity and NaN, which JSON has no names for: they are taken, and refused by the key where they matter. */
export function parsePythonJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      const written = text.replace(kTextOrNumber, (token) => (token.startsWith('"') ? token : marked(token)));
      return JSON.parse(written, (_, value: unknown) => kMarked.get(value) ?? value);
    } catch {
      throw error;
    }
  }
}

/** A text, also one that does not end, so that none is looked through twice. */
const kTextOrNumber = /"(?:[^"\\]+|\\[^])*(?:"|\\?$)|-?Infinity|NaN/g;
/** As a text, which does not grow together with digits beside it as a number would. */
const marked = (token: string): string => JSON.stringify(`\u0000${token}`);
const kMarked = new Map<unknown, number>(
  ["Infinity", "-Infinity", "NaN"].map((token) => [JSON.parse(marked(token)), Number(token)]),
);

/** Keys for which old versions of transformers want a decimal point, and that have none in this text. */
export function integerFactors(text: string): string[] {
  return [...text.matchAll(/"(factor|attention_factor)"\s*:\s*(\d+)(?=\s*[,}])/g)].map(
    ([, key = "", value = ""]) => `${key}: ${value}`,
  );
}
